/**
 * Gates, and the runs that they are made of.
 *
 * `definition` has the documents as they were when the gate was asked for. `round` is raised by whoever decides, so that a
 * decision is made once whatever the queue delivers; `touched_at` is the last sign of life. `gate_runs` are kept by the
 * content of what they depend on and belong to no gate: the next one on the same baseline finds them there.
 */
import type { MigrationInterface, QueryRunner } from 'typeorm';

const UP = [
  `CREATE TABLE gates (
    id uuid PRIMARY KEY,
    suite_name text NOT NULL,
    baseline_name text NOT NULL,
    candidate_name text NOT NULL,
    definition json NOT NULL,
    state text NOT NULL,
    reason text,
    exit_code int,
    round int NOT NULL,
    runs_planned int NOT NULL,
    runs_done int NOT NULL,
    runs_made int NOT NULL,
    result json,
    version text NOT NULL,
    idempotency_key text UNIQUE,
    request_hash text NOT NULL,
    created_at timestamptz(3) NOT NULL,
    started_at timestamptz(3),
    ended_at timestamptz(3),
    touched_at timestamptz(3) NOT NULL
  )`,
  `CREATE INDEX gates_newest ON gates (created_at DESC, id DESC)`,
  `CREATE INDEX gates_open ON gates (touched_at) WHERE ended_at IS NULL`,
  `CREATE TABLE gate_runs (
    key text PRIMARY KEY,
    outcome json NOT NULL,
    created_at timestamptz(3) NOT NULL
  )`,
  `CREATE INDEX gate_runs_by_age ON gate_runs (created_at)`,
];

export class AddGates1798000000000 implements MigrationInterface {
  readonly name = 'AddGates1798000000000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE gate_runs`);
    await runner.query(`DROP TABLE gates`);
  }
}
