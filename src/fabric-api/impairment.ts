/**
 * Impairments: the neutral language between fault kinds and fabrics.
 *
 * A fault kind compiles to a few of these; a fabric only knows how to apply and revert them. N kinds on M fabrics
 * then cost N + M files. Ports, links and devices are named by element id, never by index, so that an entry in the
 * undo journal still means the same thing to another process after a crash or a reboot.
 */
import { z } from 'zod';
import { elementName } from '../core/elements.js';

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
    rateGbps: z.number().positive(),
  }),
  z.strictObject({
    type: z.literal('nic-host-rate'),
    nic,
    /** What the NIC can read from, and write to, its host's memory each way; the ports keep their speed. */
    rateGbps: z.number().positive(),
    /** `receive`: what it takes from the fabric; `send`: what it reads from its host; left out: both. */
    way: z.enum(['receive', 'send']).optional(),
  }),
  z.strictObject({
    type: z.literal('bit-errors'),
    link,
    /** What this port sends arrives with errors. */
    fromPort: port,
    /** Before FEC, on the lanes that are hit. */
    bitErrorRatio: z.number().positive().max(0.5),
    /** Share of the lanes that are hit. */
    laneShare: z.number().positive().max(1),
    /** Where the errors come from, which decides what optical sensors show. */
    cause: z.enum(['connector', 'laser', 'serdes']),
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
    fromNics: z.array(nic).min(1),
    toNic: nic,
    /** What each sender would send, bounded by its NIC. */
    rateGbps: z.number().positive(),
    /** Each sender stops after so many payload bytes; left out: it sends until it is reverted. */
    bytesPerSender: z.number().positive().optional(),
    priority: z.int().min(0).max(7),
    /** QPs of each sender. */
    queuePairs: z.int().min(1).max(1024),
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
    seed: z.int().min(0).max(0xffffffff),
  }),
  z.strictObject({
    type: z.literal('ecn-marking'),
    device,
    /** Marking curve of all its egress queues. */
    kminBytes: z.number().positive(),
    kmaxBytes: z.number().positive(),
    /** Probability at kmax, 0..1; 0 never marks. */
    pmax: z.number().min(0).max(1),
  }),
  z.strictObject({
    type: z.literal('pfc-buffer'),
    device,
    /** False: the device sends no pause, and drops what finds no room. */
    pfc: z.boolean(),
    /** Room per port and class for what is under way when a pause is sent; left out, as the next: as it is. */
    headroomBytes: z.number().min(0).optional(),
    /** Share of the free buffer that a port may take before it pauses (alpha), > 0. */
    freeShare: z.number().positive().optional(),
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
    /** Left out: there is no host to go to, and the job waits. */
    toHost: device.optional(),
    /**
     * `planned`: the job ends its step, writes a checkpoint, stops and goes on from it; `after-loss`: the scheduler has
     * lost the host, and restarts the job from its last checkpoint; `evict`: the processes on the host are ended at
     * once, and the others wait for their successors before all load the last checkpoint.
     */
    mode: z.enum(['planned', 'after-loss', 'evict']),
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
