/**
 * Fault kind `straggler`: a GPU, or a whole host, computes slower than its peers; the network has nothing to do with it.
 *
 * A step is as slow as its slowest rank, so one throttled GPU slows a whole job, and from outside it looks like a slow
 * network: everybody waits in the collective. What tells them apart is who does not wait. Fail-slow GPUs last from tens
 * of seconds to hours (FALCON, arXiv 2410.12588); ByteRobust (arXiv 2509.16293) and Meta's Llama 3 report count them
 * among the commonest causes. Not modelled: uneven work, garbage collection, slow data loading.
 */
import { z } from 'zod';
import { InputError } from '../core/problem.js';
import { listChoices } from '../core/nearest.js';
import type { ElementRef } from '../model/telemetry/vocabulary.js';
import type { Impairment } from '../fabric-api/impairment.js';
import type { CompiledFault, FaultContext, FaultKind, Symptom } from './fault.js';
import { deviceOf, elementTruth } from './parts.js';

/** More than this is no slow GPU but a hung one. */
const MOST_SLOWDOWN = 100;

const slowdown = z
  .number()
  .gt(1)
  .max(MOST_SLOWDOWN)
  .default(1.5)
  .describe('how many times longer than normal computations take');

const parametersSchema = z.discriminatedUnion('variant', [
  z.strictObject({
    variant: z.literal('gpu'),
    gpu: z.int().min(0).default(0).describe('position of the GPU within its host, from 0'),
    slowdown,
  }),
  z.strictObject({ variant: z.literal('host'), slowdown }),
]);

export type StragglerParameters = z.output<typeof parametersSchema>;

const SYMPTOMS: readonly Symptom[] = [
  {
    text: 'the slow ranks compute longer and wait less; all other ranks of the job compute as before and wait longer',
    metrics: ['rank_compute_time_s', 'rank_wait_time_s'],
    citation:
      'FALCON, arXiv 2410.12588; MegaScale, arXiv 2402.15627 (timers around each phase of every rank)',
  },
  {
    text: 'steps take longer, while the bandwidth of collectives and every counter of the network stay as they were',
    metrics: ['job_step_time_s'],
    citation: 'follows from steps being as slow as their slowest rank',
  },
];

export const straggler: FaultKind<StragglerParameters> = {
  name: 'straggler',
  summary: 'a GPU or a host computes slower than its peers, and the network is innocent',
  parameters: parametersSchema,
  targetTypes: () => ['device'],
  compile: (parameters, targets, context) => {
    const parts = targets.map((target) => compileHost(parameters, target, context));
    return {
      impairments: parts.flatMap((part) => part.impairments),
      truth: parts.flatMap((part) => part.truth),
    };
  },
  symptoms: () => SYMPTOMS,
  allSymptoms: () => ({ gpu: SYMPTOMS, host: SYMPTOMS }),
  limits: [
    'acts on the GPUs of the hosts that its targets name; no packet, port or route is touched',
    `computations take at most ${MOST_SLOWDOWN} times as long`,
    'always ends with every GPU at the speed it was found with',
  ],
  example: [
    '- kind: straggler',
    '  params: { variant: gpu, gpu: 0, slowdown: 2 }',
    '  target: { type: device, tier: host, usedBy: "*", mode: one, order: random }',
    '  at: 20s',
    '  duration: 20s',
  ].join('\n'),
};

function compileHost(
  parameters: StragglerParameters,
  target: ElementRef,
  { topology, durationNs }: FaultContext,
): CompiledFault {
  const device = deviceOf(target, topology);
  const gpus = topology.gpus.filter((gpu) => gpu.host === device?.index).map((gpu) => gpu.position);
  if (gpus.length === 0) {
    throw InputError.at(
      '/target',
      `${target.id} is a ${device?.role ?? target.type} and has no GPU`,
      'select devices of tier host',
    );
  }
  if (parameters.variant === 'gpu' && !gpus.includes(parameters.gpu)) {
    throw InputError.at(
      '/params/gpu',
      `${target.id} has no GPU ${parameters.gpu}`,
      `its GPUs are ${listChoices(gpus.map(String))}`,
    );
  }
  const impairment: Impairment = {
    type: 'compute-slowdown',
    device: target.id,
    ...(parameters.variant === 'gpu' ? { gpu: parameters.gpu } : {}),
    factor: parameters.slowdown,
  };
  return {
    impairments: [{ impairment, atNs: 0, untilNs: durationNs }],
    truth: [elementTruth(target, 'straggler', 'host', durationNs)],
  };
}
