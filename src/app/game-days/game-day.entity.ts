/** Rows of game days. Table definitions live in migrations/; these classes only map them. */
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { RunEntity } from '../../store/runs/run.entity.js';
import type { GameDayState, StageState } from './rules/stages.js';

/** How far a stage is; times are RFC 3339. */
export interface StageProgress {
  state: StageState;
  reason: string | null;
  startedAt: string | null;
  endedAt: string | null;
  continuedAt: string | null;
  continuedBy: string | null;
}

@Entity({ name: 'game_days' })
export class GameDayEntity {
  @PrimaryColumn('uuid')
  id: string;

  @Column({ type: 'text' })
  name: string;

  /** The GameDay document as it was when the day was asked for. */
  @Column({ type: 'json' })
  definition: unknown;

  @Column({ type: 'boolean' })
  blind: boolean;

  /** `waiting` for people: to continue a stage, or to commit a diagnosis. */
  @Column({ type: 'text' })
  state: GameDayState;

  @Column({ type: 'text', nullable: true })
  reason: string | null;

  /** In the order of the stages. */
  @Column({ type: 'json' })
  progress: StageProgress[];

  @Column({ name: 'abort_requested_at', type: 'timestamptz', nullable: true })
  abortRequestedAt: Date | null;

  @Column({ name: 'abort_reason', type: 'text', nullable: true })
  abortReason: string | null;

  /** The schedule that started it; null for one that somebody asked for. */
  @Column({ name: 'schedule_id', type: 'uuid', nullable: true })
  scheduleId: string | null;

  /** For a day after it was asked for. */
  @Column({ name: 'idempotency_key', type: 'text', nullable: true })
  idempotencyKey: string | null;

  /** Of the request that came with the key. */
  @Column({ name: 'request_hash', type: 'text', nullable: true })
  requestHash: string | null;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt: Date;

  @Column({ name: 'ended_at', type: 'timestamptz', nullable: true })
  endedAt: Date | null;
}

/** An experiment of a game day. */
@Entity({ name: 'game_day_items' })
export class GameDayItemEntity {
  @PrimaryColumn({ name: 'game_day_id', type: 'uuid' })
  gameDayId: string;

  /** Counted over all stages. */
  @PrimaryColumn({ type: 'int' })
  ordinal: number;

  @Column({ type: 'int' })
  stage: number;

  /** Its name within the stage. */
  @Column({ type: 'text' })
  label: string;

  @Column({ name: 'run_id', type: 'uuid' })
  runId: string;

  /** The run as it was planned; dates are set when it starts. */
  @Column({ type: 'json' })
  draft: RunEntity;

  /** SHA-256 of the sealed text; null on a day that is not blind. */
  @Column({ type: 'text', nullable: true })
  seal: string | null;

  @Column({ name: 'sealed_text', type: 'text', nullable: true })
  sealedText: string | null;

  @Column({ name: 'started_at', type: 'timestamptz', nullable: true })
  startedAt: Date | null;

  @Column({ name: 'committed_at', type: 'timestamptz', nullable: true })
  committedAt: Date | null;

  @Column({ name: 'committed_by', type: 'text', nullable: true })
  committedBy: string | null;

  /** What the team committed. */
  @Column({ name: 'diagnosis_id', type: 'uuid', nullable: true })
  diagnosisId: string | null;

  /** When the seal was broken; null while it holds, and on a day that is not blind. */
  @Column({ name: 'opened_at', type: 'timestamptz', nullable: true })
  openedAt: Date | null;
}

export const NOTE_KINDS = ['note', 'action'] as const;
export type NoteKind = (typeof NOTE_KINDS)[number];

@Entity({ name: 'game_day_notes' })
export class GameDayNoteEntity {
  @PrimaryColumn('uuid')
  id: string;

  @Column({ name: 'game_day_id', type: 'uuid' })
  gameDayId: string;

  @Column({ type: 'timestamptz' })
  at: Date;

  @Column({ type: 'text' })
  author: string;

  /** An `action` is something to do afterwards. */
  @Column({ type: 'text' })
  kind: NoteKind;

  @Column({ type: 'text' })
  text: string;
}

export const GAME_DAY_ENTITIES = [GameDayEntity, GameDayItemEntity, GameDayNoteEntity];

/** Whether what is injected is still nobody's to know. */
export const isSealed = ({ seal, openedAt }: Pick<GameDayItemEntity, 'seal' | 'openedAt'>): boolean =>
  seal !== null && openedAt === null;
