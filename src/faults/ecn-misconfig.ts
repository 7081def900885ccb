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
import { InputError } from '../core/problem.js';
import { formatSizeBytes, sizeBytes } from '../core/units.js';
import type { Device } from '../model/topology/model.js';
import type { SwitchBuffering } from '../fabric-api/fabric.js';
import type { Impairment } from '../fabric-api/impairment.js';
import type { FaultContext, FaultKind, Symptom } from './fault.js';
import { requireDcqcn } from './class-limits.js';
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
      'queue depth at which marking begins; when left out 400 kB for each Gbps of the fastest port, or half of the buffer where that is less',
    ),
    kmax: bytes(
      'queue depth at which it is most frequent; when left out twice kmin, and no less than the switch has, within its buffer',
    ),
    pmax: z.number().gt(0).max(1).default(0.2).describe('share of packets marked there'),
  }),
  z.strictObject({
    variant: z.literal('too-low'),
    kmin: bytes('queue depth at which marking begins; one packet, 4 kB, when left out'),
    kmax: bytes(
      'queue depth at which it is most frequent; when left out twice kmin, and no more than the switch has',
    ),
    pmax: z.number().gt(0).max(1).default(1).describe('share of packets marked there'),
  }),
  z.strictObject({ variant: z.literal('off') }),
]);

export type EcnMisconfigParameters = z.output<typeof parametersSchema>;

/** What is usual: marking begins at 4 kB for each Gbps (1.6 MB at 400 Gbps, as the presets of HPCC's authors). */
const USUAL_KMIN_BYTES_PER_GBPS = 4000;
/** Beyond where a port of any shared buffer pauses, so that pause comes first. */
const TOO_HIGH = 100;
const TOO_LOW_BYTES = 4096;

export const ecnMisconfig: FaultKind<EcnMisconfigParameters> = {
  name: 'ecn-misconfig',
  summary: 'a switch, or all of them, marks packets too late, too early, or never',
  parameters: parametersSchema,
  targetTypes: () => ['device'],
  compile: (parameters, targets, context) => {
    requireDcqcn(context.congestion);
    return misconfigured('ecn-misconfig', targets, context, (device) =>
      markingOf(parameters, device, context),
    );
  },
  symptoms: ({ variant }) => symptomsOf(variant),
  allSymptoms: () => ({
    'too-high': symptomsOf('too-high'),
    'too-low': symptomsOf('too-low'),
    off: symptomsOf('off'),
  }),
  limits: [
    'acts on the marking of the switches that its targets name; hosts have none',
    'takes thresholds within the buffer, on the side of those of the switch that the variant says',
    'is refused where DCQCN is off, since nobody heeds marks there',
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

/** Thresholds of a switch: those given, or far on the wrong side of what it has. */
function markingOf(
  parameters: EcnMisconfigParameters,
  device: Device,
  { topology, congestion }: FaultContext,
): Extract<Impairment, { type: 'ecn-marking' }> {
  const { ports, links } = topology;
  const fastestGbps = Math.max(...device.ports.map((port) => links[ports[port].link].rateGbps));
  const usual = USUAL_KMIN_BYTES_PER_GBPS * fastestGbps;
  const configured = congestion?.ofSwitch(device.index);
  const marking = { type: 'ecn-marking', device: `device:${device.name}` } as const;
  if (parameters.variant !== 'too-low' && configured?.pmax === 0) throw neverMarks(device);
  if (parameters.variant === 'off') return { ...marking, kminBytes: usual, kmaxBytes: 4 * usual, pmax: 0 };
  const curve =
    parameters.variant === 'too-high'
      ? tooHigh(parameters, usual, configured)
      : tooLow(parameters, configured);
  if (configured !== undefined) checkSide(parameters, curve, device, configured);
  if (curve.kmaxBytes < curve.kminBytes) {
    throw InputError.at(
      '/params/kmax',
      `kmax (${formatSizeBytes(curve.kmaxBytes)}) is below kmin (${formatSizeBytes(curve.kminBytes)})`,
      'marking begins at kmin and is most frequent from kmax on',
    );
  }
  return { ...marking, ...curve, pmax: parameters.pmax };
}

interface Thresholds {
  kminBytes: number;
  kmaxBytes: number;
}

type Given = Pick<Exclude<EcnMisconfigParameters, { variant: 'off' }>, 'kmin' | 'kmax'>;

/** Beyond where a port pauses, but in the buffer: a threshold above that is no threshold. */
function tooHigh({ kmin, kmax }: Given, usual: number, configured: SwitchBuffering | undefined): Thresholds {
  const buffer = configured?.bufferBytes ?? Infinity;
  const kminBytes = kmin ?? Math.min(TOO_HIGH * usual, buffer / 2);
  const twice = Math.max(2 * kminBytes, configured?.kmaxBytes ?? 0);
  return { kminBytes, kmaxBytes: kmax ?? Math.max(kminBytes, Math.min(twice, buffer)) };
}

function tooLow({ kmin, kmax }: Given, configured: SwitchBuffering | undefined): Thresholds {
  const kminBytes = kmin ?? TOO_LOW_BYTES;
  return { kminBytes, kmaxBytes: kmax ?? Math.min(2 * kminBytes, configured?.kmaxBytes ?? Infinity) };
}

/** @throws InputError for thresholds that are not out of line in the way that the variant says */
function checkSide(
  { variant }: EcnMisconfigParameters,
  curve: Thresholds,
  { name }: Device,
  configured: SwitchBuffering,
): void {
  for (const [key, value, now] of [
    ['kmin', curve.kminBytes, configured.kminBytes],
    ['kmax', curve.kmaxBytes, Math.min(configured.kmaxBytes, configured.bufferBytes)],
  ] as const) {
    const [given, usual, buffer] = [value, now, configured.bufferBytes].map(formatSizeBytes);
    if (value > configured.bufferBytes) {
      throw InputError.at(
        `/params/${key}`,
        `a ${key} of ${given} is more than the whole buffer of device:${name} (${buffer}), so no queue gets there`,
        `give at most ${buffer}, or write variant: off`,
      );
    }
    const sign = variant === 'too-high' ? 1 : -1;
    // kmax may stay where it is: marking that begins elsewhere is out of line
    if (key === 'kmin' ? sign * (value - now) > 0 : sign * (value - now) >= 0) continue;
    const [limit, other] =
      variant === 'too-high'
        ? [key === 'kmin' ? 'more than' : 'at least', 'too-low']
        : [key === 'kmin' ? 'less than' : 'at most', 'too-high'];
    throw InputError.at(
      `/params/${key}`,
      `a ${key} of ${given} is not ${variant.replace('-', ' ')} for device:${name}, whose ${key} is ${usual}`,
      `give ${limit} ${usual}, or write variant: ${other}`,
    );
  }
}

const neverMarks = ({ name }: Device): InputError =>
  InputError.at(
    '/params/variant',
    `device:${name} never marks as it is (settings.ecn.pmax is 0), so it can't begin to mark too late or stop`,
    'take the variant too-low, or a pmax above 0 in the fabric',
  );

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
