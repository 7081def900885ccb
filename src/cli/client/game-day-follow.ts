/** A game day as it goes on, for somebody who waits: each stage and run as it begins and ends, on stderr. */
import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT, type ExitCode } from '../../scoring/exit-codes.js';
import type { ApiClient, RunView } from './api-client.js';
import type { CommandContext } from '../context.js';
import { InterruptedError } from '../terminal/failure.js';
import { Interrupts } from '../terminal/interrupts.js';
import { sameKeyMs } from '../terminal/invocation.js';

export interface DayView {
  id: string;
  name: string;
  blind: boolean;
  state: string;
  reason: string | null;
  final: boolean;
  createdAt: string;
  stages: {
    name: string;
    state: string;
    reason: string | null;
    pause: string | null;
    experiments: {
      run: string | null;
      name: string | null;
      seal: string | null;
      sealed: boolean;
      committedAt: string | null;
    }[];
  }[];
}

const LOOK_MS = 500;

export interface Following {
  /** Says which day it is, once it has begun. */
  isOf: (id: string) => void;
  /** Nobody waits any more. */
  left: AbortSignal;
}

/**
 * A day goes on while a server with a worker runs; a command that follows one brings its own. Ctrl-C leaves the day as it is:
 * others take part in it.
 * @param id of the day; undefined while it is to begin
 */
export async function follow(
  id: string | undefined,
  context: CommandContext,
  work: (client: ApiClient, following: Following) => Promise<ExitCode>,
): Promise<ExitCode> {
  let day = id;
  const left = new AbortController();
  let stop = (): void => undefined;
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(new InterruptedError(EXIT.inconclusive));
  });
  stopped.catch(() => undefined);
  const isOwn = context.config.serverUrl === undefined;
  const leave = (): void => {
    left.abort();
    if (day !== undefined) for (const line of leftLines(day, isOwn, context)) context.note(line);
    stop();
  };
  const interrupts = new Interrupts(
    { first: leave, second: () => process.exit(EXIT.inconclusive) },
    sameKeyMs(context.config),
  );
  try {
    const following: Following = { isOf: (begun) => (day = begun), left: left.signal };
    return await context.withServer((client) => Promise.race([work(client, following), stopped]), {
      worker: true,
      interrupts,
    });
  } finally {
    interrupts.close();
  }
}

const leftLines = (id: string, isOwn: boolean, { command }: CommandContext): string[] => [
  isOwn
    ? `left: a run under way comes to its end first (Ctrl-C again leaves at once), the rest goes on with: ${command(`game-days watch ${id}`)}`
    : `left: the game day goes on; to follow it: ${command(`game-days watch ${id}`)}`,
  `to end it: ${command(`game-days abort ${id}`)}`,
];

/**
 * @param toEnd whether to go on waiting while the day waits for people
 * @returns the exit code of a day that has ended; 0 for one that waits for people, whose turn it is
 */
export async function followDay(
  client: ApiClient,
  id: string,
  toEnd: boolean,
  context: CommandContext,
  left: AbortSignal,
): Promise<ExitCode> {
  const shown = new Set<string>();
  const tell = (line: string): void => {
    if (shown.has(line)) return;
    shown.add(line);
    context.note(line);
  };
  while (!left.aborted) {
    const day = await client.json<DayView>('GET', `/v1/game-days/${encodeURIComponent(id)}`);
    for (const stage of day.stages) if (stage.state !== 'blocked') tell(stageLine(stage));
    const query = new URLSearchParams({ gameDay: id, limit: '200' });
    const { data } = await client.json<{ data: RunView[] }>('GET', `/v1/runs?${query.toString()}`);
    for (const run of [...data].reverse())
      tell(`  run ${run.id} ${run.experiment}: ${run.final ? run.state : 'begun'}`);
    if (day.final) return ended(client, day, context);
    if (day.reason !== null) tell(`game day ${day.name} is being aborted, ${day.reason}`);
    if (day.state === 'waiting') {
      for (const line of turns(day, context)) tell(line);
      if (!toEnd) return EXIT.passed;
    }
    await sleep(LOOK_MS, undefined, { signal: left }).catch(() => undefined);
  }
  return EXIT.inconclusive;
}

const stageLine = ({ name, state, reason }: DayView['stages'][number]): string =>
  `stage ${name}: ${state}${reason === null ? '' : `, ${reason}`}`;

/** What people are to do now. */
function turns({ id, stages }: DayView, context: CommandContext): string[] {
  const paused = stages
    .filter(({ state }) => state === 'paused')
    .map(
      ({ name, pause }) =>
        `${pause ?? ''} then: ${context.command(`game-days continue ${id} --stage ${name}`)}`,
    );
  if (paused.length > 0) return paused;
  return stages
    .flatMap(({ experiments }) => experiments)
    .filter(({ sealed, committedAt, run }) => sealed && committedAt === null && run !== null)
    .map(
      ({ run }) => `to diagnose: ${context.command(`game-days commit ${id} --run ${run} --verdict FILE`)}`,
    );
}

async function ended(client: ApiClient, day: DayView, context: CommandContext): Promise<ExitCode> {
  context.note(`game day ${day.name}: ${day.state}${day.reason === null ? '' : `, ${day.reason}`}`);
  const { exitCode } = await client.json<{ exitCode: ExitCode }>(
    'GET',
    `/v1/game-days/${encodeURIComponent(day.id)}/report`,
  );
  context.note(`next: ${context.command(`game-days report ${day.id}`)}`);
  return exitCode;
}
