/**
 * Evidence files in parts: one field holds 1 GB at most, and all of it passes through memory at once.
 *
 * What is stored already becomes a file of one part. Going back puts the parts together again, and fails where they are
 * more than a field can hold.
 */
import type { MigrationInterface, QueryRunner } from 'typeorm';

const UP = [
  `CREATE TABLE run_evidence_parts (
    run_id uuid NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    part int NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (run_id, part)
  )`,
  // the codec of the file has compressed them already
  `ALTER TABLE run_evidence_parts ALTER COLUMN bytes SET STORAGE EXTERNAL`,
  `INSERT INTO run_evidence_parts (run_id, part, bytes) SELECT run_id, 0, arrow FROM run_evidence`,
  `ALTER TABLE run_evidence
    DROP COLUMN arrow,
    ALTER COLUMN bytes TYPE bigint,
    ALTER COLUMN rows TYPE bigint,
    ADD COLUMN parts int NOT NULL DEFAULT 1`,
  `ALTER TABLE run_evidence ALTER COLUMN parts DROP DEFAULT`,
];

const DOWN = [
  `ALTER TABLE run_evidence ADD COLUMN arrow bytea`,
  `UPDATE run_evidence SET arrow = (
    SELECT string_agg(part.bytes, ''::bytea ORDER BY part.part)
    FROM run_evidence_parts part WHERE part.run_id = run_evidence.run_id
  )`,
  `ALTER TABLE run_evidence
    ALTER COLUMN arrow SET NOT NULL,
    ALTER COLUMN bytes TYPE int,
    ALTER COLUMN rows TYPE int,
    DROP COLUMN parts`,
  `DROP TABLE run_evidence_parts`,
];

export class KeepEvidenceInParts1795932000000 implements MigrationInterface {
  readonly name = 'KeepEvidenceInParts1795932000000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await runner.query(statement);
  }
}
