/**
 * Schedules, and what became of each of their ticks.
 *
 * The primary key of `schedule_ticks` is what makes a tick one run, whatever the replicas do. `next_at` is the nominal time
 * of the next tick that nothing was decided about, `wake_at` when the schedule must be looked at again, `settled_at` the
 * database's clock when it was looked at last, which tells when that clock was put back. A tick may be written before its
 * run within one transaction, hence the deferred key.
 */
import type { MigrationInterface, QueryRunner } from 'typeorm';

const UP = [
  `CREATE TABLE schedules (
    id uuid PRIMARY KEY,
    name text NOT NULL UNIQUE,
    definition json NOT NULL,
    digest text NOT NULL,
    suspended_at timestamptz(3),
    suspend_reason text,
    next_at timestamptz(3),
    wake_at timestamptz(3),
    settled_at timestamptz(3) NOT NULL,
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL
  )`,
  `CREATE INDEX schedules_newest ON schedules (created_at DESC, id DESC)`,
  `CREATE INDEX schedules_to_wake ON schedules (wake_at)`,
  `CREATE INDEX schedules_settled ON schedules (settled_at)`,
  `CREATE TABLE schedule_ticks (
    schedule_id uuid NOT NULL REFERENCES schedules (id) ON DELETE CASCADE,
    nominal_at timestamptz(3) NOT NULL,
    due_at timestamptz(3) NOT NULL,
    decided_at timestamptz(3) NOT NULL,
    outcome text NOT NULL,
    reason text,
    detail text,
    run_id uuid REFERENCES runs (id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED,
    PRIMARY KEY (schedule_id, nominal_at)
  )`,
  `CREATE INDEX schedule_ticks_of_run ON schedule_ticks (run_id) WHERE run_id IS NOT NULL`,
  `ALTER TABLE runs ADD COLUMN schedule_id uuid REFERENCES schedules (id) ON DELETE SET NULL`,
  `CREATE INDEX runs_of_schedule ON runs (schedule_id, created_at) WHERE schedule_id IS NOT NULL`,
  `CREATE INDEX runs_open_of_schedule ON runs (schedule_id) WHERE schedule_id IS NOT NULL AND ended_at IS NULL`,
];

export class AddSchedules1795950000000 implements MigrationInterface {
  readonly name = 'AddSchedules1795950000000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE runs DROP COLUMN schedule_id`);
    await runner.query(`DROP TABLE schedule_ticks`);
    await runner.query(`DROP TABLE schedules`);
  }
}
