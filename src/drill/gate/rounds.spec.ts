/** Rounds of a gate: which runs come when, and what their outcomes come to. */
import { describe, expect, it } from '@jest/globals';
import { experimentDocument, fabricDocument } from '../../../test/support/definitions.js';
import { refuseFiles } from '../../documents/fabric-document.js';
import { loadExperiment, loadFabric, loadSuite } from '../../documents/load.js';
import { effectNotes } from './effects.js';
import { checkGate, isReal, type CheckedGate, type GateInput } from './gate-input.js';
import { GateRounds, type SideTask } from './rounds.js';
import type { SideOutcome } from './side-run.js';

const STEP = 'training.step_time_s';
const fabric = (name: string, spec: Record<string, unknown> = {}) =>
  loadFabric(fabricDocument(name, spec), refuseFiles).value;
const NAMES = ['first', 'second', 'third'];
const experiments = NAMES.map((name) => loadExperiment(experimentDocument(name, 'small'), refuseFiles).value);

function gateOf(spec: Record<string, unknown> = {}, more: Partial<GateInput> = {}): CheckedGate {
  const suite = loadSuite(
    {
      apiVersion: 'fabricdrill/v1',
      kind: 'Suite',
      metadata: { name: 'check' },
      spec: { experiments: NAMES, seeds: 16, objectives: [{ metric: STEP, margin: 1 }], ...spec },
    },
    refuseFiles,
  ).value;
  return checkGate({ suite, experiments, baseline: fabric('small'), candidate: fabric('small'), ...more });
}

/** Seconds a step of a run, or why there is none. */
type Figure = (task: SideTask) => number | SideOutcome;

/** Walks a gate to its end. @returns the tasks of each round, and the result */
function walk(gate: CheckedGate, figure: Figure) {
  const rounds = new GateRounds(gate);
  const walked: SideTask[][] = [];
  for (let due = rounds.due(); due.length > 0; due = rounds.due()) {
    walked.push([...due]);
    rounds.record(
      due.map((task) => {
        const found = figure(task);
        return typeof found === 'number' ? { figures: { [STEP]: found } } : found;
      }),
    );
  }
  const runs = walked.flat().length;
  const placeOf = () => ({ file: 'suite.yaml', line: 7 });
  return { walked, result: rounds.result({ version: 'test', run: { runs, fromCache: 0 }, placeOf }) };
}

describe('the runs of a gate', () => {
  it('begin with one seed of each experiment, and go on to the next look, either side first in turn', () => {
    const { walked } = walk(gateOf(), () => 2);
    const seeds = (tasks: readonly SideTask[]) =>
      tasks.map(({ experiment, side, seed }) => `${experiment} ${seed} ${side}`);
    expect(seeds(walked[0])).toEqual([0, 1, 2].flatMap((at) => [`${at} 1 baseline`, `${at} 1 candidate`]));
    expect(seeds(walked[1]).slice(0, 4)).toEqual([
      '0 2 candidate',
      '0 2 baseline',
      '0 3 baseline',
      '0 3 candidate',
    ]);
    // all is decided at the first look, after 8 of 16 seeds
    expect(walked).toHaveLength(2);
    for (const at of [0, 1, 2])
      expect(walked.flat().filter(({ experiment }) => experiment === at)).toHaveLength(2 * 8);
  });

  it('count from the first seed of the suite', () => {
    const { walked } = walk(gateOf({ firstSeed: 100, seeds: 5 }), () => 2);
    expect([...new Set(walked.flat().map(({ seed }) => seed))]).toEqual([100, 101, 102, 103, 104]);
  });

  it('go on only where something is open', () => {
    const open: Figure = ({ experiment, side, seed }) =>
      experiment === 1 && side === 'candidate' ? (seed % 2 === 0 ? 9 : 1) : 2;
    const { walked, result } = walk(gateOf(), open);
    const last = walked.at(-1)!;
    expect(new Set(last.map(({ experiment }) => experiment))).toEqual(new Set([1]));
    expect(last.at(-1)!.seed).toBe(16);
    expect(result.verdict).toBe('inconclusive');
    expect(result.objectives[0].reason).toMatch(/^second: /);
  });
});

describe('the result of a gate', () => {
  it('gives each side its own figures, whichever ran first', () => {
    const { result } = walk(gateOf(), ({ side }) => (side === 'candidate' ? 5 : 2));
    expect(result).toMatchObject({ verdict: 'regression', run: { runs: 48, fromCache: 0 } });
    const [objective] = result.objectives;
    expect(objective).toMatchObject({
      file: 'suite.yaml',
      line: 7,
      metric: STEP,
      unit: 's',
      type: 'relative',
    });
    expect(
      objective.experiments.map(({ meanBaseline, meanCandidate }) => [meanBaseline, meanCandidate]),
    ).toEqual(NAMES.map(() => [2, 5]));
    expect(objective.reason).toMatch(/^first: worse by 3 s .*; and so on 2 more$/);
    expect(result.gate).toMatchObject({
      suite: 'check',
      baseline: 'small',
      seeds: 16,
      firstSeed: 1,
      samples: 'paired',
    });
  });

  it('has what could not be run on a side in its notes, and runs it no more', () => {
    const refused: Figure = ({ experiment, side }) =>
      experiment === 0 && side === 'baseline' ? { figures: null, refused: true, problem: 'no such link' } : 2;
    const { walked, result } = walk(gateOf(), refused);
    expect(walked.flat().filter(({ experiment }) => experiment === 0)).toHaveLength(2);
    expect(result.notes).toEqual(
      expect.arrayContaining([
        'first could not be compared: it can not be run on the baseline: no such link',
        '2 of 3 experiments could be compared',
      ]),
    );
    expect(result.verdict).toBe('inconclusive');
    const nameless = walk(gateOf(), ({ side }) =>
      side === 'candidate' ? { figures: null, refused: true } : 2,
    );
    expect(nameless.result.notes.join()).toMatch(/run on the candidate: the reason is not known.*0 of 3/);
  });

  it('has no note of a run that was planned and proved nothing', () => {
    const { result } = walk(gateOf(), ({ seed }) => (seed === 1 ? { figures: null, problem: 'why' } : 2));
    expect(result.notes.join()).not.toMatch(/compared:/);
  });
});

describe('what a gate is asked', () => {
  const real = (name: string) => {
    const small = fabric(name);
    return { ...small, spec: { ...small.spec, driver: 'linux' } } as typeof small;
  };

  it('compares simulated fabrics in pairs, real ones by independent runs, and never one with the other', () => {
    expect(isReal(gateOf())).toBe(false);
    const labs = gateOf({}, { baseline: real('before'), candidate: real('after'), seeds: 3 });
    expect(isReal(labs)).toBe(true);
    expect(labs.looks).toEqual([{ seeds: 3, level: 0.05 }]);
    for (const sides of [{ baseline: real('lab') }, { candidate: real('lab') }])
      expect(() => gateOf({}, sides)).toThrow(/"lab" is a real fabric and "small" a simulated one/);
  });

  it('says where too few seeds were asked for', () => {
    const pointers = (act: () => unknown): string[] => {
      try {
        act();
      } catch (error) {
        return (error as { issues: { pointer: string }[] }).issues.map(({ pointer }) => pointer);
      }
      return [];
    };
    expect(pointers(() => gateOf({}, { seeds: 3 }))).toEqual(['--seeds']);
    expect(pointers(() => gateOf({ seeds: 3 }))).toEqual(['/spec/seeds']);
    expect(gateOf({}, { seeds: 7 }).seeds).toBe(7);
  });

  it('is told of a change that can do nothing', () => {
    const small = fabric('small');
    const set = (settings: Record<string, unknown>) => fabric('small', { settings });
    const gate = (baseline: typeof small, candidate: typeof small) => effectNotes({ baseline, candidate });
    expect(gate(small, small)).toEqual([expect.stringMatching(/differ in nothing/)]);
    expect(gate(small, set({ hashSeeds: 'equal' }))).toEqual([
      expect.stringMatching(/^hashSeeds: equal is without effect/),
    ]);
    expect(gate(small, set({ hashSeed: 9 }))).toEqual([]);
  });
});
