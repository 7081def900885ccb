/**
 * Logs: one JSON line an event, on stderr, because stdout belongs to results.
 *
 * Nest's own messages go the same way through a small adapter. Secrets are kept out at the source: connection strings
 * are never logged, and the authorisation header is redacted.
 */
import type { LoggerService } from '@nestjs/common';
import { destination, pino, stdSerializers, stdTimeFunctions, type Logger } from 'pino';
import { EnvironmentError } from '../core/problem.js';
import type { Config } from './config/config.js';

export type { Logger };

/** Injection token of the logger. */
export const LOGGER = Symbol('fabricdrill logger');

/** @param stream where lines go; stderr unless a test collects them */
export function createLogger(
  config: Pick<Config, 'logLevel'>,
  stream: { write(line: string): void } = standardError(),
): Logger {
  return pino(
    {
      level: config.logLevel,
      base: { pid: process.pid },
      timestamp: stdTimeFunctions.isoTime,
      serializers: { error: stdSerializers.err, err: stdSerializers.err },
      redact: ['req.headers.authorization', 'req.headers.cookie'],
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  );
}

/** More than this much of what could not be written is dropped. */
const MOST_UNWRITTEN_BYTES = 1_000_000;

/** A log that can't be written, as on a full disk, must not end a process that has faults to revert. */
function standardError(): { write(line: string): void } {
  const stream = destination({ fd: 2, sync: true, maxLength: MOST_UNWRITTEN_BYTES });
  stream.on('error', () => undefined);
  return stream;
}

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
