/**
 * Game days: experiments in stages, what was said meanwhile, and runs whose truth is sealed.
 *
 * `progress` is how far each stage is; whoever conducts locks the row of the day. `draft` is the run of an experiment as it
 * was planned when the day was asked for, and has the id that it will have, so that a look that is repeated starts no second
 * one. `sealed_text` is what `seal` is the SHA-256 of: text, since its bytes are what was promised.
 */
import type { MigrationInterface, QueryRunner } from 'typeorm';

const UP = [
  `CREATE TABLE game_days (
    id uuid PRIMARY KEY,
    name text NOT NULL,
    definition json NOT NULL,
    blind boolean NOT NULL,
    state text NOT NULL,
    reason text,
    progress json NOT NULL,
    abort_requested_at timestamptz(3),
    abort_reason text,
    created_at timestamptz(3) NOT NULL,
    ended_at timestamptz(3)
  )`,
  `CREATE INDEX game_days_newest ON game_days (created_at DESC, id DESC)`,
  `CREATE INDEX game_days_of_name ON game_days (name, created_at)`,
  `CREATE INDEX game_days_open ON game_days (created_at) WHERE ended_at IS NULL`,
  `CREATE TABLE game_day_items (
    game_day_id uuid NOT NULL REFERENCES game_days (id) ON DELETE CASCADE,
    ordinal int NOT NULL,
    stage int NOT NULL,
    label text NOT NULL,
    run_id uuid NOT NULL UNIQUE,
    draft json NOT NULL,
    seal text,
    sealed_text text,
    started_at timestamptz(3),
    committed_at timestamptz(3),
    committed_by text,
    diagnosis_id uuid REFERENCES run_diagnoses (id) ON DELETE SET NULL,
    opened_at timestamptz(3),
    PRIMARY KEY (game_day_id, ordinal)
  )`,
  `CREATE TABLE game_day_notes (
    id uuid PRIMARY KEY,
    game_day_id uuid NOT NULL REFERENCES game_days (id) ON DELETE CASCADE,
    at timestamptz(3) NOT NULL,
    author text NOT NULL,
    kind text NOT NULL,
    text text NOT NULL
  )`,
  `CREATE INDEX game_day_notes_in_time ON game_day_notes (game_day_id, at, id)`,
  `ALTER TABLE runs ADD COLUMN game_day_id uuid REFERENCES game_days (id) ON DELETE SET NULL`,
  `ALTER TABLE runs ADD COLUMN sealed boolean NOT NULL DEFAULT false`,
  `CREATE INDEX runs_of_game_day ON runs (game_day_id, created_at) WHERE game_day_id IS NOT NULL`,
];

export class AddGameDays1797000000000 implements MigrationInterface {
  readonly name = 'AddGameDays1797000000000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE runs DROP COLUMN sealed`);
    await runner.query(`ALTER TABLE runs DROP COLUMN game_day_id`);
    await runner.query(`DROP TABLE game_day_notes`);
    await runner.query(`DROP TABLE game_day_items`);
    await runner.query(`DROP TABLE game_days`);
  }
}
