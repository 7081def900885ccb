/**
 * Turns whatever a handler throws into problem+json; logs what is our own fault.
 */
import {
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  Logger,
  MethodNotAllowedException,
  NotFoundException,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { randomUUID } from 'node:crypto';
import { EnvironmentError } from '../../../core/problem.js';
import { PROBLEM_TYPE, toProblem } from './problem.js';

@Catch()
export class ProblemFilter implements ExceptionFilter {
  private readonly logger = new Logger('problem');

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    const incident = randomUUID();
    const allowed = allowedMethods(error, request);
    if (allowed.length > 0) response.setHeader('Allow', allowed.join(', '));
    const problem = toProblem(
      allowed.length > 0 ? new MethodNotAllowedException(`${request.method} is not possible here`) : error,
      request.originalUrl,
      incident,
    );
    if (error instanceof EnvironmentError) {
      // whoever asked is told what is missing; it is no fault of ours with a stack to look at
      this.logger.log(`${request.method} ${request.path}: ${error.message}`);
    } else if (problem.status >= 500) {
      const stack = error instanceof Error ? error.stack : String(error);
      this.logger.error(`${request.method} ${request.path} failed (${incident})`, stack);
    }
    if (response.headersSent) {
      // A stream that breaks half-way must not look as if it had ended well.
      response.destroy();
      return;
    }
    response.status(problem.status).type(PROBLEM_TYPE).send(JSON.stringify(problem));
  }
}

/** A route of the router: express keeps one for each path and method. */
interface RouteLayer {
  match(path: string): boolean;
  route?: { methods: Record<string, boolean> };
}

/** Methods that the path has, where it is the method that no route took (RFC 9110 section 15.5.6); else none. */
function allowedMethods(error: unknown, request: Request): string[] {
  // the router's own: what a handler does not find is told by an error of ours
  if (!(error instanceof NotFoundException)) return [];
  const { router } = request.app as unknown as { router?: { stack: RouteLayer[] } };
  const methods = new Set<string>();
  for (const layer of router?.stack ?? []) {
    if (layer.route === undefined || !layer.match(request.path)) continue;
    for (const [name, has] of Object.entries(layer.route.methods))
      if (has && name !== '_all') methods.add(name.toUpperCase());
  }
  if (methods.has('GET')) methods.add('HEAD');
  return methods.has(request.method) ? [] : [...methods].sort();
}
