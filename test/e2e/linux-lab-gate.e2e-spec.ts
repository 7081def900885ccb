/**
 * The gate between two labs, by the command line and from the file that ships: FRR's default next-hop groups are caught, and
 * the cure passes beside itself. Labs are built and removed by the gate, a new one for each drill. Twelve
 * drills take seven minutes and more: by hand, `npm run test:labs`.
 */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKOUT, CliPlace, type CliResult } from '../support/cli.js';
import { labName, labNamespaces, whyNoLab } from '../support/linux-lab.js';

// a limit for what hangs: six drills take minutes
jest.setTimeout(1_200_000);
const why = whyNoLab('gates between labs');

(why === undefined ? describe : describe.skip)('a gate between two labs', () => {
  // names of its own, so that labs of people and of other suites are left alone
  const [cured, shipped] = [labName(), labName()];
  let place: CliPlace;

  beforeAll(async () => {
    place = await CliPlace.open('lab-gate');
    const text = readFileSync(join(CHECKOUT, 'experiments/suites/lab-upgrade.yaml'), 'utf8');
    const renamed = text
      .replaceAll('lab-cured', cured)
      .replaceAll('lab-as-shipped', shipped)
      .replace('prefix: fd-cured', `prefix: ${cured}`)
      .replace('prefix: fd-shipped', `prefix: ${shipped}`);
    writeFileSync(join(place.folder, 'suite.yaml'), renamed);
  });
  afterAll(() => place.close());

  const gate = async (...flags: string[]): Promise<CliResult> => {
    const result = await place.runApart('gate', 'suite.yaml', '--up', '--output', 'github', ...flags);
    expect([...labNamespaces(cured), ...labNamespaces(shipped)]).toEqual([]);
    return result;
  };

  it('fails the default of FRR, whose routes never come back', async () => {
    const { exitCode, stdout, stderr } = await gate('--confirm', cured, '--confirm', shipped);
    expect([exitCode, exitCode === 1 ? '' : stderr]).toEqual([1, '']);
    expect(stdout).toMatch(/^::error .*title=regression%3A recovery.failed_back/);
  });

  it('passes the cure beside itself', async () => {
    const { exitCode, stdout, stderr } = await gate('--confirm', cured, '--candidate', cured);
    expect([exitCode, exitCode === 0 ? '' : stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^::notice /);
  });
});
