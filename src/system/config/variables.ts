/**
 * The environment variables, each with its check and an example for error messages.
 *
 * Values are text; what comes out has the type that the configuration holds.
 */
import { isIP } from 'node:net';
import { z } from 'zod';

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

const TOKEN_LENGTH_LEAST = 32;

/** Whether a listener on this address is reachable from this machine alone. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

function url(schemes: string[], form: string) {
  return z
    .string()
    .refine(
      (text) =>
        URL.canParse(text) && schemes.includes(new URL(text).protocol) && new URL(text).hostname !== '',
      { error: `must be a URL of the form ${form}` },
    );
}

function integer(least: number, most: number) {
  return z
    .string()
    .regex(/^\d+$/, { error: `must be a whole number from ${least} to ${most}`, abort: true })
    .transform(Number)
    .refine((value) => value >= least && value <= most, {
      error: `must be a whole number from ${least} to ${most}`,
    });
}

/** A relative folder is resolved against the folder the user stands in, as paths on the command line are. */
const folder = z.string().refine((text) => !text.includes('\0'), { error: 'must be a path' });

const host = z
  .string()
  .refine((text) => isIP(text) !== 0 || /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(text), {
    error: 'must be an IP address or a host name',
  });

const token = z
  .string()
  .refine((text) => text.length >= TOKEN_LENGTH_LEAST, {
    error: `must have at least ${TOKEN_LENGTH_LEAST} characters`,
  })
  .refine((text) => /^[\x21-\x7e]*$/.test(text), {
    error: 'must consist of printable ASCII characters without spaces',
  });

export const variables = {
  FABRICDRILL_HOME: folder.optional().meta({ example: '/var/lib/fabricdrill' }),
  FABRICDRILL_CONFIG: folder.optional().meta({ example: '/etc/fabricdrill.yaml' }),
  DATABASE_URL: url(['postgres:', 'postgresql:'], 'postgres://user:password@host:5432/database')
    .optional()
    .meta({ example: 'postgres://drill:secret@db.example:5432/fabricdrill' }),
  REDIS_URL: url(['redis:', 'rediss:'], 'redis://host:6379')
    .optional()
    .meta({ example: 'redis://queue.example:6379' }),
  FABRICDRILL_URL: url(['http:', 'https:'], 'http://host:3000')
    .optional()
    .meta({ example: 'http://127.0.0.1:3000' }),
  FABRICDRILL_HOST: host.default('127.0.0.1').meta({ example: '127.0.0.1' }),
  FABRICDRILL_PORT: integer(0, 65535).optional().meta({ example: '3000' }),
  PORT: integer(0, 65535).optional().meta({ example: '3000' }),
  FABRICDRILL_TOKEN: token.optional().meta({ example: '$(openssl rand -hex 32)' }),
  FABRICDRILL_WORKER_CONCURRENCY: integer(1, 64).default(1).meta({ example: '2' }),
  FABRICDRILL_PACED_CONCURRENCY: integer(1, 64).default(8).meta({ example: '4' }),
  FABRICDRILL_EVIDENCE_MAX: integer(1, 1_000_000_000_000)
    .default(1_000_000_000)
    .meta({ example: '200000000' }),
  LOG_LEVEL: z.enum(logLevels).default('info').meta({ example: 'info' }),
  FABRICDRILL_INPUTS: folder.optional().meta({ example: '/srv/fabricdrill-inputs' }),
  XDG_DATA_HOME: z.string().optional(),
  INIT_CWD: z.string().optional(),
  NO_COLOR: z.string().optional(),
  TERM: z.string().optional(),
  npm_lifecycle_event: z.string().optional(),
};
