/**
 * Fault kind `ecn-misconfig`: a switch, or all of them, marks packets at the wrong queue depth.
 *
 * Marking too late, or never, leaves DCQCN blind: queues grow until PFC pauses instead, and the pause spreads to flows
 * that are no cause of it. Marking too early slows flows down although nothing queues, and links stay idle (Zhu et al.,
 * SIGCOMM 2015, sections 4 and 5; Li et al., HPCC, SIGCOMM 2019, on what thresholds cost). It shows where there is
 * congestion and nowhere else. Thresholds that are not given follow the fastest port of the switch.
 * Not modelled: marking that differs by queue or port of one switch.
 */
import { z } from 'zod';
import { InputError } from '../kernel/problem.js';
import { sizeBytes } from '../kernel/units.js';
import type { Device, Topology } from '../topology/model.js';
import type { Impairment } from '../fabrics/contract/impairment.js';
import type { FaultKind, Symptom } from './fault.js';
import { misconfigured } from './parts.js';

const bytes = (meaning: string) =>
  sizeBytes
    .refine((size) => size > 0, 'must be more than 0 B')
    .optional()
    .describe(meaning);

const parametersSchema = z.discriminatedUnion('variant', [
  z.strictObject({
    variant: z.literal('too-high'),
    kmin: bytes(
      'queue depth at which marking begins; 400 kB for each Gbps of the fastest port when left out',
    ),
    kmax: bytes('queue depth at which it is most frequent; twice kmin when left out'),
    pmax: z.number().gt(0).max(1).default(0.2).describe('share of packets marked there'),
  }),
  z.strictObject({
    variant: z.literal('too-low'),
    kmin: bytes('queue depth at which marking begins; one packet, 4 kB, when left out'),
    kmax: bytes('queue depth at which it is most frequent; twice kmin when left out'),
    pmax: z.number().gt(0).max(1).default(1).describe('share of packets marked there'),
  }),
  z.strictObject({ variant: z.literal('off') }),
]);

export type EcnMisconfigParameters = z.output<typeof parametersSchema>;

/** What is usual: marking begins at 4 kB for each Gbps (1.6 MB at 400 Gbps, as the presets of HPCC's authors). */
const USUAL_KMIN_BYTES_PER_GBPS = 4000;
/** Beyond any shared buffer (16 MB for each 50 Gbps), so that pause comes first. */
const TOO_HIGH = 100;
const TOO_LOW_BYTES = 4096;

export const ecnMisconfig: FaultKind<EcnMisconfigParameters> = {
  name: 'ecn-misconfig',
  summary: 'a switch, or all of them, marks packets too late, too early, or never',
  parameters: parametersSchema,
  targetTypes: () => ['device'],
  compile: (parameters, targets, context) =>
    misconfigured('ecn-misconfig', targets, context, (device) =>
      markingOf(parameters, device, context.topology),
    ),
  symptoms: ({ variant }) => symptomsOf(variant),
  allSymptoms: () => ({
    'too-high': symptomsOf('too-high'),
    'too-low': symptomsOf('too-low'),
    off: symptomsOf('off'),
  }),
  limits: [
    'acts on the marking of the switches that its targets name; hosts have none',
    'shows only where queues build up, so a fabric without congestion tells nothing',
    'always ends with every switch marking as it was found',
  ],
  example: [
    '- kind: ecn-misconfig',
    '  params: { variant: too-low }',
    '  target: { type: device, tier: leaf, usedBy: "*", mode: one, order: random }',
    '  at: 20s',
    '  duration: 20s',
  ].join('\n'),
};

function markingOf(
  parameters: EcnMisconfigParameters,
  device: Device,
  topology: Topology,
): Extract<Impairment, { type: 'ecn-marking' }> {
  const { ports, links } = topology;
  const fastestGbps = Math.max(...device.ports.map((port) => links[ports[port].link].rateGbps));
  const usual = USUAL_KMIN_BYTES_PER_GBPS * fastestGbps;
  const marking = { type: 'ecn-marking', device: `device:${device.name}` } as const;
  if (parameters.variant === 'off') return { ...marking, kminBytes: usual, kmaxBytes: 4 * usual, pmax: 0 };
  const kminBytes = parameters.kmin ?? (parameters.variant === 'too-high' ? TOO_HIGH * usual : TOO_LOW_BYTES);
  const kmaxBytes = parameters.kmax ?? 2 * kminBytes;
  if (kmaxBytes < kminBytes) {
    throw InputError.at(
      '/params/kmax',
      `kmax (${kmaxBytes} B) is below kmin (${kminBytes} B)`,
      'marking begins at kmin and is most frequent from kmax on',
    );
  }
  return { ...marking, kminBytes, kmaxBytes, pmax: parameters.pmax };
}

const DCQCN = 'Zhu et al., SIGCOMM 2015 (DCQCN), 4 and 5';

function symptomsOf(variant: EcnMisconfigParameters['variant']): readonly Symptom[] {
  if (variant === 'too-low') {
    return [
      {
        text: 'the switch marks although its queues are short, and senders slow down for nothing',
        metrics: ['queue_ecn_marked_packets', 'nic_ecn_marked_packets'],
        citation: DCQCN,
      },
    ];
  }
  return [
    {
      text: 'queues of the switch grow far beyond those of its peers with hardly a mark',
      metrics: ['queue_depth_max_bytes', 'queue_depth_bytes'],
      citation: DCQCN,
    },
    {
      text: 'the switch pauses those that feed it where its peers mark',
      metrics: ['port_pause_tx_s', 'port_pause_tx_frames', 'port_pause_rx_s', 'port_pause_rx_frames'],
      citation: 'Guo et al., SIGCOMM 2016, 3 and 6; SONiC SAI_PORT_STAT_PFC_3_TX_PKTS',
    },
  ];
}
