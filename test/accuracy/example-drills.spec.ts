/**
 * The experiments that ship, one per fault kind: each is there, is accepted, runs on its own fabric and ends as it says.
 */
import { describe, expect, it } from '@jest/globals';
import { planDrill, type Plan } from '../../src/drill/plan.js';
import { runDrill } from '../../src/drill/walk.js';
import type { Judgement } from '../../src/drill/judge.js';
import type { FabricDocument } from '../../src/documents/fabric-document.js';
import { loadDefinitions, type LoadedFile } from '../../src/documents/load.js';
import type { Experiment } from '../../src/documents/experiment.js';
import { planExperiment } from '../../src/drill/planning.js';
import { InputError } from '../../src/core/problem.js';
import { openFabric } from '../../src/drivers/catalog.js';
import { FAULT_KINDS } from '../../src/faults/catalog.js';
import { filesBelow, readSource } from '../support/source-tree.js';

/** Files that an example names lie beside it. */
const beside = (path: string): string => readSource(`experiments/${path}`);

const definitionsIn = (file: string): LoadedFile => loadDefinitions(readSource(file), beside, file);

function experimentOf(file: string): Experiment {
  const { experiments } = definitionsIn(file);
  expect(experiments).toHaveLength(1);
  return experiments[0].value;
}

/** A fabric in the same file, or the one in the file that the experiment names. */
function fabricOf(file: string, experiment: Experiment): FabricDocument {
  const named = (fabrics: LoadedFile['fabrics']) =>
    fabrics.find(({ value }) => value.metadata.name === experiment.spec.fabric)?.value;
  return (
    named(definitionsIn(file).fabrics) ??
    definitionsIn(`experiments/${experiment.spec.fabric}`).fabrics[0].value
  );
}

async function drill(
  file: string,
  experiment = experimentOf(file),
): Promise<{ plan: Plan; judgement: Judgement }> {
  const { name } = experiment.metadata;
  const fabric = await openFabric(fabricOf(file, experiment), experiment.spec.seed);
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
    const { plan, judgement } = await drill(file);
    expect(plan.unsupported).toEqual([]);
    expect(judgement.reasons).toEqual([]);
    expect(judgement.state).toBe('passed');
  });
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
)('on %s', (_, fabric) => {
  it.each(examples)('%s is planned, or refused with what would help', async (file) => {
    const issues = await planExperiment({ experiment: experimentOf(file), fabric }).then(
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

it('a straggler is detected by its own ranks, since no port or switch shows it', async () => {
  const { judgement } = await drill('experiments/straggler.yaml');
  expect(judgement.scores.recovery.metrics.time_to_detect_s).toBeGreaterThan(0);
  expect(judgement.scores.recovery.metrics.time_to_detect_s).toBeLessThanOrEqual(2);
});

describe('two faults at once', () => {
  it('each have their own time and their own place in the truth, and are undone one after the other', async () => {
    const { plan, judgement } = await drill('experiments/two-faults.yaml');
    expect(judgement.truth.map(({ kind, from_s, to_s }) => [kind, from_s, to_s])).toEqual([
      ['speed-downgrade', 20, 50],
      ['straggler', 30, 55],
    ]);
    expect(plan.undo.map((step) => step.slice(0, step.indexOf(':')))).toEqual(['at 50 s', 'at 55 s']);
    expect(plan.blastRadius.exposedJobs).toEqual(['exposed', 'bystander']);
  });

  it('of one name are refused', async () => {
    const experiment = experimentOf('experiments/two-faults.yaml');
    experiment.spec.faults[1].name = 'slow-link';
    await expect(drill('experiments/two-faults.yaml', experiment)).rejects.toThrow(/two faults are named/);
  });
});

describe('a control', () => {
  it('has a full explainability score, no recovery or isolation score, and no truth', async () => {
    const { judgement } = await drill('experiments/none.yaml');
    expect(judgement.truth).toEqual([]);
    expect(judgement.scores.explainability.score).toBe(100);
    expect(judgement.scores.recovery.score).toBeNull();
    expect(judgement.scores.isolation.score).toBeNull();
  });

  it('is inconclusive when it asks for a ranking, which a control does not have', async () => {
    const experiment = experimentOf('experiments/none.yaml');
    experiment.spec.objectives = ['explainability.top1 == 1'];
    const { judgement } = await drill('experiments/none.yaml', experiment);
    expect(judgement.state).toBe('inconclusive');
  });

  it('with a target is refused', () => {
    const text = readSource('experiments/none.yaml').replace(
      'kind: none\n      at',
      'kind: none\n      target: { type: link }\n      at',
    );
    expect(() => loadDefinitions(text, beside)).toThrow(/target/);
  });
});
