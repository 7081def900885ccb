/**
 * What may be seen of a run whose truth is sealed: that it waits, works or has ended, and what was observed.
 *
 * A blind game day seals its runs until the team has committed a diagnosis. Everything that could tell is refused or left
 * out here, for every way to ask: experiment, seed, plan, states and their times, reasons, results, and the verdict of our
 * own diagnosis. Evidence stays open, since it is what a team works from. A run on which an undo failed is opened at
 * once: what is left in place on a fabric must be known.
 */
import { ConflictError } from '../../system/errors.js';
import { followEvents, type RunEvent } from './run-events.js';
import type { Sql } from '../sql.js';
import type { RunEntity } from './run.entity.js';
import { isFinal } from './run.machine.js';

export type SealedState = 'pending' | 'running' | 'ended';

export function sealedState({ state }: Pick<RunEntity, 'state'>): SealedState {
  if (isFinal(state)) return 'ended';
  return state === 'pending' ? 'pending' : 'running';
}

/** @throws ConflictError for a sealed run */
export function refuseSealed(run: Pick<RunEntity, 'id' | 'sealed' | 'gameDayId'>, what: string): void {
  if (!run.sealed) return;
  throw new ConflictError(
    `the ${what} of run ${run.id} is sealed until the team has committed its diagnosis`,
    `POST /v1/game-days/${run.gameDayId ?? '{id}'}/commit breaks the seal`,
  );
}

/** An event for those who may not know more. Without a number, whose gaps would tell of what was left out. */
export type SealedEvent = Omit<RunEvent, 'seq'> & { seq?: number };

/** That the run began to work, and that it has ended; its end as it was where the seal is broken by then. */
export async function* followSealedEvents(
  sql: Sql,
  runId: string,
  signal: AbortSignal,
): AsyncGenerator<SealedEvent> {
  let begun = false;
  for await (const event of followEvents(sql, runId, 0, signal)) {
    if (event.type === 'end') {
      const [{ sealed }] = await sql.query<[Pick<RunEntity, 'sealed'>]>(
        'SELECT sealed FROM runs WHERE id = $1',
        [runId],
      );
      yield sealed ? { type: 'end', at: event.at, data: { state: 'ended', exitCode: null } } : event;
    } else if (!begun && event.type === 'state' && event.data.state !== 'pending') {
      begun = true;
      yield { type: 'state', at: event.at, data: { state: 'running' } };
    }
  }
}
