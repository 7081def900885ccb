/**
 * The gate between two labs, by the command line and from the file that ships: FRR's default next-hop groups are caught, and
 * the cure passes beside itself. Labs are built and removed by the gate, a new one for each drill.
 */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileProgram, type ChildProgram } from '../support/child-program.js';
import { whyNoLabDrills } from '../support/linux-lab.js';
import { readSource } from '../support/source-tree.js';

// a limit for what hangs: six drills take minutes
jest.setTimeout(1_200_000);
const why = whyNoLabDrills('gates between labs');

(why === undefined ? describe : describe.skip)('a gate between two labs', () => {
  const own = `g${process.pid.toString(36)}`;
  let folder: string;
  let program: ChildProgram;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'fabricdrill-lab-gate-'));
    // names of its own, so that labs of people and of other suites are left alone
    const text = readSource('experiments/suites/lab-upgrade.yaml');
    writeFileSync(
      join(folder, 'suite.yaml'),
      text.replaceAll(/\blab-(cured|as-shipped)\b/g, `${own}-$1`).replaceAll('prefix: fd-', `prefix: ${own}`),
    );
    program = compileProgram(`import './src/cli.js';`);
  });
  afterAll(() => {
    program.remove();
    rmSync(folder, { recursive: true });
  });

  const gate = (...flags: string[]): { status: number | null; stdout: string; stderr: string } => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [program.entry, 'gate', 'suite.yaml', '--up', '--output', 'github', ...flags],
      { cwd: folder, encoding: 'utf8', env: { ...process.env, FABRICDRILL_HOME: join(folder, 'home') } },
    );
    for (const name of ['cured', 'as-shipped']) {
      expect(existsSync(`/run/fabricdrill/labs/${own}-${name}/record.json`)).toBe(false);
    }
    return { status, stdout, stderr };
  };

  it('fails the default of FRR, whose routes never come back', () => {
    const { status, stdout, stderr } = gate('--confirm', `${own}-cured`, '--confirm', `${own}-as-shipped`);
    expect([status, status === 1 ? '' : stderr]).toEqual([1, '']);
    expect(stdout).toMatch(/^::error .*title=regression%3A recovery.failed_back/);
  });

  it('passes the cure beside itself', () => {
    const { status, stdout, stderr } = gate('--confirm', `${own}-cured`, '--candidate', `${own}-cured`);
    expect([status, status === 0 ? '' : stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^::notice /);
  });
});
