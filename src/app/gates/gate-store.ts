/**
 * What workers write of gates. Every statement is one of its own and may be sent twice: the round of the row decides
 * whether it still counts.
 */
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { GateResult } from '../../comparison/result.js';
import type { ExitCode } from '../../scoring/exit-codes.js';
import type { SideOutcome } from '../../drill/gate/side-run.js';
import { GateEntity, OPEN_GATE_STATES, type GateState } from './gate.entity.js';

export interface GateEnd {
  state: GateState;
  exitCode: ExitCode;
  reason: string | null;
  result?: GateResult;
}

/** Runs that no gate has made or asked for this long. */
const KEPT_DAYS = 30;

@Injectable()
export class GateStore {
  constructor(private readonly dataSource: DataSource) {}

  /** The gate with its next round begun; undefined when it has ended, or somebody else began this round. */
  async beginRound(id: string, round: number): Promise<GateEntity | undefined> {
    const [, changed] = await this.dataSource.query<[unknown[], number]>(
      `UPDATE gates SET round = round + 1, state = 'running', started_at = coalesce(started_at, now()), touched_at = now()
        WHERE id = $1 AND round = $2 AND state = ANY($3)`,
      [id, round, OPEN_GATE_STATES],
    );
    return changed === 0 ? undefined : this.open(id, round + 1);
  }

  /** The gate while this is its round and it has not ended. */
  async open(id: string, round: number): Promise<GateEntity | undefined> {
    const gate = await this.dataSource.getRepository(GateEntity).findOneBy({ id, round });
    return gate === null || !OPEN_GATE_STATES.includes(gate.state) ? undefined : gate;
  }

  async plan(id: string, round: number, done: number, planned: number): Promise<void> {
    await this.dataSource.query(
      `UPDATE gates SET runs_done = $3, runs_planned = $4, touched_at = now() WHERE id = $1 AND round = $2`,
      [id, round, done, planned],
    );
  }

  /** Outcomes that are kept, by key. */
  async known(keys: readonly string[]): Promise<Map<string, SideOutcome>> {
    const rows = await this.dataSource.query<{ key: string; outcome: SideOutcome }[]>(
      `SELECT key, outcome FROM gate_runs WHERE key = ANY($1)`,
      [keys],
    );
    return new Map(rows.map(({ key, outcome }) => [key, outcome]));
  }

  /** Keeps the outcome and counts the run, at once. */
  async keep(id: string, round: number, key: string, outcome: SideOutcome): Promise<void> {
    await this.dataSource.query(
      `WITH kept AS (
         INSERT INTO gate_runs (key, outcome, created_at) VALUES ($3, $4, now()) ON CONFLICT (key) DO NOTHING RETURNING key
       )
       UPDATE gates SET runs_done = least(runs_done + 1, runs_planned),
           runs_made = runs_made + (SELECT count(*) FROM kept), touched_at = now()
        WHERE id = $1 AND round = $2`,
      [id, round, key, JSON.stringify(outcome)],
    );
  }

  /** Ends the gate in this round; later ends change nothing. */
  async end(id: string, round: number, { state, exitCode, reason, result }: GateEnd): Promise<void> {
    await this.dataSource.query(
      `UPDATE gates SET state = $3, exit_code = $4, reason = $5, result = $6, ended_at = now(), touched_at = now()
        WHERE id = $1 AND round = $2 AND state = ANY($7)`,
      [
        ...[id, round, state, exitCode, reason],
        result === undefined ? null : JSON.stringify(result),
        OPEN_GATE_STATES,
      ],
    );
  }

  /** Gates without a sign of life for so long. */
  quiet(seconds: number): Promise<{ id: string; round: number }[]> {
    return this.dataSource.query(
      `SELECT id, round FROM gates WHERE ended_at IS NULL AND touched_at < now() - $1 * interval '1 second'`,
      [seconds],
    );
  }

  async trim(): Promise<void> {
    await this.dataSource.query(`DELETE FROM gate_runs WHERE created_at < now() - $1 * interval '1 day'`, [
      KEPT_DAYS,
    ]);
  }
}
