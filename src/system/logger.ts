/**
 * Logs: one JSON line an event, on stderr, because stdout belongs to results.
 *
 * Secrets are kept out at the source: connection strings
 * are never logged, and the authorisation header is redacted.
 */
import { destination, pino, stdSerializers, stdTimeFunctions, type Logger } from 'pino';
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
