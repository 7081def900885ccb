/**
 * What `gate` and `plan` read before anything is run: the suite's fabrics, from files or from a server, and all of it checked.
 */
import { refuseFiles, type FabricDocument } from '../../../documents/fabric-document.js';
import { loadExperiment, loadFabric, loadSuite, type Loaded } from '../../../documents/load.js';
import { checkGate, SIDES, type CheckedGate, type Side } from '../../../drill/gate/gate-input.js';
import { listChoices, nearestHint } from '../../../core/nearest.js';
import { InputError } from '../../../core/problem.js';
import { checkFabric, flaggedFabric } from '../../client/check.js';
import type { CommandContext } from '../../context.js';
import { parseWhole } from '../../terminal/flags.js';
import { readSuite, sideFabric, type SuiteFile } from '../../files/suite-file.js';
import { isUuid } from '../../../system/uuid.js';

/** What the command line says about the gate itself. */
export interface GateChoice {
  baseline?: string;
  candidate?: string;
  seeds?: string;
  only?: string;
}

export type LoadedSides = Record<Side, Loaded<FabricDocument>>;

/** A suite with its experiments, from a file or from a gate of a server. */
export type GateFile = Pick<SuiteFile, 'reference' | 'suite' | 'experiments'> &
  Partial<Pick<SuiteFile, 'file'>>;

/** All documents of a gate. */
export interface GateDocuments {
  source: GateFile;
  sides: LoadedSides;
}

/**
 * The documents of a suite's file, or of the gate on a server that has this id.
 * @throws InputError with the lines or the flags that are wrong
 */
export async function readGate(
  reference: string,
  choice: GateChoice,
  context: CommandContext,
): Promise<GateDocuments> {
  if (isUuid(reference)) return gateOnRecord(reference, choice, context);
  const source = readSuite(reference, context.path);
  return { source, sides: await readSides(source, choice, context) };
}

async function gateOnRecord(id: string, choice: GateChoice, context: CommandContext): Promise<GateDocuments> {
  const given = SIDES.find((side) => choice[side] !== undefined);
  if (given !== undefined) {
    throw InputError.at(
      `--${given}`,
      'a gate that was made before has its own fabrics',
      `leave --${given} out`,
    );
  }
  const stored = await context.withServer((client) =>
    client.json<StoredGate>('GET', `/v1/gates/${id}/definition`),
  );
  const suite = loadSuite(stored.suite, refuseFiles);
  const experiments = stored.experiments.map((document) => loadExperiment(document, refuseFiles));
  const sides = {
    baseline: loadFabric(stored.baseline, refuseFiles),
    candidate: loadFabric(stored.candidate, refuseFiles),
  };
  return { source: { reference: id, suite, experiments }, sides };
}

/** As a server keeps it. */
type StoredGate = Record<'suite' | Side, unknown> & { experiments: unknown[] };

const MOST_SEEDS = 1000;

/** The fabrics of both sides, each checked by itself. */
export async function readSides(
  source: SuiteFile,
  choice: GateChoice,
  context: CommandContext,
): Promise<LoadedSides> {
  const sides = {} as LoadedSides;
  for (const side of SIDES) {
    const found = sideFabric(source, side, choice[side], context.path);
    const fabric = await flaggedFabric(found, `--${side}`, context);
    checkFabric(fabric);
    sides[side] = fabric;
  }
  return sides;
}

/**
 * The gate of what was read.
 * @throws InputError with the line of the suite or the flag that is wrong
 */
export function gateOf(source: GateFile, sides: LoadedSides, { seeds, only }: GateChoice): CheckedGate {
  const input = {
    suite: source.suite.value,
    experiments: source.experiments.map(({ value }) => value),
    ...{ baseline: sides.baseline.value, candidate: sides.candidate.value },
    ...(seeds === undefined ? {} : { seeds: parseWhole('--seeds', seeds, 1, MOST_SEEDS) }),
  };
  try {
    return onlyOf(checkGate(input), only);
  } catch (error) {
    throw error instanceof InputError ? locatedInSuite(error, source) : error;
  }
}

/** An error about a gate with the lines of its suite. */
export const locatedInSuite = ({ issues }: InputError, { suite }: Pick<GateFile, 'suite'>): InputError =>
  new InputError(
    issues.flatMap((issue) => (issue.pointer.startsWith('--') ? [issue] : suite.locate([issue]))),
  );

/** The gate with one experiment alone, and the objectives that are judged on it. */
function onlyOf(gate: CheckedGate, only: string | undefined): CheckedGate {
  if (only === undefined) return gate;
  const experiments = gate.experiments.filter(({ metadata }) => metadata.name === only);
  const names = gate.experiments.map(({ metadata }) => metadata.name);
  if (experiments.length === 0) {
    const message = `the suite has no experiment "${only}"; it has ${listChoices(names, 30)}`;
    throw InputError.at('--only', message, nearestHint(only, names));
  }
  const objectives = gate.objectives.filter(({ on }) => on?.includes(only) ?? true);
  if (objectives.length === 0) throw InputError.at('--only', `no objective is judged on "${only}"`);
  return { ...gate, experiments, objectives };
}
