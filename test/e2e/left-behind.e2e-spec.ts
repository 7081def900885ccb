/**
 * What processes leave behind when they have ended: nothing, however they ended.
 */
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { preparePlace } from '../../src/store/database/embedded/place.js';
import { Cli } from '../support/cli.js';
import { experimentDocument, fabricDocument, yamlOf } from '../support/definitions.js';
import { ownHome, type OwnHome } from '../support/own-home.js';

jest.setTimeout(180_000);

let home: OwnHome;
let cli: Cli;
beforeEach(() => {
  home = ownHome();
  cli = Cli.compile({ FABRICDRILL_HOME: home.folder });
});
afterEach(async () => {
  cli.remove();
  await home.remove();
});

/** Processes that were started with this home, by environment or arguments; only they could listen for it. */
function left(): string[] {
  const marks = [`FABRICDRILL_HOME=${home.folder}`, preparePlace(home.folder).data];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const [told, given] = ['cmdline', 'environ'].map((file) =>
          readFileSync(`/proc/${pid}/${file}`, 'utf8'),
        );
        return marks.some((mark) => told.includes(mark) || given.includes(mark)) ? [`${pid} ${told}`] : [];
      } catch {
        // it ended meanwhile, or is somebody else's
        return [];
      }
    });
}

it('commands leave no process behind, and so no socket', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fabricdrill-left-'));
  try {
    writeFileSync(join(folder, 'fabric.yaml'), yamlOf(fabricDocument('small')));
    writeFileSync(join(folder, 'drill.yaml'), yamlOf(experimentDocument('drill', 'fabric.yaml')));
    const run = cli.start(['run', 'drill.yaml'], folder);
    await run.says(/run [0-9a-f-]{36}:/);
    expect(left()).not.toEqual([]);
    expect((await run.ended).exitCode).toBe(0);
    expect(left()).toEqual([]);
    for (const args of [
      ['runs', 'list'],
      ['fabrics', 'list'],
    ]) {
      const { exitCode, stderr } = await cli.runApart(args, folder);
      expect([args, exitCode, stderr, left()]).toEqual([args, 0, expect.anything(), []]);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
