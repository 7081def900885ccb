/**
 * The experiments that ship, one per fault kind: each is there, and is planned on every fabric that ships or refused with
 * what helps. What they score is in test/golden/scorecards.spec.ts.
 */
import { afterAll, describe, expect, it } from '@jest/globals';
import { InputError } from '../../src/core/problem.js';
import type { Experiment } from '../../src/documents/experiment.js';
import type { FabricDocument } from '../../src/documents/fabric-document.js';
import { openFor, planOn } from '../../src/drill/plan/planning.js';
import type { Fabric } from '../../src/fabric-api/fabric.js';
import { FAULT_KINDS } from '../../src/faults/catalog.js';
import { definitionsIn, drillShipped, experimentOf, SHIPPED } from '../support/shipped-experiments.js';
import { filesBelow, readSource } from '../support/source-tree.js';

const SEED = 1;
const EXPERIMENTS = SHIPPED.map((file) => [file, experimentOf(file)] as const);

it('every fault kind has an example, named like it', () => {
  const kinds = SHIPPED.flatMap((file) =>
    experimentOf(file).spec.faults.some(({ kind }) => file === `experiments/${kind}.yaml`) ? [file] : [],
  );
  expect(kinds.sort()).toEqual(FAULT_KINDS.map(({ name }) => `experiments/${name}.yaml`).sort());
});

/** Simulated fabrics that ship, in files of their own or beside an experiment. */
const shipped = filesBelow('experiments')
  .filter((file) => file.endsWith('.yaml'))
  .flatMap((file) => definitionsIn(file).fabrics.map(({ value }) => value))
  .filter(({ spec }) => spec.driver === 'simulated');
/** As an import is: it takes the jobs of the experiment. */
const jobless = (fabric: FabricDocument): FabricDocument => ({
  ...fabric,
  metadata: { name: `${fabric.metadata.name} without jobs` },
  spec: { ...fabric.spec, jobs: [] },
});

describe.each(
  [...shipped, jobless(shipped.find(({ metadata }) => metadata.name === 'rail-64')!)].map(
    (fabric) => [fabric.metadata.name, fabric] as const,
  ),
)('on %s', (_, document) => {
  let opened: Fabric | undefined;
  // a fabric with jobs of its own is the same for every experiment
  const open = async (experiment: Experiment): Promise<Fabric> =>
    document.spec.jobs.length === 0
      ? openFor(experiment, document, SEED)
      : (opened ??= await openFor(experiment, document, SEED));

  afterAll(() => opened?.close());

  it.each(EXPERIMENTS)('%s is planned, or refused with what would help', async (_, experiment) => {
    const issues = await open(experiment)
      .then((fabric) => planOn(fabric, { experiment, seed: experiment.spec.seed }))
      .then(
        ({ unsupported }) => {
          expect(unsupported).toEqual([]);
          return [];
        },
        (error: unknown) => {
          expect(error).toBeInstanceOf(InputError);
          return (error as InputError).issues;
        },
      );
    for (const { hint, pointer } of issues) {
      expect(pointer).toMatch(/^\/spec\/(faults|jobs)\//);
      expect(hint ?? '').not.toBe('');
    }
  });
});

it('two faults of one name are refused', async () => {
  const file = 'experiments/two-faults.yaml';
  const experiment = experimentOf(file);
  experiment.spec.faults[1].name = 'slow-link';
  await expect(drillShipped(file, undefined, experiment)).rejects.toThrow(/two faults are named/);
});

describe('a control', () => {
  const file = 'experiments/none.yaml';

  it('is inconclusive when it asks for a ranking, which a control does not have', async () => {
    const experiment = experimentOf(file);
    experiment.spec.objectives = ['explainability.top1 == 1'];
    const { scorecard } = await drillShipped(file, undefined, experiment);
    expect(scorecard.run.state).toBe('inconclusive');
  });

  it('with a target is refused', () => {
    const text = readSource(file).replace(
      'kind: none\n      at',
      'kind: none\n      target: { type: link }\n      at',
    );
    expect(() => definitionsIn(file, text)).toThrow(/target/);
  });
});
