/**
 * What a gate is asked for with: a suite, the experiments that it names, and the two fabrics.
 *
 * A server reads no files of its users, so documents come along or are stored: an experiment that the suite names is
 * looked for among those sent, then among those stored; a fabric is a document or the name of a stored one.
 */
import { z } from 'zod';
import { nameSchema } from '../../documents/experiment.js';
import { refuseFiles } from '../../documents/fabric-document.js';
import { loadExperiment, loadFabric, loadSuite } from '../../documents/load.js';
import { InputError, withPointer } from '../../core/problem.js';
import { checkGate, isReal, SIDES, type CheckedGate } from '../../drill/gate/gate-input.js';
import { confirmation } from '../fabrics/confirmation.js';
import type { GateSources } from './gate.entity.js';

const document = z.record(z.string(), z.unknown());
const fabric = z.union([nameSchema, document]).optional();
const MOST_EXPERIMENTS = 64;

export const gateRequestSchema = z
  .strictObject({
    suite: document.describe('a Suite document; its experiments are named, not paths'),
    experiments: z
      .array(document)
      .max(MOST_EXPERIMENTS)
      .default([])
      .describe('Experiment documents that the suite names; those not sent are stored ones'),
    baseline: fabric.describe('name of a stored fabric or a Fabric document; the suite’s own if left out'),
    candidate: fabric.describe('name of a stored fabric or a Fabric document; the suite’s own if left out'),
    seeds: z.int().min(1).max(1000).optional().describe('at most so many, instead of the suite’s own number'),
    confirm: z
      .strictObject({ baseline: confirmation, candidate: confirmation })
      .optional()
      .describe('names of the real fabrics among the two, one a side'),
  })
  .meta({ title: 'Gate', description: 'a suite on two fabrics' });
export type GateRequest = z.output<typeof gateRequestSchema>;

/**
 * The gate of its documents.
 * @throws InputError with pointers into the sources
 */
export function gateOfSources({ suite, experiments, baseline, candidate, seeds }: GateSources): CheckedGate {
  const input = {
    suite: withPointer('/suite', () => loadSuite(suite, refuseFiles).value),
    experiments: experiments.map(
      (each, at) => withPointer(`/experiments/${at}`, () => loadExperiment(each, refuseFiles)).value,
    ),
    baseline: withPointer('/baseline', () => loadFabric(baseline, refuseFiles).value),
    candidate: withPointer('/candidate', () => loadFabric(candidate, refuseFiles).value),
    ...(seeds === undefined ? {} : { seeds }),
  };
  try {
    return refuseReal(checkGate(input));
  } catch (error) {
    throw error instanceof InputError ? inRequest(error) : error;
  }
}

/** Its runs would go on side by side, without the journal that undoes them whatever happens. */
function refuseReal(gate: CheckedGate): CheckedGate {
  if (!isReal(gate)) return gate;
  const names = [...new Set(SIDES.map((side) => gate[side].metadata.name))];
  const message = `${names.map((name) => `"${name}"`).join(' and ')}: a gate that a server makes takes simulated fabrics`;
  const hint =
    'fabricdrill gate SUITE --confirm FABRIC drills real ones, one run of this server after another';
  throw InputError.at('--candidate', message, hint);
}

/** An error about a gate as one about the request: flags are its fields, all else stands in its suite. */
export const inRequest = ({ issues }: InputError): InputError =>
  new InputError(
    issues.map(({ pointer, ...issue }) => ({
      ...issue,
      pointer: pointer.startsWith('--') ? `/${pointer.slice(2)}` : `/suite${pointer}`,
    })),
  );
