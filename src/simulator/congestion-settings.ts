/**
 * Queues, marking, congestion control and pause of the simulated fabric, from the fabric file's `settings`.
 *
 * Defaults are the `dcqcn_paper` preset of the HPCC simulator: DCQCN timers of Zhu et al. (SIGCOMM 2015), everything
 * that is a rate or a queue length relative to the line rate (5 and 50 Mb/s of increase per 25 Gb/s; Kmin 4 KB and
 * Kmax 16 KB per Gb/s, which is 1.6 and 6.4 MB at 400G; a buffer of 16 MB per 50 Gb/s of the fastest port). Watchdog:
 * SONiC `pfcwd` defaults and legal ranges. CNPs travel in the class that mlx5 gives them (6).
 * Scheduling: deficit round robin with equal weights, nothing strict, as switches come.
 * Not modelled: egress thresholds.
 */
import { z } from 'zod';
import { BYTES_PER_NS_PER_GBPS, durationNs, rateGbps, sizeBytes } from '../core/units.js';

/** Rate that increases and queue lengths of the presets are given for, Gbps. */
const PRESET_GBPS = 25;
const KMIN_BYTES_PER_GBPS = 4e3;
const KMAX_BYTES_PER_GBPS = 16e3;
const BUFFER_BYTES_PER_GBPS = 16e6 / 50;

const priority = z.int().min(0).max(7);
const positiveTime = durationNs.refine((ns) => ns >= 1000, 'must be at least 1us');
const positiveSize = sizeBytes.refine((bytes) => bytes > 0, 'must be more than 0B');
const within = (leastMs: number, mostMs: number) =>
  durationNs.refine(
    (ns) => ns >= leastMs * 1e6 && ns <= mostMs * 1e6,
    `must be from ${leastMs}ms to ${mostMs}ms`,
  );

const dcqcn = z
  .strictObject({
    on: z
      .boolean()
      .default(true)
      .describe('NICs slow down on CNPs; off: they send at line rate, PFC alone holds'),
    cnpInterval: positiveTime.prefault('50us').describe('at most one CNP per QP in this time'),
    cnpPriority: priority.default(6).describe('class of the CNPs'),
    alphaInterval: positiveTime.prefault('50us').describe('period without a CNP after which alpha decays'),
    decreaseInterval: positiveTime.prefault('50us').describe('at most one rate cut in this time'),
    increaseInterval: positiveTime.prefault('55us').describe('period of the increase timer'),
    gain: z.number().gt(0).max(1).default(0.00390625).describe('g, weight of the newest CNP in alpha'),
    fastRecoveryTimes: z
      .int()
      .min(1)
      .max(100)
      .default(1)
      .describe('F, increases that only return to the target'),
    additiveIncrease: rateGbps.prefault('5Mbps').describe('step of the target per 25 Gbps of the line rate'),
    hyperIncrease: rateGbps.prefault('50Mbps').describe('later steps, per 25 Gbps of the line rate'),
    minRate: rateGbps.prefault('1Gbps').describe('no QP is cut below this rate'),
  })
  .prefault({});

const ecn = z
  .strictObject({
    kmin: positiveSize
      .optional()
      .describe('queue from which packets are marked; 4 KB per Gbps where left out'),
    kmax: positiveSize.optional().describe('queue from which all are; 16 KB per Gbps where left out'),
    pmax: z.number().min(0).max(1).default(0.2).describe('share of packets marked at kmax; 0 never marks'),
  })
  .refine(({ kmin, kmax }) => kmin === undefined || kmax === undefined || kmin < kmax, {
    path: ['kmax'],
    message: 'must be more than kmin',
  })
  .prefault({});

const pfc = z
  .strictObject({
    on: z
      .boolean()
      .default(true)
      .describe('switches pause lossless classes; off: they drop what finds no room'),
    priorities: z
      .array(priority)
      .max(8)
      .default([3])
      .describe('lossless classes; each has its queues and counters'),
    headroom: sizeBytes
      .optional()
      .describe('room per port for what is under way; 3 × rate × delay and two packets where left out'),
    freeShare: z
      .number()
      .gt(0)
      .max(64)
      .default(0.125)
      .describe('alpha: share of the free buffer that a port may fill before it pauses its peer'),
    reserve: sizeBytes.prefault('4KiB').describe('bytes of each port that never count as shared'),
    resumeOffset: sizeBytes.prefault('3KiB').describe('how far below the threshold a pause ends'),
  })
  .prefault({});

const watchdog = z
  .strictObject({
    on: z.boolean().default(true).describe('pause watchdog of the switches'),
    detect: within(100, 5000)
      .prefault('200ms')
      .describe('pause without a packet sent until a queue counts as stuck'),
    restore: within(100, 60_000).prefault('200ms').describe('time without pause until it is served again'),
    action: z
      .enum(['drop', 'forward'])
      .default('drop')
      .describe('what becomes of its packets: dropped, or sent in spite of the pause'),
  })
  .prefault({});

const scheduling = z
  .strictObject({
    weights: z
      .record(z.string().regex(/^[0-7]$/, 'must be a priority from 0 to 7'), z.number().min(1).max(100))
      .default({})
      .describe('share of a class among those that wait for one link, by priority; 1 where left out'),
    strict: z
      .array(priority)
      .max(8)
      .default([])
      .describe('classes served before all others, the highest priority first'),
  })
  .prefault({});

/** Part of the fabric settings. */
export const congestionSettings = {
  dcqcn: dcqcn.describe('congestion control of the NICs (DCQCN)'),
  ecn: ecn.describe('marking at switch queues'),
  pfc: pfc.describe('priority flow control'),
  scheduling: scheduling.describe(
    'how classes share a link (802.1Qaz): deficit round robin by weight, or strict',
  ),
  buffer: positiveSize
    .optional()
    .describe('buffer of each switch; 16 MB per 50 Gbps of its fastest port where left out'),
  watchdog: watchdog.describe('what a switch does about a pause without end'),
};

export type CongestionSettings = z.output<z.ZodObject<typeof congestionSettings>>;

/** Marking curve of a queue behind a port of this rate. */
export function markingCurve(
  { ecn: { kmin, kmax, pmax } }: CongestionSettings,
  portGbps: number,
): { kminBytes: number; kmaxBytes: number; pmax: number } {
  const kminBytes = kmin ?? Math.min(KMIN_BYTES_PER_GBPS * portGbps, (kmax ?? Infinity) / 4);
  return { kminBytes, kmaxBytes: kmax ?? Math.max(KMAX_BYTES_PER_GBPS * portGbps, 4 * kminBytes), pmax };
}

/** Buffer of a switch whose fastest port has this rate, bytes. */
export const switchBufferBytes = ({ buffer }: CongestionSettings, portGbps: number): number =>
  buffer ?? BUFFER_BYTES_PER_GBPS * portGbps;

/** Room of a port for what is under way when it pauses its peer, bytes. */
export const headroomBytes = (
  { pfc: { headroom } }: CongestionSettings,
  portGbps: number,
  delayNs: number,
  packetBytes: number,
): number => headroom ?? 3 * portGbps * BYTES_PER_NS_PER_GBPS * delayNs + 2 * packetBytes;

/** Rates of the reaction point at NICs of this line rate, bytes/ns. */
export function reactionRates(
  { dcqcn: { additiveIncrease, hyperIncrease, minRate } }: CongestionSettings,
  lineGbps: number,
): { additiveIncrease: number; hyperIncrease: number; minRate: number } {
  const scaled = (gbps: number): number => (gbps * BYTES_PER_NS_PER_GBPS * lineGbps) / PRESET_GBPS;
  return {
    additiveIncrease: scaled(additiveIncrease),
    hyperIncrease: scaled(hyperIncrease),
    minRate: Math.min(minRate, lineGbps) * BYTES_PER_NS_PER_GBPS,
  };
}

/** Traffic classes whose queues and counters exist, ascending: what the settings name, and the jobs'. */
export function priorityClasses(
  { dcqcn, pfc }: CongestionSettings,
  jobPriorities: readonly number[],
): number[] {
  const named = [...pfc.priorities, ...jobPriorities, ...(dcqcn.on ? [dcqcn.cnpPriority] : [])];
  return [...new Set(named)].sort((a, b) => a - b);
}
