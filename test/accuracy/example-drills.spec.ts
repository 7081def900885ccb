/**
 * The experiments that ship, one per fault kind: each is there, is accepted, runs on its own fabric and ends as it says.
 */
import { describe, expect, it } from '@jest/globals';
import { planDrill, type Plan } from '../../src/drill/plan.js';
import { runDrill } from '../../src/drill/walk.js';
import type { Judgement } from '../../src/drill/judge.js';
import { loadDefinitions } from '../../src/experiments/definition/load.js';
import type { Experiment } from '../../src/experiments/definition/experiment.js';
import { openFabric } from '../../src/fabrics/catalog.js';
import { FAULT_KINDS } from '../../src/faults/catalog.js';
import { CHECKOUT, filesBelow, readSource } from '../support/source-tree.js';
import { join } from 'node:path';

const noFiles = (path: string): string => {
  throw new Error(`an example reads ${path}`);
};

function experimentOf(file: string): Experiment {
  const { experiments } = loadDefinitions(readSource(file), noFiles, join(CHECKOUT, file));
  expect(experiments).toHaveLength(1);
  return experiments[0].value;
}

async function drill(experiment: Experiment): Promise<{ plan: Plan; judgement: Judgement }> {
  const { name } = experiment.metadata;
  const { fabrics } = loadDefinitions(readSource(`experiments/${experiment.spec.fabric}`), noFiles);
  const fabric = await openFabric(fabrics[0].value, experiment.spec.seed);
  const plan = await planDrill({ name, spec: experiment.spec, fabric, seed: experiment.spec.seed });
  const done = () => Promise.resolve();
  const judgement = await runDrill({
    plan,
    fabric,
    objectives: experiment.spec.objectives,
    signal: new AbortController().signal,
    journal: { intend: done, applied: done, verified: done, failed: done },
    hooks: { state: done, progress: () => undefined, evidence: done, verdict: done, truth: done },
  });
  return { plan, judgement };
}

const examples = filesBelow('experiments').filter((file) => /^experiments\/[^/]+\.yaml$/.test(file));

it('every fault kind has an example, named like it', () => {
  const kinds = examples.flatMap((file) =>
    experimentOf(file).spec.faults.some(({ kind }) => file === `experiments/${kind}.yaml`) ? [file] : [],
  );
  expect(kinds.sort()).toEqual(FAULT_KINDS.map(({ name }) => `experiments/${name}.yaml`).sort());
});

describe.each(examples)('%s', (file) => {
  it('passes', async () => {
    const { plan, judgement } = await drill(experimentOf(file));
    expect(plan.unsupported).toEqual([]);
    expect(judgement.reasons).toEqual([]);
    expect(judgement.state).toBe('passed');
  });
});

describe('a control', () => {
  it('has a full explainability score, no recovery or isolation score, and no truth', async () => {
    const { judgement } = await drill(experimentOf('experiments/none.yaml'));
    expect(judgement.truth).toEqual([]);
    expect(judgement.scores.explainability.score).toBe(100);
    expect(judgement.scores.recovery.score).toBeNull();
    expect(judgement.scores.isolation.score).toBeNull();
  });

  it('is inconclusive when it asks for a ranking, which a control does not have', async () => {
    const experiment = experimentOf('experiments/none.yaml');
    experiment.spec.objectives = ['explainability.top1 == 1'];
    const { judgement } = await drill(experiment);
    expect(judgement.state).toBe('inconclusive');
  });

  it('with a target is refused', () => {
    const text = readSource('experiments/none.yaml').replace(
      'kind: none\n      at',
      'kind: none\n      target: { type: link }\n      at',
    );
    expect(() => loadDefinitions(text, noFiles)).toThrow(/target/);
  });
});
