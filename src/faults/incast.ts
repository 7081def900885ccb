/**
 * Fault kind `incast`: many senders to one receiver at once, more than its port can take.
 *
 * The queue of the switch port that faces the receiver grows, packets are marked, every sender is told to slow down, and
 * where that comes too late the switch pauses whoever feeds it, so that flows with other destinations wait too (Zhu et
 * al., SIGCOMM 2015, on victims; Guo et al., SIGCOMM 2016). Nothing is broken; the pattern of the traffic is the cause.
 * Senders are drawn by the run's seed, one NIC a host, on the receiver's rail where the host has it.
 * Not modelled: what the storage or the checkpoint does with the bytes; they are flows and nothing else.
 */
import { z } from 'zod';
import { InputError } from '../core/problem.js';
import { durationNs, formatRateGbps, formatSizeBytes, rateGbps, sizeBytes } from '../core/units.js';
import { nicId } from '../core/elements.js';
import type { ElementRef } from '../model/telemetry/vocabulary.js';
import type { Nic } from '../model/topology/model.js';
import type { TimedImpairment } from '../fabric-api/impairment.js';
import type { TruthEntry } from './ground-truth.js';
import type { FaultContext, FaultKind, Symptom } from './fault.js';
import { requireClass } from './class-limits.js';
import { drawSenders, offeredGbps } from './incast-senders.js';
import { feedingPorts, feedingQueues, nicNames, onAndOff, portsRateGbps, someNicsOf } from './parts.js';

const someBytes = sizeBytes.refine((bytes) => bytes > 0, 'must be more than 0 B');

const shared = {
  senders: z.int().min(2).max(4096).default(8).describe('hosts that send at once, a NIC each'),
  from: z
    .enum(['any', 'idle'])
    .default('any')
    .describe('which hosts may send: any but the receiver’s, or only those without a rank of a job'),
  rate: rateGbps
    .refine((gbps) => gbps > 0, 'must be more than 0')
    .optional()
    .describe('what each sender offers; as much as its NIC can when left out'),
  priority: z.int().min(0).max(7).default(3).describe('traffic class, one that the fabric has queues for'),
  queuePairs: z.int().min(1).max(128).default(4).describe('QPs of each sender'),
};

const parametersSchema = z.discriminatedUnion('variant', [
  z.strictObject({
    variant: z.literal('burst'),
    ...shared,
    bytes: someBytes
      .optional()
      .describe('each sender stops after so much; it sends all the time when left out'),
  }),
  z.strictObject({
    variant: z.literal('checkpoint'),
    ...shared,
    bytes: someBytes.prefault('8GB').describe('what each sender writes each time'),
    every: durationNs
      .refine((ns) => ns >= 1e6, 'must be at least 1ms')
      .prefault('5s')
      .describe('from the begin of one write to the next'),
  }),
  z.strictObject({
    variant: z.literal('storage'),
    ...shared,
    burstFor: durationNs.prefault('200ms').describe('how long the senders answer a read'),
    quietFor: durationNs.prefault('800ms').describe('how long it is quiet in between'),
    jitter: z.number().min(0).max(0.9).default(0.2).describe('relative spread of both times'),
  }),
]);

export type IncastParameters = z.output<typeof parametersSchema>;

/** Most bursts in one hold: every one is a change and an entry to undo. */
const MOST_BURSTS = 500;

export const incast: FaultKind<IncastParameters> = {
  name: 'incast',
  summary: 'many hosts send to one at once: a burst, the writes of a checkpoint, or the answers of a storage',
  parameters: parametersSchema,
  targetTypes: () => ['nic'],
  compile: (parameters, targets, context) => {
    const parts = targets.map((target) => towards(parameters, target, context));
    return {
      impairments: parts.flatMap((part) => part.impairments),
      truth: parts.map((part) => part.truth),
    };
  },
  symptoms: () => SYMPTOMS,
  allSymptoms: () => ({ burst: SYMPTOMS, checkpoint: SYMPTOMS, storage: SYMPTOMS }),
  limits: [
    'at most as many senders as there are other hosts, and at most the rate of a sender’s NIC',
    'less than the receiver’s port can take is no incast and is refused',
    `at most ${MOST_BURSTS} bursts in one hold`,
    'always ends with every one of its flows stopped',
  ],
  example: [
    '- kind: incast',
    '  params: { variant: burst, senders: 8 }',
    '  target: { type: nic, usedBy: "*", mode: one, order: random }',
    '  at: 20s',
    '  duration: 20s',
  ].join('\n'),
};

function towards(
  parameters: IncastParameters,
  target: ElementRef,
  context: FaultContext,
): { impairments: TimedImpairment[]; truth: TruthEntry } {
  const { topology, random } = context;
  requireClass(parameters.priority, context.congestion);
  const [receiver] = someNicsOf(target, topology);
  const stream = random.stream(receiver.name);
  const senders = drawSenders(parameters, receiver, context, stream);
  const rate = offeredGbps(parameters, senders, receiver, topology);
  // Two loads on one receiver must not be taken for one.
  const name = `${parameters.variant}-${stream.next32().toString(16)}`;
  const flows = {
    type: 'traffic',
    name,
    fromNics: senders.map((nic) => nicId(nic.name)),
    toNic: nicId(receiver.name),
    rateGbps: rate,
    priority: parameters.priority,
    queuePairs: parameters.queuePairs,
  } as const;
  const bytes = parameters.variant === 'storage' ? undefined : parameters.bytes;
  return {
    impairments: spellsOf(parameters, receiver, context).map((spell) => ({
      impairment: bytes === undefined ? flows : { ...flows, bytesPerSender: bytes },
      ...spell,
    })),
    truth: {
      kind: 'incast',
      elements: [
        ...feedingQueues(receiver, topology, parameters.priority),
        { type: 'pattern', id: 'pattern:incast' },
        ...feedingPorts(receiver, topology).map((port): ElementRef => ({ type: 'port', id: `port:${port}` })),
        ...nicNames(receiver, topology),
      ],
      // Neither the switch nor the host is at fault.
      side: 'unknown',
      direction: 'both',
      fromNs: 0,
      toNs: context.durationNs,
    },
  };
}

/** When the senders send. */
function spellsOf(
  parameters: IncastParameters,
  receiver: Nic,
  { durationNs: holdNs, random, topology }: FaultContext,
): { atNs: number; untilNs: number }[] {
  if (parameters.variant === 'burst') return [{ atNs: 0, untilNs: holdNs }];
  const limit = { most: MOST_BURSTS, what: 'the senders would begin' };
  if (parameters.variant === 'storage') {
    const { burstFor, quietFor, jitter } = parameters;
    const means = { onNs: burstFor, offNs: quietFor, jitter };
    return onAndOff(means, holdNs, random.stream(`${receiver.name} bursts`), {
      ...limit,
      pointer: '/params/quietFor',
    });
  }
  const { bytes, every, senders } = parameters;
  const portGbps = portsRateGbps(receiver, topology);
  const writeNs = (8 * bytes * senders) / portGbps;
  if (writeNs >= every) {
    throw InputError.at(
      '/params/every',
      `${senders} writes of ${formatSizeBytes(bytes)} take ${(writeNs / 1e9).toPrecision(3)} s at the ${formatRateGbps(portGbps)} of ${receiver.name}, no less than the ${every / 1e9} s between two`,
      'write less, with fewer senders, or less often',
    );
  }
  if (holdNs / every > limit.most) {
    throw InputError.at(
      '/params/every',
      `${limit.what} more than ${limit.most} times`,
      'lengthen every, or shorten duration',
    );
  }
  return Array.from({ length: Math.ceil(holdNs / every) }, (_, write) => ({
    atNs: write * every,
    untilNs: Math.min(holdNs, (write + 1) * every),
  }));
}

const SYMPTOMS: readonly Symptom[] = [
  {
    text: 'the queue of the port that faces the receiver grows and marks, while its port sends as fast as it can',
    metrics: ['queue_depth_max_bytes', 'queue_ecn_marked_packets', 'queue_tx_bytes'],
    citation: 'Zhu et al., SIGCOMM 2015 (DCQCN); SONiC SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS',
  },
  {
    text: 'the receiver answers with congestion notifications, and the senders slow down by them',
    metrics: ['nic_cnp_sent', 'nic_cnp_handled', 'nic_ecn_marked_packets'],
    citation: 'mlx5 counters.rst (np_cnp_sent, rp_cnp_handled, np_ecn_marked_roce_packets)',
  },
  {
    text: 'jobs that send to the same host, or from one of the senders, take longer steps',
    metrics: ['job_step_time_s', 'job_busbw_gbytes_per_s'],
    citation: 'Guo et al., SIGCOMM 2016, 4.3, and sharing of the receiver’s port',
  },
];
