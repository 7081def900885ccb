/**
 * How the simulated network and its transport behave, from the fabric file's `settings`.
 *
 * Times of detection and routing are set here and nowhere else. Defaults: loss of carrier to rerouted traffic in
 * about 48 ms and BFD 300 ms × 3, as measured with FRR 8.4 on Linux; BGP hold 9 s (FRR data-centre profile); QP
 * timeout 20 and 7 retries (NCCL_IB_TIMEOUT and NCCL_IB_RETRY_CNT as current NCCL sets them). Frame sizes are wire
 * time: preamble, gap and FCS are part of the overheads. Queues, marking and pause: congestion-settings.ts.
 */
import { z } from 'zod';
import { durationNs, formatDurationNs, formatSizeBytes, sizeBytes } from '../core/units.js';
import { REALISM } from './noise/levels.js';
import type { TimeKind } from './noise/timing-noise.js';
import { congestionSettings, type CongestionSettings } from './congestion-settings.js';

/** 4.096 µs, the unit of the InfiniBand local ACK timeout. */
const ACK_TIMEOUT_UNIT_NS = 4096;

const transport = {
  mtu: sizeBytes
    .refine((bytes) => bytes >= 256 && bytes <= 65536, 'must be from 256B to 64KiB')
    .prefault('4096B')
    .describe('payload bytes of a full packet'),
  headerBytes: z
    .int()
    .min(0)
    .max(512)
    .default(82)
    .describe('wire bytes a data packet adds to its payload (Ethernet, IPv4, UDP, BTH, ICRC, preamble, gap)'),
  ackBytes: z.int().min(0).max(512).default(86).describe('wire bytes of an ACK; one ACK answers one packet'),
  ackTimeoutExponent: z
    .int()
    .min(1)
    .max(31)
    .default(20)
    .describe('T of the QP timeout 4.096 µs × 2^T (NCCL_IB_TIMEOUT)'),
  retries: z
    .int()
    .min(0)
    .max(255)
    .default(7)
    .describe('retransmissions before a QP gives up (NCCL_IB_RETRY_CNT; a NIC counts to 7)'),
  adaptiveRetransmission: z
    .boolean()
    .default(true)
    .describe('retransmit early, at growing intervals, instead of waiting for the full timeout'),
  adaptiveBase: durationNs
    .refine((ns) => ns >= 1000, 'must be at least 1us')
    .prefault('4096us')
    .describe('first interval of adaptive retransmission'),
  sourcePorts: z
    .enum(['drawn', 'spread'])
    .default('drawn')
    .describe(
      'UDP source ports of the QPs of jobs: drawn by the seed, or chosen one QP after another so that its path keeps off the busiest links',
    ),
  contention: z
    .enum(['queues', 'fair'])
    .default('queues')
    .describe(
      'what flows get that share a link: what marking, pause and drops at its queue leave them; fair: equal shares for each QP and no queue, which transports with a window come to (TCP)',
    ),
  adaptiveFactor: z.number().min(1).max(16).default(2).describe('growth of the interval from try to try'),
};

const detection = {
  carrierDetection: durationNs
    .optional()
    .describe(
      'loss of light to the port reporting down; left out: 10ms, drawn about that where realism is not quiet',
    ),
  carrierDebounce: durationNs
    .optional()
    .describe(
      'light back to the port reporting up; left out: 100ms, drawn about the seconds that modules take where realism is not quiet',
    ),
  linkFaultSignalling: z
    .boolean()
    .default(false)
    .describe('ports take the link down when their peer signals that it receives nothing'),
  bfd: z.boolean().default(true).describe('BFD between switches'),
  bfdInterval: durationNs.prefault('300ms').describe('BFD transmit interval'),
  bfdMultiplier: z.int().min(1).max(255).default(3).describe('missed BFD packets that end a session'),
  bgpHold: durationNs.prefault('9s').describe('BGP hold time: what finds a silent loss where BFD is off'),
  fec: z
    .enum(['rs544', 'rs528'])
    .default('rs544')
    .describe(
      'forward error correction of every port: rs544 corrects 15 symbols of a codeword, rs528 only 7',
    ),
  lacp: z
    .enum(['off', 'fast', 'slow'])
    .default('off')
    .describe(
      'whether parallel links and the ports of one NIC are members of a LAG; finds a silent loss on them in 3 s or 90 s',
    ),
};

const routing = {
  hashSeed: z.int().min(0).max(0xffffffff).default(1).describe('seed of the per-switch ECMP hash'),
  hashSeeds: z
    .enum(['per-switch', 'equal'])
    .default('per-switch')
    .describe(
      'whether each switch derives a seed of its own; equal ones polarise what is hashed at several tiers',
    ),
  routeRepair: durationNs
    .optional()
    .describe(
      'port down to the local FIB without that next hop; left out: 38ms, drawn about that where realism is not quiet',
    ),
  bgpPropagation: durationNs.prefault('20ms').describe('withdrawal or advertisement, per switch hop'),
  sessionRestore: durationNs
    .optional()
    .describe(
      'link up to the BGP session and its next hops back; left out: 2s, drawn about that where realism is not quiet',
    ),
  staleNextHops: z
    .boolean()
    .default(false)
    .describe(
      'a switch whose next hop comes back while others are left keeps forwarding without it, although BGP lists it (FRR issue 12239)',
    ),
  gidCached: z
    .boolean()
    .default(false)
    .describe(
      'a NIC with a port left does not use one that comes back, since the library kept its old GID index (NCCL issue 2157)',
    ),
  switchLatency: durationNs.prefault('500ns').describe('forwarding latency of a switch'),
  deviceBoot: durationNs.prefault('1s').describe('power back to a device that lights its ports'),
};

const simulation = {
  realism: z
    .enum(REALISM)
    .default('quiet')
    .describe(
      'how untidy the world is: quiet (nothing happens but what is asked for), typical, rough; each draws lasting differences, noise and background events by the seed',
    ),
  fidelity: z
    .enum(['flow', 'auto'])
    .default('auto')
    .describe('level of the simulation; auto takes the flow level, the only one yet'),
  computeJitter: z
    .number()
    .min(0)
    .max(0.5)
    .default(0)
    .describe('relative standard deviation of compute times, drawn per operation'),
};

/** What two settings can't be at once, each with both values and the rule. */
function contradictions({
  bfd,
  bfdInterval,
  bfdMultiplier,
  bgpHold,
  buffer,
  pfc,
}: {
  bfd: boolean;
  bfdInterval: number;
  bfdMultiplier: number;
  bgpHold: number;
} & Pick<CongestionSettings, 'buffer' | 'pfc'>): { path: string[]; message: string }[] {
  const found: { path: string[]; message: string }[] = [];
  const detectionNs = bfdInterval * bfdMultiplier;
  if (bfd && detectionNs > bgpHold) {
    const [interval, detection, hold] = [bfdInterval, detectionNs, bgpHold].map(formatDurationNs);
    found.push({
      path: ['bfdInterval'],
      message: `BFD would take ${detection} (bfdInterval ${interval} × bfdMultiplier ${bfdMultiplier}) to miss a peer that BGP misses after ${hold} (bgpHold); BFD must be the faster of the two, or off (bfd: false)`,
    });
  }
  for (const key of ['headroom', 'reserve', 'resumeOffset'] as const) {
    const bytes = pfc[key];
    if (!pfc.on || buffer === undefined || bytes === undefined || bytes <= buffer) continue;
    found.push({
      path: ['pfc', key],
      message: `${formatSizeBytes(bytes)} (pfc.${key}) do not fit in a buffer of ${formatSizeBytes(buffer)} (buffer); it must be the smaller of the two`,
    });
  }
  return found;
}

export { traitsSchema } from './noise/trait-schema.js';

export const fabricSettingsSchema = z
  .strictObject({ ...transport, ...detection, ...routing, ...congestionSettings, ...simulation })
  .superRefine((settings, context) => {
    for (const { path, message } of contradictions(settings)) {
      context.addIssue({ code: 'custom', path, message });
    }
  })
  .prefault({});

export type FabricSettings = z.output<typeof fabricSettingsSchema>;

/** What a file leaves out, in a quiet world, ns. */
export const QUIET_TIMES = {
  carrierDetection: 10e6,
  carrierDebounce: 100e6,
  routeRepair: 38e6,
  sessionRestore: 2e9,
} as const satisfies Record<TimeKind, number>;

/** The full QP timeout, ns. */
export const ackTimeoutNs = (settings: FabricSettings): number =>
  ACK_TIMEOUT_UNIT_NS * 2 ** settings.ackTimeoutExponent;

/** Wire bytes per payload byte of a long message. */
export const wireFactor = (settings: FabricSettings): number =>
  (settings.mtu + settings.headerBytes) / settings.mtu;

/** Wire bytes of a full data packet. */
export const packetBytes = (settings: FabricSettings): number => settings.mtu + settings.headerBytes;

/** How long a silent loss between two switches stays unseen, ns. */
export const silentLossDetectionNs = (settings: FabricSettings): number =>
  settings.bfd ? settings.bfdInterval * settings.bfdMultiplier : settings.bgpHold;

/** How long LACP takes to miss its partner: three LACPDUs, one a second or one in thirty (IEEE 802.1AX), ns. */
export const LACP_TIMEOUT_NS = { fast: 3e9, slow: 90e9 } as const;
