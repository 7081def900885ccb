/**
 * What request bodies may be: JSON anywhere, YAML for definitions, Arrow where evidence is taken. Anything else is 415 and not silently ignored,
 * since a body that nobody reads would let a request through with its defaults.
 */
import { UnsupportedMediaTypeException } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';

export const JSON_TYPES = ['application/json', 'application/*+json'];

/** Media types that are read as text and parsed as YAML. */
export const YAML_TYPES = ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/x-yaml'];

/** Recorded evidence, as bytes. */
export const ARROW_TYPES = ['application/vnd.apache.arrow.file'];
/** The one route that takes it. */
export const ARROW_PATH = '/v1/diagnose';

/** Middleware in front of the body parsers. */
export function refuseOtherMedia(request: Request, _response: Response, next: NextFunction): void {
  const takesArrow = request.path === ARROW_PATH;
  const types = [...JSON_TYPES, ...YAML_TYPES, ...(takesArrow ? ARROW_TYPES : [])];
  // false for a body of another type, null without a body
  if (request.is(types) !== false || request.headers['content-length'] === '0') {
    next();
    return;
  }
  const type = request.headers['content-type'] ?? 'a body without Content-Type';
  const other = takesArrow ? `${ARROW_TYPES[0]} for evidence` : `${YAML_TYPES[0]} for definitions`;
  next(new UnsupportedMediaTypeException(`${type} can't be read here; send ${JSON_TYPES[0]}, or ${other}`));
}
