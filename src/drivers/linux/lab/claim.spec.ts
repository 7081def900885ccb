import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { EnvironmentError } from '../../../core/problem.js';
import { identityOf } from '../../../system/process-identity.js';
import { claimLab, requireUnclaimed } from './claim.js';

describe('the claim of a lab', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'fabricdrill-claim-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('keeps others out while its process runs, and counts for nothing once that was killed', async () => {
    const drill = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    const ended = new Promise((resolve) => drill.once('exit', resolve));
    try {
      writeFileSync(join(folder, `claim-${identityOf(drill.pid!)}`), '');
      expect(() => claimLab(folder)).toThrow(EnvironmentError);
      expect(() => requireUnclaimed(folder)).toThrow(`process ${drill.pid} drills`);
      expect(readdirSync(folder)).toHaveLength(1);
    } finally {
      drill.kill('SIGKILL');
    }
    await ended;
    expect(() => claimLab(folder)).not.toThrow();
  });

  it('is not in the way of its own process, and leaves nothing when it is given up', () => {
    const giveUp = claimLab(folder);
    claimLab(folder);
    requireUnclaimed(folder);
    giveUp();
    expect(readdirSync(folder)).toEqual([]);
  });
});
