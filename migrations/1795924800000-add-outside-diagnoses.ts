/**
 * Diagnoses that others make of a run: teams that grade their own monitoring, and alerts.
 *
 * `run_id` is null for an alert that belongs to no run; `reason` says why. What an author says of a run in several
 * messages (alerts come one by one) is one row. Scores are written once the truth may be known; `run_truth.record`
 * keeps what they need of the drill's course.
 */
import type { MigrationInterface, QueryRunner } from 'typeorm';

const UP = [
  `ALTER TABLE run_truth ADD COLUMN record json`,
  `CREATE TABLE run_diagnoses (
    id uuid PRIMARY KEY,
    run_id uuid REFERENCES runs (id) ON DELETE CASCADE,
    source text NOT NULL,
    author text NOT NULL,
    verdict json,
    alerts json,
    reason text,
    score json,
    before_end boolean NOT NULL,
    received_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    scored_at timestamptz(3)
  )`,
  `CREATE INDEX run_diagnoses_by_run ON run_diagnoses (run_id, received_at)`,
  `CREATE INDEX run_diagnoses_newest ON run_diagnoses (received_at DESC, id DESC)`,
  `CREATE UNIQUE INDEX run_diagnoses_of_alerts ON run_diagnoses (run_id, author) WHERE source = 'alertmanager'`,
];

export class AddOutsideDiagnoses1795924800000 implements MigrationInterface {
  readonly name = 'AddOutsideDiagnoses1795924800000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE run_diagnoses`);
    await runner.query(`ALTER TABLE run_truth DROP COLUMN record`);
  }
}
