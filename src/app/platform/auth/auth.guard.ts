/**
 * One bearer token for the whole API (RFC 6750), compared in constant time.
 *
 * Without a token the server listens on loopback only (the configuration sees to it) and is open to programs of this
 * machine. A web page in the user's browser is not one of them: it could reach us under a name of its own that
 * resolves to 127.0.0.1 (DNS rebinding), so the Host header must then name a loopback address; and a page of another
 * site may send us forms under our true name, so an Origin header must name one too. Users and roles are not modelled.
 */
import {
  type CanActivate,
  type ExecutionContext,
  HttpException,
  HttpStatus,
  Inject,
  Injectable,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isLoopback } from '../../../system/config/variables.js';
import { PUBLIC } from './public.js';

/** Injection token of the expected bearer token, or undefined. */
export const BEARER_TOKEN = Symbol('fabricdrill bearer token');

@Injectable()
export class AuthGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    @Inject(BEARER_TOKEN) private readonly token: string | undefined,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const open = this.reflector.getAllAndOverride<boolean | undefined>(PUBLIC, [
      context.getHandler(),
      context.getClass(),
    ]);
    if (open === true) return true;
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    if (this.token === undefined) {
      const refusal = foreignPage(request);
      if (refusal === undefined) return true;
      throw new HttpException(refusal, HttpStatus.FORBIDDEN);
    }
    if (isExpected(request, this.token)) return true;
    http.getResponse<Response>().setHeader('WWW-Authenticate', 'Bearer realm="fabricdrill"');
    throw new HttpException(
      'this server wants its bearer token (header "Authorization: Bearer TOKEN"; the command line takes it from FABRICDRILL_TOKEN)',
      HttpStatus.UNAUTHORIZED,
    );
  }
}

/** Whether the guard lets a request pass to routes that are not public. */
export const mayCall = (request: IncomingMessage, token: string | undefined): boolean =>
  token === undefined ? foreignPage(request) === undefined : isExpected(request, token);

function isExpected({ headers }: IncomingMessage, token: string): boolean {
  const given = /^Bearer +([\x21-\x7e]+) *$/i.exec(headers.authorization ?? '')?.[1];
  // Digests have one length, so that the comparison tells nothing about the token's.
  return given !== undefined && timingSafeEqual(digest(given), digest(token));
}

/** Why a request comes from a page that is not ours; undefined where it does not. */
function foreignPage({ headers }: IncomingMessage): string | undefined {
  const host = nameOf(headers.host ?? 'localhost');
  if (!isLoopback(host)) {
    return `without a token this server answers on loopback names only, not as "${host}"; set FABRICDRILL_TOKEN to open it`;
  }
  const { origin } = headers;
  // programs send none; "null" is a page that hides where it is from
  if (origin === undefined || isLoopback(nameOf(origin.replace(/^https?:\/\//, '')))) return undefined;
  return `without a token this server answers no pages of other sites, here of "${origin}"; set FABRICDRILL_TOKEN to open it`;
}

/** The host of `host:port`, without the brackets of an IPv6 address. */
const nameOf = (authority: string): string => authority.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
