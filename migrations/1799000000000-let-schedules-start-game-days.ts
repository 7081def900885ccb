/**
 * Game days that a schedule starts, and requests for one that are known again by their key.
 *
 * `game_day` of a schedule is the GameDay document with those that it brings along, as they were sent. The id of a day that a
 * tick starts follows from schedule and nominal time, as that of a run does; a tick may be written before its day within one
 * transaction, hence the deferred key. `run_live_evidence` is the last look at a run under way, one row a run.
 */
import type { MigrationInterface, QueryRunner } from 'typeorm';

const UP = [
  `ALTER TABLE game_days ADD COLUMN idempotency_key text UNIQUE`,
  `ALTER TABLE game_days ADD COLUMN request_hash text`,
  `ALTER TABLE game_days ADD COLUMN schedule_id uuid REFERENCES schedules (id) ON DELETE SET NULL`,
  `CREATE INDEX game_days_open_of_schedule ON game_days (schedule_id) WHERE schedule_id IS NOT NULL AND ended_at IS NULL`,
  `ALTER TABLE schedules ADD COLUMN game_day text`,
  `ALTER TABLE schedule_ticks ADD COLUMN game_day_id uuid
     REFERENCES game_days (id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED`,
  `CREATE TABLE run_live_evidence (
    run_id uuid PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    until_ns double precision NOT NULL,
    bytes bytea NOT NULL
  )`,
  `CREATE INDEX schedule_ticks_of_game_day ON schedule_ticks (game_day_id) WHERE game_day_id IS NOT NULL`,
];

export class LetSchedulesStartGameDays1799000000000 implements MigrationInterface {
  readonly name = 'LetSchedulesStartGameDays1799000000000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE run_live_evidence`);
    await runner.query(`ALTER TABLE schedule_ticks DROP COLUMN game_day_id`);
    await runner.query(`ALTER TABLE schedules DROP COLUMN game_day`);
    await runner.query(`ALTER TABLE game_days DROP COLUMN schedule_id`);
    await runner.query(`ALTER TABLE game_days DROP COLUMN request_hash`);
    await runner.query(`ALTER TABLE game_days DROP COLUMN idempotency_key`);
  }
}
