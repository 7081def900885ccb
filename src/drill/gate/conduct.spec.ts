import { describe, expect, it } from '@jest/globals';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { experimentDocument, fabricDocument } from '../../../test/support/definitions.js';
import { refuseFiles, type FabricDocument } from '../../documents/fabric-document.js';
import { loadExperiment, loadFabric, loadSuite } from '../../documents/load.js';
import { cached, FolderStore, runKey } from './cache.js';
import { conductGate, type Execute } from './conduct.js';
import { checkGate, refuseIncomparable, type CheckedGate } from './gate-input.js';
import { needsOf, runSide, type SideInput, type SideOutcome } from './side-run.js';

const fabricOf = (change: (spec: Record<string, unknown>) => void = () => undefined): FabricDocument => {
  const document = structuredClone(fabricDocument('small')) as { spec: Record<string, unknown> };
  change(document.spec);
  return loadFabric(document, refuseFiles).value;
};
const experiment = loadExperiment(experimentDocument('drill', 'small'), refuseFiles).value;

function gateOf(candidate: FabricDocument, spec: Record<string, unknown> = {}): CheckedGate {
  const suite = loadSuite(
    {
      apiVersion: 'fabricdrill/v1',
      kind: 'Suite',
      metadata: { name: 'check' },
      spec: {
        experiments: ['drill'],
        seeds: 5,
        objectives: [{ metric: 'training.step_time_s', margin: '5%' }],
        ...spec,
      },
    },
    refuseFiles,
  ).value;
  return checkGate({ suite, experiments: [experiment], baseline: fabricOf(), candidate });
}

/** In this thread, as it stands. */
const here =
  (gate: CheckedGate): Execute =>
  async ({ side, seed }) => ({
    outcome: await runSide({ experiment, fabric: gate[side], seed, needs: needsOf(gate.objectives) }),
  });

/** Every link twice as slow. */
const slower = (): FabricDocument =>
  fabricOf((spec) => {
    const topology = spec.topology as Record<string, unknown>;
    topology.hostRate = '10Gbps';
    topology.fabricRate = '10Gbps';
  });

/** A kept run whose step time a broken disk has changed. */
const otherwise = (kept: string): string =>
  kept.replace(/("training.step_time_s":)\d/, (_, key: string) => `${key}9`);

describe('a gate from its input to its result', () => {
  it('finds slower links, says what differs, and passes a fabric beside itself', async () => {
    const bad = gateOf(slower());
    const failed = await conductGate({ gate: bad, version: 'test', execute: here(bad) });
    expect(failed.verdict).toBe('regression');
    expect(failed.differences.join('\n')).toMatch(/topology.hostRate: .* → 10/);
    const same = gateOf(fabricOf());
    const passed = await conductGate({ gate: same, version: 'test', execute: here(same) });
    expect(passed).toMatchObject({ verdict: 'none', differences: [], run: { runs: 10, fromCache: 0 } });
    expect(passed.notes).toEqual([expect.stringMatching(/differ in nothing/)]);
    expect(failed.notes).toEqual([]);
  });

  it('gives the same whatever the order in which its runs end', async () => {
    const gate = gateOf(fabricOf((spec) => void (spec.settings = { hashSeed: 9 })));
    const straight = await conductGate({ gate, version: 'test', execute: here(gate) });
    let calls = 0;
    const shuffled: Execute = async (task) => {
      const wait = (7 * calls++) % 5;
      for (let turn = 0; turn < wait; turn++) await new Promise((resolve) => setImmediate(resolve));
      return here(gate)(task);
    };
    expect(await conductGate({ gate, version: 'test', execute: shuffled })).toEqual(straight);
  });

  it('says what can not be compared, and does not pass', async () => {
    const gate = gateOf(fabricOf((spec) => void (spec.jobs = [])));
    await expect(refuseIncomparable(gate)).rejects.toThrow(
      /"drill" can’t be compared: it can not be run on the candidate: /,
    );
    await refuseIncomparable(gateOf(slower()));
    const result = await conductGate({ gate, version: 'test', execute: here(gate) });
    expect(result).toMatchObject({ verdict: 'inconclusive', run: { runs: 2 } });
    expect(result.notes.join('\n')).toMatch(
      /drill could not be compared: it can not be run on the candidate: .*\n0 of 1/,
    );
  });

  it('makes no run twice, knows content from names, and outlives a broken file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'fabricdrill-gate-'));
    try {
      const gate = gateOf(fabricOf((spec) => void (spec.settings = { hashSeed: 9 })));
      const conduct = () =>
        conductGate({
          gate,
          version: 'test',
          execute: cached(gate, here(gate), new FolderStore(folder), 'program'),
        });
      const first = await conduct();
      expect(first.run).toEqual({ runs: 10, fromCache: 0 });
      expect(await conduct()).toEqual({ ...first, run: { runs: 10, fromCache: 10 } });
      const [part] = readdirSync(folder);
      const [file] = readdirSync(join(folder, part));
      const path = join(folder, part, file);
      const whole = readFileSync(path, 'utf8');
      // cut short, of another kind, and with one figure that is not the one that was written
      for (const damaged of [whole.slice(0, -9), '[1]', whole.replace(/\d(?=\D*$)/, 'x'), otherwise(whole)]) {
        writeFileSync(path, damaged);
        expect(await conduct()).toEqual({ ...first, run: { runs: 10, fromCache: 9 } });
      }
      const others = ['not-one-of-ours', 'notes/a.json', `${part}/notes.json`];
      mkdirSync(join(folder, 'notes'));
      for (const other of others) writeFileSync(join(folder, other), '');
      new FolderStore(folder).trim(4);
      const left = readdirSync(folder, { recursive: true }).filter((name) => /json$/.test(String(name)));
      expect(left.filter((name) => !others.includes(String(name)))).toHaveLength(4);
      expect(others.every((other) => existsSync(join(folder, other)))).toBe(true);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('waits for a run that is under way instead of making it a second time', async () => {
    const same = gateOf(fabricOf());
    const kept = new Map<string, SideOutcome>();
    const store = {
      get: (key: string) => kept.get(key),
      put: (key: string, one: SideOutcome) => void kept.set(key, one),
    };
    const result = await conductGate({
      ...{ gate: same, version: 'test' },
      execute: cached(same, here(same), store, 'program'),
    });
    expect(result).toMatchObject({ verdict: 'none', run: { runs: 10, fromCache: 5 } });
  });

  it('goes on where no run can be kept, and says so once', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'fabricdrill-gate-'));
    try {
      writeFileSync(join(folder, 'runs'), 'a file where the folder would go');
      const complaints: string[] = [];
      const store = new FolderStore(join(folder, 'runs'), (why) => void complaints.push(why));
      store.trim();
      const gate = gateOf(slower());
      const execute = cached(gate, here(gate), store, 'program');
      expect(await conductGate({ gate, version: 'test', execute })).toMatchObject({
        verdict: 'regression',
        run: { runs: 10, fromCache: 0 },
      });
      expect(complaints).toEqual([expect.stringMatching(/ENOTDIR|EEXIST/)]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('keys a run by fabric, experiment, seed, what is computed and the program, not by names', () => {
    const needs = { diagnosis: false, twin: false };
    const keyOf = (changed: Partial<SideInput>, program = 'a'): string =>
      runKey({ experiment, fabric: fabricOf(), seed: 1, needs, ...changed }, program);
    const key = keyOf({});
    expect(keyOf({ fabric: { ...fabricOf(), metadata: { name: 'other' } } })).toBe(key);
    const others = [
      keyOf({ fabric: slower() }),
      keyOf({ seed: 2 }),
      keyOf({ needs: { ...needs, twin: true } }),
      keyOf({}, 'b'),
      keyOf({ experiment: { ...experiment, spec: { ...experiment.spec, duration: 1e9 } } }),
    ];
    expect(new Set([key, ...others]).size).toBe(6);
  });

  it('refuses objectives on experiments that are not there, and the same experiment twice', () => {
    expect(() =>
      gateOf(fabricOf(), { objectives: [{ metric: 'recovery.score', margin: 1, on: ['drll'] }] }),
    ).toThrow(/no experiment "drll".*did you mean "drill"/);
    const gate = gateOf(fabricOf());
    expect(() => checkGate({ ...gate, experiments: [experiment, experiment] })).toThrow(
      /two experiments named "drill"/,
    );
    expect(() => checkGate({ ...gate, seeds: 3 })).toThrow(/at least 5/);
  });
});
