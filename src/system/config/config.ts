/**
 * The configuration room: the one place that reads the environment.
 *
 * Everything is checked once, at start, and all problems are told at once; a wrong value never surfaces later as a
 * strange failure. The result is a plain frozen object that is handed (or injected) to whoever needs it.
 */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { InputError, type InputIssue } from '../../core/problem.js';
import { listChoices, nearest } from '../../core/nearest.js';
import { isLoopback, logLevels, type LogLevel, variables } from './variables.js';

/** Injection token of the configuration in Nest modules. */
export const CONFIG = Symbol('fabricdrill configuration');

export interface Config {
  /** Absolute folder of the embedded database. */
  home: string;
  /** Absolute path of the server's own settings: what documents may only name. */
  settingsFile?: string;
  /** An outside PostgreSQL; undefined means the embedded one. Holds a password: see `hideSecrets`. */
  databaseUrl?: string;
  /** An outside Redis as queue; undefined means PostgreSQL. */
  redisUrl?: string;
  /** The server that commands talk to instead of starting their own, without a trailing slash. */
  serverUrl?: string;
  /** Address the API listens on. */
  host: string;
  /** Port the API listens on; 0 lets the system choose. */
  port: number;
  /** Bearer token of the API, sent by clients too. Always there when `host` is not loopback. */
  token?: string;
  /** Runs that one worker process executes at a time, paced ones aside. */
  workerConcurrency: number;
  /** Paced runs, which wait more than they compute, that one worker process executes beside them. */
  pacedConcurrency: number;
  /** Most bytes that a run's evidence file may take; more is refused when the run is planned. */
  evidenceMaxBytes: number;
  logLevel: LogLevel;
  /** Folder with input files that tests compare with, where it is not the default one. */
  inputs?: string;
  /** Folder that relative paths of a command line start from. */
  workingFolder: string;
  /** False when NO_COLOR is set or the terminal is dumb. */
  colour: boolean;
  /** The npm script that this process was started by, such as `drill`. */
  npmScript?: string;
}

const schema = z.object(variables);

/**
 * The checked configuration.
 * @param environment variables; the process's own unless a test brings others
 * @param overrides values from command-line flags, by the name of the variable they replace
 * @throws InputError with one issue per wrong variable
 */
export function loadConfig(
  environment: NodeJS.ProcessEnv = process.env,
  overrides: Partial<Record<keyof typeof variables, string>> = {},
): Config {
  // An empty variable counts as unset, which is how compose files and CI systems write "none".
  const given = Object.fromEntries(
    Object.entries({ ...environment, ...overrides }).filter(
      ([, value]) => value !== undefined && value !== '',
    ),
  );
  const result = schema.safeParse(given);
  const issues = [...misspelt(given)];
  if (!result.success) issues.push(...result.error.issues.map((issue) => variableIssue(issue, given)));
  const values = result.data;
  if (values?.FABRICDRILL_TOKEN === undefined && !tokenIsWrong(result) && !isLoopback(hostOf(given))) {
    issues.push({
      pointer: '',
      message: `FABRICDRILL_TOKEN is required when FABRICDRILL_HOST (${hostOf(given)}) is not a loopback address`,
      hint: 'set it to a secret of at least 32 characters, as from: openssl rand -hex 32',
    });
  }
  if (issues.length > 0 || values === undefined) throw new InputError(issues);
  const workingFolder = values.INIT_CWD ?? process.cwd();
  const folder = (path: string | undefined) =>
    path === undefined ? undefined : resolve(workingFolder, path);
  return Object.freeze({
    home: folder(values.FABRICDRILL_HOME) ?? defaultHome(given),
    settingsFile: folder(values.FABRICDRILL_CONFIG),
    databaseUrl: values.DATABASE_URL,
    redisUrl: values.REDIS_URL,
    serverUrl: values.FABRICDRILL_URL?.replace(/\/+$/, ''),
    host: values.FABRICDRILL_HOST,
    port: values.FABRICDRILL_PORT ?? values.PORT ?? 3000,
    token: values.FABRICDRILL_TOKEN,
    workerConcurrency: values.FABRICDRILL_WORKER_CONCURRENCY,
    pacedConcurrency: values.FABRICDRILL_PACED_CONCURRENCY,
    evidenceMaxBytes: values.FABRICDRILL_EVIDENCE_MAX,
    logLevel: values.LOG_LEVEL,
    inputs: folder(values.FABRICDRILL_INPUTS),
    workingFolder,
    colour: values.NO_COLOR === undefined && values.TERM !== 'dumb',
    npmScript: values.npm_lifecycle_event,
  });
}

/** A URL fit for messages and logs: user name, password and query are left out. */
export function hideSecrets(url: string): string {
  if (!URL.canParse(url)) return '(not a URL)';
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

/** Where data goes when FABRICDRILL_HOME is not set. */
function defaultHome(environment: Record<string, string | undefined>): string {
  // Root's own folder is closed to the account that must run the database.
  if (process.getuid?.() === 0) return '/var/lib/fabricdrill';
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'fabricdrill');
  const data = environment.XDG_DATA_HOME ?? join(homedir(), '.local', 'share');
  return resolve(data, 'fabricdrill');
}

function hostOf(given: Record<string, string | undefined>): string {
  return given.FABRICDRILL_HOST ?? '127.0.0.1';
}

function tokenIsWrong(result: { error?: z.ZodError }): boolean {
  return result.error?.issues.some((issue) => issue.path[0] === 'FABRICDRILL_TOKEN') ?? false;
}

function variableIssue(issue: z.core.$ZodIssue, given: Record<string, string | undefined>): InputIssue {
  const name = String(issue.path[0]) as keyof typeof variables;
  const hidden = name === 'FABRICDRILL_TOKEN' || name.endsWith('_URL');
  const value = hidden ? '' : ` ${JSON.stringify(given[name])}`;
  const choices = issue.code === 'invalid_value' ? `must be one of ${logLevels.join(', ')}` : issue.message;
  const example = variables[name].meta()?.example;
  return {
    pointer: '',
    message: `${name}${value}: ${choices}`,
    ...(typeof example === 'string' ? { hint: `as in ${name}=${example}` } : {}),
  };
}

/** Variables with our prefix that nobody reads and that look like one which somebody does. */
function* misspelt(given: Record<string, string | undefined>): Generator<InputIssue> {
  const prefix = 'FABRICDRILL_';
  const known = Object.keys(variables).filter((name) => name.startsWith(prefix));
  for (const name of Object.keys(given)) {
    if (!name.startsWith(prefix) || known.includes(name)) continue;
    const close = nearest(
      name.slice(prefix.length),
      known.map((one) => one.slice(prefix.length)),
    );
    if (close === undefined) continue;
    yield {
      pointer: '',
      message: `${name} is no setting (known: ${listChoices(known)})`,
      hint: `did you mean "${prefix}${close}"?`,
    };
  }
}
