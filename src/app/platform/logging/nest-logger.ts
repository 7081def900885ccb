/**
 * Nest's own messages, by the log of this program.
 */
import type { LoggerService } from '@nestjs/common';
import type { Logger } from 'pino';
import { EnvironmentError } from '../../../core/problem.js';

/** Nest's messages, with the class that speaks as `context`. Its start-up chatter is for debugging. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, ...rest: unknown[]): void {
    this.logger.debug(details(rest), String(message));
  }

  error(message: unknown, ...rest: unknown[]): void {
    // a port or a service that can't be had reaches whoever starts the program, and is told to the user from there
    if (message instanceof EnvironmentError || /^Error: listen E[A-Z]+/.test(String(message))) return;
    const error = message instanceof Error ? { error: message } : {};
    this.logger.error(
      { ...details(rest), ...error },
      message instanceof Error ? message.message : String(message),
    );
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.logger.warn(details(rest), String(message));
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.logger.debug(details(rest), String(message));
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.logger.trace(details(rest), String(message));
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.logger.fatal(details(rest), String(message));
  }
}

/** Nest passes the context last, for errors with the stack before it. */
function details(rest: unknown[]): Record<string, unknown> {
  const texts = rest.filter((one) => typeof one === 'string');
  const context = texts.at(-1);
  const stack = texts.length > 1 ? texts[0] : undefined;
  return { ...(context === undefined ? {} : { context }), ...(stack === undefined ? {} : { stack }) };
}
