/**
 * Impairments: the neutral language between fault kinds and fabrics.
 *
 * A fault kind compiles to a few of these; a fabric only knows how to apply and revert them. N kinds on M fabrics
 * then cost N + M files. Ports, links and devices are named by element id, never by index, so that an entry in the
 * undo journal still means the same thing to another process after a crash or a reboot.
 */
import { z } from 'zod';
import { elementName } from '../core/elements.js';
import {
  bitErrorRatio,
  bufferSchema,
  hashSeedSchema,
  loadSchema,
  markingSchema,
  moveOrderSchema,
  rateSchema,
  signalSchema,
} from './setting.js';

const link = z.string().startsWith('link:').describe('element id of a link');
const port = z.string().startsWith('port:').describe('element id of a port');
const nic = z.string().startsWith('nic:').describe('element id of a NIC');
const device = z.string().startsWith('device:').describe('element id of a device');
const job = z.string().startsWith('job:').describe('element id of a job');

export const impairmentSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('link-admin-down'),
    link,
    /** The port that is shut down; its peer sees loss of carrier. */
    port,
  }),
  z.strictObject({ type: z.literal('link-cut'), link }),
  z.strictObject({
    type: z.literal('blackhole'),
    link,
    /** What this port sends is lost; both ends still report the link up. */
    fromPort: port,
  }),
  z.strictObject({ type: z.literal('node-down'), device }),
  z.strictObject({
    type: z.literal('link-rate'),
    link,
    /** What both ends run at; lower than the rated speed. */
    ...rateSchema.shape,
  }),
  z.strictObject({
    type: z.literal('nic-host-rate'),
    nic,
    /** What the NIC can read from, and write to, its host's memory each way; the ports keep their speed. */
    ...rateSchema.shape,
    /** `receive`: what it takes from the fabric; `send`: what it reads from its host; left out: both. */
    way: z.enum(['receive', 'send']).optional(),
  }),
  z.strictObject({
    type: z.literal('bit-errors'),
    link,
    /** What this port sends arrives with errors. */
    fromPort: port,
    ...signalSchema.shape,
    /** A profile: what the ratio becomes so long after it was applied, in order of time; left out: it stays. */
    laterLevels: z
      .array(z.strictObject({ afterNs: z.number().positive(), bitErrorRatio }))
      .min(1)
      .optional(),
  }),
  z.strictObject({
    type: z.literal('compute-slowdown'),
    device,
    /** Position of one GPU within the host, from 0; all of them when left out. */
    gpu: z.int().min(0).optional(),
    /** How many times longer than normal computations take. */
    factor: z.number().gt(1),
  }),
  z.strictObject({
    type: z.literal('traffic'),
    /** Names the flows in the undo journal and tells two loads on one receiver apart. */
    name: z.string().min(1),
    toNic: nic,
    ...loadSchema.shape,
  }),
  z.strictObject({
    type: z.literal('pause-storm'),
    nic,
    /** The class that the NIC pauses without end. */
    priority: z.int().min(0).max(7),
  }),
  z.strictObject({
    type: z.literal('hash-seed'),
    device,
    /** What the device's ECMP hash is seeded with. */
    ...hashSeedSchema.shape,
  }),
  z.strictObject({
    type: z.literal('ecn-marking'),
    device,
    ...markingSchema.shape,
  }),
  z.strictObject({
    type: z.literal('pfc-buffer'),
    device,
    ...bufferSchema.shape,
  }),
  z.strictObject({
    /** The scheduler puts nothing more on the host; what runs there goes on, as with Slurm. */
    type: z.literal('host-drain'),
    device,
  }),
  z.strictObject({
    /**
     * An order to the scheduler: the ranks of a job leave a host. It stands until it is reverted; the job then stays where
     * it runs, since moving it back would stop it once more. A job that found no host goes back to its own.
     */
    type: z.literal('job-move'),
    job,
    fromHost: device,
    ...moveOrderSchema.shape,
  }),
]);

export type Impairment = z.output<typeof impairmentSchema>;
export type ImpairmentType = Impairment['type'];

/** An impairment with its place in time, ns from the injection instant of its fault. */
export interface TimedImpairment {
  impairment: Impairment;
  atNs: number;
  untilNs: number;
}

/**
 * What an impairment goes through, each level as an impairment without a profile, and how long after it was applied; the first
 * comes at 0.
 */
export function levelsOf(impairment: Impairment): { afterNs: number; impairment: Impairment }[] {
  if (impairment.type !== 'bit-errors') return [{ afterNs: 0, impairment }];
  const { laterLevels = [], ...first } = impairment;
  return [{ afterNs: 0, bitErrorRatio: first.bitErrorRatio }, ...laterLevels].map(
    ({ afterNs, bitErrorRatio }) => ({
      afterNs,
      impairment: { ...first, bitErrorRatio },
    }),
  );
}

/** The element an impairment acts on. */
export function impairedElement(impairment: Impairment): string {
  switch (impairment.type) {
    case 'node-down':
    case 'compute-slowdown':
    case 'hash-seed':
    case 'ecn-marking':
    case 'pfc-buffer':
    case 'host-drain':
      return impairment.device;
    case 'job-move':
      return impairment.fromHost;
    case 'nic-host-rate':
    case 'pause-storm':
      return impairment.nic;
    case 'traffic':
      return impairment.toNic;
    default:
      return impairment.link;
  }
}

/** What undoes an impairment, as a sentence of a plan. */
export function undoText(impairment: Impairment): string {
  const element = elementName(impairedElement(impairment));
  if (impairment.type !== 'job-move') {
    return `restore ${element} to the state read before ${impairment.type}, read it back`;
  }
  const job = elementName(impairment.job);
  return `lift the order to ${job} to leave ${element}, read it back; ${job} stays where it runs by then`;
}
