/**
 * The first schema: what is stored (fabrics, experiments), what was done with it (runs and all that belongs to one).
 *
 * Documents are `json`, not `jsonb`: they come back with their keys in the order they were written, and nothing
 * queries inside them. Creation times have milliseconds, as the cursors of lists do. A run keeps copies of the documents it ran, so that it outlives them. `run_truth` is a table
 * of its own so that rights on it can be withheld.
 */
import type { MigrationInterface, QueryRunner } from 'typeorm';

const UP = [
  `CREATE TABLE fabrics (
    name text PRIMARY KEY,
    definition json NOT NULL,
    digest text NOT NULL,
    driver text NOT NULL,
    summary json NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
  )`,
  `CREATE TABLE experiments (
    id uuid PRIMARY KEY,
    name text NOT NULL,
    definition json NOT NULL,
    digest text NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (name, digest)
  )`,
  `CREATE INDEX experiments_newest ON experiments (created_at DESC, id DESC)`,
  `CREATE TABLE runs (
    id uuid PRIMARY KEY,
    experiment_id uuid REFERENCES experiments (id) ON DELETE SET NULL,
    experiment_name text NOT NULL,
    fabric_name text NOT NULL,
    driver text NOT NULL,
    definition json NOT NULL,
    fabric_definition json NOT NULL,
    plan json NOT NULL,
    seed bigint NOT NULL,
    state text NOT NULL,
    reason text,
    exit_code int,
    idempotency_key text,
    abort_requested_at timestamptz,
    abort_reason text,
    cleared_at timestamptz,
    lease_owner text,
    lease_until timestamptz,
    fence bigint NOT NULL DEFAULT 0,
    version text NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    started_at timestamptz,
    ended_at timestamptz
  )`,
  `CREATE INDEX runs_newest ON runs (created_at DESC, id DESC)`,
  `CREATE INDEX runs_by_experiment ON runs (experiment_id)`,
  `CREATE INDEX runs_by_fabric ON runs (fabric_name, state)`,
  `CREATE INDEX runs_open ON runs (created_at) WHERE ended_at IS NULL`,
  `CREATE TABLE run_transitions (
    id bigserial PRIMARY KEY,
    run_id uuid NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    seq int NOT NULL,
    state text NOT NULL,
    at timestamptz NOT NULL,
    detail text,
    UNIQUE (run_id, seq)
  )`,
  `CREATE TABLE run_events (
    run_id uuid NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    seq int NOT NULL,
    at timestamptz NOT NULL,
    type text NOT NULL,
    data json NOT NULL,
    PRIMARY KEY (run_id, seq)
  )`,
  `CREATE TABLE undo_entries (
    id text PRIMARY KEY,
    run_id uuid NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    ordinal int NOT NULL,
    fault text NOT NULL,
    impairment json NOT NULL,
    saved json NOT NULL,
    status text NOT NULL,
    error text,
    intended_at timestamptz NOT NULL,
    applied_at timestamptz,
    reverted_at timestamptz,
    verified_at timestamptz
  )`,
  `CREATE INDEX undo_entries_by_run ON undo_entries (run_id, ordinal)`,
  `CREATE TABLE run_evidence (
    run_id uuid PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    arrow bytea NOT NULL,
    bytes int NOT NULL,
    sha256 text NOT NULL,
    rows int NOT NULL,
    format text NOT NULL
  )`,
  `CREATE TABLE run_results (
    run_id uuid PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    verdict json,
    sealed_at timestamptz,
    scorecard json
  )`,
  `CREATE TABLE run_truth (
    run_id uuid PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    truth json NOT NULL
  )`,
  // Checked at commit: a key is reserved before its run is stored.
  `CREATE TABLE idempotency_keys (
    key text PRIMARY KEY,
    request_hash text NOT NULL,
    response json,
    run_id uuid REFERENCES runs (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
    created_at timestamptz(3) NOT NULL DEFAULT now()
  )`,
  `CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at)`,
];

const TABLES_NEWEST_FIRST = [
  'idempotency_keys',
  'run_truth',
  'run_results',
  'run_evidence',
  'undo_entries',
  'run_events',
  'run_transitions',
  'runs',
  'experiments',
  'fabrics',
];

export class CreateCoreTables1795910400000 implements MigrationInterface {
  readonly name = 'CreateCoreTables1795910400000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of TABLES_NEWEST_FIRST) await runner.query(`DROP TABLE ${table}`);
  }
}
