/**
 * Rows of gates: what is compared, how far it is, what came out. Table definitions live in migrations/; these classes only
 * map them.
 */
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { GateResult } from '../../comparison/result.js';

/** `error` is our own bug; the other ends are those of the gate's verdict, and `aborted` on request. */
export const GATE_STATES = [
  'pending',
  'running',
  'passed',
  'failed',
  'inconclusive',
  'aborted',
  'error',
] as const;
export type GateState = (typeof GATE_STATES)[number];
export const OPEN_GATE_STATES: readonly GateState[] = ['pending', 'running'];

/** Documents as they were written, files inlined. */
export interface GateSources {
  suite: unknown;
  /** In the order of the suite. */
  experiments: unknown[];
  baseline: unknown;
  candidate: unknown;
  /** Instead of the suite's own number. */
  seeds?: number;
}

@Entity({ name: 'gates' })
export class GateEntity {
  @PrimaryColumn('uuid')
  id: string;

  @Column({ name: 'suite_name', type: 'text' })
  suiteName: string;

  @Column({ name: 'baseline_name', type: 'text' })
  baselineName: string;

  @Column({ name: 'candidate_name', type: 'text' })
  candidateName: string;

  @Column({ type: 'json' })
  definition: GateSources;

  @Column({ type: 'text' })
  state: GateState;

  @Column({ type: 'text', nullable: true })
  reason: string | null;

  @Column({ name: 'exit_code', type: 'int', nullable: true })
  exitCode: number | null;

  /** Decisions begun so far. */
  @Column({ type: 'int' })
  round: number;

  /** Runs of all rounds until now; more may follow. */
  @Column({ name: 'runs_planned', type: 'int' })
  runsPlanned: number;

  @Column({ name: 'runs_done', type: 'int' })
  runsDone: number;

  /** Of these, those that were not known from before. */
  @Column({ name: 'runs_made', type: 'int' })
  runsMade: number;

  @Column({ type: 'json', nullable: true })
  result: GateResult | null;

  @Column({ type: 'text' })
  version: string;

  @Column({ name: 'idempotency_key', type: 'text', nullable: true })
  idempotencyKey: string | null;

  @Column({ name: 'request_hash', type: 'text' })
  requestHash: string;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt: Date;

  @Column({ name: 'started_at', type: 'timestamptz', nullable: true })
  startedAt: Date | null;

  @Column({ name: 'ended_at', type: 'timestamptz', nullable: true })
  endedAt: Date | null;

  @Column({ name: 'touched_at', type: 'timestamptz' })
  touchedAt: Date;
}

export const GATE_ENTITIES = [GateEntity];
