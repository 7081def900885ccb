/**
 * Who may not call is told so before the body is read: a body without a right token costs neither memory nor parsing.
 *
 * The guard answers, as it does for requests without a body; here is only seen to it that nothing is read before. A client
 * that waits for "100 Continue" then keeps its body; of any other, what comes is thrown away for a moment, so that it
 * can read the answer, and then the connection ends.
 */
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { mayCall } from './auth.guard.js';

/** An answer on its way needs less. */
const LINGER_MS = 1000;

/** Middleware: `readers` see only requests that the guard will let pass. */
export const tokenFirst =
  (token: string | undefined, readers: RequestHandler): RequestHandler =>
  (request: Request, response: Response, next: NextFunction): void => {
    if (mayCall(request, token)) readers(request, response, next);
    else {
      response.once('finish', () => endUnread(request));
      next();
    }
  };

/** Asks no body of those whom the guard will refuse. */
export function continueWithToken(server: EventEmitter, token: string | undefined): void {
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    if (mayCall(request, token)) response.writeContinue();
    server.emit('request', request, response);
  });
}

function endUnread(request: IncomingMessage): void {
  setTimeout(() => {
    if (!request.complete) request.socket.destroy();
  }, LINGER_MS).unref();
}
