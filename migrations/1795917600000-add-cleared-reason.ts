/**
 * Who lifts the block that a failed undo leaves says what was checked; that goes with the run.
 */
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class AddClearedReason1795917600000 implements MigrationInterface {
  readonly name = 'AddClearedReason1795917600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE runs ADD COLUMN cleared_reason text`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE runs DROP COLUMN cleared_reason`);
  }
}
