/**
 * Turns whatever a handler throws into problem+json; logs what is our own fault.
 */
import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import type { Request, Response } from 'express';
import { randomUUID } from 'node:crypto';
import { PROBLEM_TYPE, toProblem } from './problem.js';

@Catch()
export class ProblemFilter implements ExceptionFilter {
  private readonly logger = new Logger('problem');

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    const incident = randomUUID();
    const problem = toProblem(error, request.originalUrl, incident);
    if (problem.status >= 500) {
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
