/**
 * Why a schedule is suspended, as a name that programs go by; null where a person has suspended it.
 *
 * Until now the reason's own words said so, which this reads once: a file that asks for it, or that a version did not take.
 */
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class SayWhySchedulesAreSuspended1801000000000 implements MigrationInterface {
  readonly name = 'SayWhySchedulesAreSuspended1801000000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE schedules ADD COLUMN suspend_code text`);
    await runner.query(
      `UPDATE schedules SET suspend_code = CASE
         WHEN suspend_reason = 'its file says so' THEN 'by-file'
         WHEN suspend_reason LIKE 'this version does not accept its file%' THEN 'unreadable' END`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE schedules DROP COLUMN suspend_code`);
  }
}
