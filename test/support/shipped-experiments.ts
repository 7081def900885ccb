/**
 * The experiments that ship, each with its own fabric, and their drills in memory down to the scorecard.
 */
import type { Experiment } from '../../src/documents/experiment.js';
import { statedObjectives } from '../../src/documents/experiment.js';
import type { FabricDocument } from '../../src/documents/fabric-document.js';
import { loadDefinitions, type LoadedFile } from '../../src/documents/load.js';
import { withJobs } from '../../src/documents/stored.js';
import { planDrill, type Plan } from '../../src/drill/plan/plan.js';
import { runDrill } from '../../src/drill/walk.js';
import { openFabric } from '../../src/drivers/catalog.js';
import type { Scorecard } from '../../src/scoring/scorecard.js';
import { filesBelow, readSource } from './source-tree.js';

/** `experiments/NAME.yaml`, one per fault kind and more. */
export const SHIPPED = filesBelow('experiments').filter((file) => /^experiments\/[^/]+\.yaml$/.test(file));

/** Files that an example names lie beside it. */
const beside = (path: string): string => readSource(`experiments/${path}`);

export const definitionsIn = (file: string, text = readSource(file)): LoadedFile =>
  loadDefinitions(text, beside, file);

export function experimentOf(file: string): Experiment {
  const { experiments } = definitionsIn(file);
  if (experiments.length !== 1) throw new Error(`${file} holds ${experiments.length} experiments, not one`);
  return experiments[0].value;
}

/** A fabric in the same file, or the one in the file that the experiment names. */
function fabricOf(file: string, experiment: Experiment): FabricDocument {
  const named = definitionsIn(file).fabrics.find(
    ({ value }) => value.metadata.name === experiment.spec.fabric,
  );
  return named?.value ?? definitionsIn(`experiments/${experiment.spec.fabric}`).fabrics[0].value;
}

const nothing = (): Promise<void> => Promise.resolve();

/** A whole drill, with the twin that some scores need. Ids and times of the wall clock are blank. */
export async function drillShipped(
  file: string,
  seed?: number,
  experiment = experimentOf(file),
): Promise<{ plan: Plan; scorecard: Scorecard }> {
  const { metadata, spec } = experiment;
  const document = withJobs(fabricOf(file, experiment), experiment);
  const drawnBy = seed ?? spec.seed;
  const fabric = await openFabric(document, drawnBy);
  const plan = await planDrill({ name: metadata.name, spec, fabric, seed: drawnBy });
  const judgement = await runDrill({
    plan,
    fabric,
    objectives: statedObjectives(spec),
    openTwin: () => openFabric(document, drawnBy),
    signal: new AbortController().signal,
    journal: { intend: nothing, applied: nothing, verified: nothing, failed: nothing },
    hooks: {
      ...{ state: nothing, evidence: nothing, verdict: nothing, truth: nothing },
      progress: () => undefined,
    },
  });
  await fabric.close();
  const { state, notes, alignments, doubts, ...told } = judgement;
  const run = {
    ...{ id: '', experiment: plan.experiment, fabric: plan.fabric, driver: plan.driver, seed: drawnBy },
    ...{ state, version: '', startedAt: null, endedAt: null },
  };
  const more = Object.entries({ notes, alignments, doubts }).filter(([, items]) => items.length > 0);
  return { plan, scorecard: { run, ...told, ...Object.fromEntries(more) } };
}
