/** Rows of schedules and of their ticks. Table definitions live in migrations/; these classes only map them. */
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { SkipReason } from '../../model/calendar/decide.js';

/** Why a schedule was suspended by its file or by us; people say why in words. */
export type SuspendCode = 'by-file' | 'unreadable' | 'confirmation-required';

@Entity({ name: 'schedules' })
export class ScheduleEntity {
  @PrimaryColumn('uuid')
  id: string;

  @Column({ type: 'text' })
  name: string;

  /** The Schedule document as written. */
  @Column({ type: 'json' })
  definition: unknown;

  /** Documents of the game day that it starts, as sent; asked for only then, since a blind one is nobody's to read. */
  @Column({ name: 'game_day', type: 'text', nullable: true, select: false })
  gameDay?: string | null;

  /** SHA-256 of the canonical JSON of the definition, and of the game day. */
  @Column({ type: 'text' })
  digest: string;

  @Column({ name: 'suspended_at', type: 'timestamptz', nullable: true })
  suspendedAt: Date | null;

  @Column({ name: 'suspend_reason', type: 'text', nullable: true })
  suspendReason: string | null;

  /** Null where a person has suspended it. */
  @Column({ name: 'suspend_code', type: 'text', nullable: true })
  suspendCode: SuspendCode | null;

  /** Nominal time of the next tick that nothing was decided about; null when none is left. */
  @Column({ name: 'next_at', type: 'timestamptz', nullable: true })
  nextAt: Date | null;

  /** When the schedule must be looked at again; null for never. */
  @Column({ name: 'wake_at', type: 'timestamptz', nullable: true })
  wakeAt: Date | null;

  /** The clock when it was looked at last. */
  @Column({ name: 'settled_at', type: 'timestamptz' })
  settledAt: Date;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt: Date;

  @Column({ name: 'updated_at', type: 'timestamptz' })
  updatedAt: Date;
}

@Entity({ name: 'schedule_ticks' })
export class ScheduleTickEntity {
  @PrimaryColumn({ name: 'schedule_id', type: 'uuid' })
  scheduleId: string;

  @PrimaryColumn({ name: 'nominal_at', type: 'timestamptz' })
  nominalAt: Date;

  /** With its jitter. */
  @Column({ name: 'due_at', type: 'timestamptz' })
  dueAt: Date;

  @Column({ name: 'decided_at', type: 'timestamptz' })
  decidedAt: Date;

  @Column({ type: 'text' })
  outcome: 'run' | 'skip';

  /** Of a skip. */
  @Column({ type: 'text', nullable: true })
  reason: SkipReason | null;

  @Column({ type: 'text', nullable: true })
  detail: string | null;

  /** Null for a skip, for a run that was deleted, and where a game day was begun. */
  @Column({ name: 'run_id', type: 'uuid', nullable: true })
  runId: string | null;

  /** The same for a schedule of game days. */
  @Column({ name: 'game_day_id', type: 'uuid', nullable: true })
  gameDayId: string | null;
}

export const SCHEDULE_ENTITIES = [ScheduleEntity, ScheduleTickEntity];
