/**
 * Rows of a run: what it executes, how far it is, what undoes it, what came out.
 *
 * Truth has a table of its own that only the worker writes and that nothing returns before the verdict is sealed.
 * Table definitions live in migrations/; these classes only map them. Documents are `json`, not `jsonb`, so that they
 * come back with their keys in the order they were written.
 */
import { Column, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import type { Verdict } from '../../diagnosis/verdict.js';
import type { Plan } from '../../drill/plan/plan.js';
import type { DrillRecord } from '../../drill/walk.js';
import type { Impairment } from '../../fabric-api/impairment.js';
import { readSettings } from '../../fabric-api/legacy-settings.js';
import type { ConfigurationSnapshot } from '../../fabric-api/setting.js';
import type { RunState, Scorecard } from '../../scoring/scorecard.js';
import type { TruthEntry } from '../../faults/ground-truth.js';
import { DiagnosisEntity } from './diagnosis.entity.js';

@Entity({ name: 'runs' })
export class RunEntity {
  @PrimaryColumn('uuid')
  id: string;

  @Column({ name: 'experiment_id', type: 'uuid', nullable: true })
  experimentId: string | null;

  @Column({ name: 'experiment_name', type: 'text' })
  experimentName: string;

  @Column({ name: 'fabric_name', type: 'text' })
  fabricName: string;

  @Column({ type: 'text' })
  driver: string;

  /** The Experiment document as it was when the run was asked for. */
  @Column({ type: 'json' })
  definition: unknown;

  /** The Fabric document as it was when the run was asked for. */
  @Column({ name: 'fabric_definition', type: 'json' })
  fabricDefinition: unknown;

  /** Resolved when the run was asked for; exactly this is injected. */
  @Column({ type: 'json' })
  plan: Plan;

  /** A safe integer; PostgreSQL hands bigint over as text. */
  @Column({
    type: 'bigint',
    transformer: { to: (value: number) => value, from: (value: string) => Number(value) },
  })
  seed: number;

  @Column({ type: 'text' })
  state: RunState;

  @Column({ type: 'text', nullable: true })
  reason: string | null;

  /** Exit code for a command that waited; null until the run has ended. */
  @Column({ name: 'exit_code', type: 'int', nullable: true })
  exitCode: number | null;

  @Column({ name: 'idempotency_key', type: 'text', nullable: true })
  idempotencyKey: string | null;

  /** The schedule whose tick this is; null for one that somebody asked for. */
  @Column({ name: 'schedule_id', type: 'uuid', nullable: true })
  scheduleId: string | null;

  /** The game day that it belongs to. */
  @Column({ name: 'game_day_id', type: 'uuid', nullable: true })
  gameDayId: string | null;

  /** What was injected stays unknown to all until a team has committed its diagnosis. */
  @Column({ type: 'boolean' })
  sealed: boolean;

  @Column({ name: 'abort_requested_at', type: 'timestamptz', nullable: true })
  abortRequestedAt: Date | null;

  @Column({ name: 'abort_reason', type: 'text', nullable: true })
  abortReason: string | null;

  /** When a person lifted the block that a failed undo leaves. */
  @Column({ name: 'cleared_at', type: 'timestamptz', nullable: true })
  clearedAt: Date | null;

  /** What that person checked and did. */
  @Column({ name: 'cleared_reason', type: 'text', nullable: true })
  clearedReason: string | null;

  @Column({ name: 'lease_owner', type: 'text', nullable: true })
  leaseOwner: string | null;

  @Column({ name: 'lease_until', type: 'timestamptz', nullable: true })
  leaseUntil: Date | null;

  /** Rises with every claim; a worker that lost its lease can't write any more. */
  @Column({
    type: 'bigint',
    transformer: { to: (value: number) => value, from: (value: string) => Number(value) },
  })
  fence: number;

  @Column({ type: 'text' })
  version: string;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt: Date;

  @Column({ name: 'started_at', type: 'timestamptz', nullable: true })
  startedAt: Date | null;

  @Column({ name: 'ended_at', type: 'timestamptz', nullable: true })
  endedAt: Date | null;
}

@Entity({ name: 'run_transitions' })
export class RunTransitionEntity {
  @PrimaryGeneratedColumn({ type: 'bigint' })
  id: string;

  @Column({ name: 'run_id', type: 'uuid' })
  runId: string;

  @Column({ type: 'int' })
  seq: number;

  @Column({ type: 'text' })
  state: RunState;

  @Column({ type: 'timestamptz' })
  at: Date;

  @Column({ type: 'text', nullable: true })
  detail: string | null;
}

@Entity({ name: 'run_events' })
export class RunEventEntity {
  @PrimaryColumn({ name: 'run_id', type: 'uuid' })
  runId: string;

  @PrimaryColumn({ type: 'int' })
  seq: number;

  @Column({ type: 'timestamptz' })
  at: Date;

  @Column({ type: 'text' })
  type: string;

  @Column({ type: 'json' })
  data: Record<string, unknown>;
}

export type UndoStatus = 'intended' | 'applied' | 'verified' | 'failed';

@Entity({ name: 'undo_entries' })
export class UndoEntryEntity {
  @PrimaryColumn({ type: 'text' })
  id: string;

  @Column({ name: 'run_id', type: 'uuid' })
  runId: string;

  @Column({ type: 'int' })
  ordinal: number;

  @Column({ type: 'text' })
  fault: string;

  @Column({ type: 'json' })
  impairment: Impairment;

  /** Rows of versions before settings were typed hold sentences. */
  @Column({ type: 'json', transformer: { to: (saved: unknown) => saved, from: readSettings } })
  saved: ConfigurationSnapshot;

  @Column({ type: 'text' })
  status: UndoStatus;

  @Column({ type: 'text', nullable: true })
  error: string | null;

  @Column({ name: 'intended_at', type: 'timestamptz' })
  intendedAt: Date;

  @Column({ name: 'applied_at', type: 'timestamptz', nullable: true })
  appliedAt: Date | null;

  @Column({ name: 'reverted_at', type: 'timestamptz', nullable: true })
  revertedAt: Date | null;

  @Column({ name: 'verified_at', type: 'timestamptz', nullable: true })
  verifiedAt: Date | null;
}

@Entity({ name: 'run_evidence' })
export class RunEvidenceEntity {
  @PrimaryColumn({ name: 'run_id', type: 'uuid' })
  runId: string;

  @Column({ type: 'bigint' })
  bytes: string;

  @Column({ type: 'text' })
  sha256: string;

  @Column({ type: 'bigint' })
  rows: string;

  /** In how many parts the file is kept. */
  @Column({ type: 'int' })
  parts: number;

  @Column({ type: 'text' })
  format: string;
}

/** Part of an Apache Arrow IPC file, buffers compressed. */
@Entity({ name: 'run_evidence_parts' })
export class RunEvidencePartEntity {
  @PrimaryColumn({ name: 'run_id', type: 'uuid' })
  runId: string;

  @PrimaryColumn({ type: 'int' })
  part: number;

  @Column({ type: 'bytea' })
  bytes: Buffer;
}

@Entity({ name: 'run_results' })
export class RunResultEntity {
  @PrimaryColumn({ name: 'run_id', type: 'uuid' })
  runId: string;

  @Column({ type: 'json', nullable: true })
  verdict: Verdict | null;

  @Column({ name: 'sealed_at', type: 'timestamptz', nullable: true })
  sealedAt: Date | null;

  @Column({ type: 'json', nullable: true })
  scorecard: Scorecard | null;
}

@Entity({ name: 'run_truth' })
export class RunTruthEntity {
  @PrimaryColumn({ name: 'run_id', type: 'uuid' })
  runId: string;

  @Column({ type: 'json' })
  truth: readonly TruthEntry[];

  /** What else scoring needs of the drill's course; null for runs of versions that did not keep it. */
  @Column({ type: 'json', nullable: true })
  record: CourseRecord | null;
}

/** The course of a drill without the truth, which has its own column. */
export type CourseRecord = Omit<DrillRecord, 'truth'>;

export const RUN_ENTITIES = [
  RunEntity,
  RunTransitionEntity,
  RunEventEntity,
  UndoEntryEntity,
  RunEvidenceEntity,
  RunEvidencePartEntity,
  RunResultEntity,
  RunTruthEntity,
  DiagnosisEntity,
];
