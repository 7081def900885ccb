/**
 * Settings of elements as they are read back, compared, stored in an undo journal and told to people.
 *
 * A value is a word of the device (`up`, `drained`), or figures by name with the unit last (`{ rateGbps: 40 }`). Both are JSON
 * as they stand, so that a journal gives back what was read. Sentences are made here, and only where they are shown.
 */
import { z } from 'zod';
import { formatDurationNs, formatRateGbps, formatSizeBytes } from '../core/units.js';

/** One that is undefined is left out. */
export type Figures = Readonly<Record<string, number | string | boolean | readonly string[] | undefined>>;
export type SettingValue = string | Figures;

const nic = z.string().startsWith('nic:').describe('element id of a NIC');
const device = z.string().startsWith('device:').describe('element id of a device');

/** Figures of settings that mean the same on every fabric; impairments take theirs from here. */
export const rateSchema = z.strictObject({ rateGbps: z.number().positive() });
export const slowdownSchema = z.strictObject({
  /** How many times longer than normal computations take. */
  slowdownFactor: z.number().positive(),
});
export const hashSeedSchema = z.strictObject({ seed: z.int().min(0).max(0xffffffff) });
export const bitErrorRatio = z.number().positive().max(0.5);
export const signalSchema = z.strictObject({
  /** Before FEC, on the lanes that are hit. */
  bitErrorRatio,
  /** Share of the lanes that are hit. */
  laneShare: z.number().positive().max(1),
  /** Where the errors come from, which decides what optical sensors show. */
  cause: z.enum(['connector', 'laser', 'serdes']),
});
export const markingSchema = z.strictObject({
  /** Marking curve of all egress queues of a switch. */
  kminBytes: z.number().positive(),
  kmaxBytes: z.number().positive(),
  /** Probability at kmax, 0..1; 0 never marks. */
  pmax: z.number().min(0).max(1),
});
export const bufferSchema = z.strictObject({
  /** False: the device sends no pause, and drops what finds no room. */
  pfc: z.boolean(),
  /** Room per port and class for what is under way when a pause is sent; left out, as the next: as it is. */
  headroomBytes: z.number().min(0).optional(),
  /** Share of the free buffer that a port may take before it pauses (alpha), > 0. */
  freeShare: z.number().positive().optional(),
});
export const loadSchema = z.strictObject({
  fromNics: z.array(nic).min(1),
  /** What each sender would send, bounded by its NIC. */
  rateGbps: z.number().positive(),
  /** Each sender stops after so many payload bytes; left out: it sends until it is reverted. */
  bytesPerSender: z.number().positive().optional(),
  priority: z.int().min(0).max(7),
  /** QPs of each sender. */
  queuePairs: z.int().min(1).max(1024),
});
export const moveOrderSchema = z.strictObject({
  /** Left out: there is no host to go to, and the job waits. */
  toHost: device.optional(),
  /**
   * `planned`: the job ends its step, writes a checkpoint, stops and goes on from it; `after-loss`: the scheduler has
   * lost the host, and restarts the job from its last checkpoint; `evict`: the processes on the host are ended at
   * once, and the others wait for their successors before all load the last checkpoint.
   */
  mode: z.enum(['planned', 'after-loss', 'evict']),
});

/** Configuration of elements as read back: `link:…` or `port:…` → setting → value. */
export type ConfigurationSnapshot = Readonly<Record<string, Readonly<Record<string, SettingValue>>>>;

/** Whatever the order of figures. */
export function sameSetting(one: SettingValue | undefined, other: SettingValue | undefined): boolean {
  return one === other || (one !== undefined && other !== undefined && inOrder(one) === inOrder(other));
}

const inOrder = (value: SettingValue): string =>
  JSON.stringify(
    typeof value === 'string'
      ? value
      : Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))),
  );

const UNITS: readonly [suffix: string, format: (value: number) => string][] = [
  ['Gbps', formatRateGbps],
  ['Bytes', formatSizeBytes],
  ['Ns', formatDurationNs],
];

/** In words: `rate 40Gbps`, `bit error ratio 0.0011, lane share 1, cause connector`. */
export function settingText(value: SettingValue): string {
  if (typeof value === 'string') return value;
  return Object.entries(value)
    .filter(([, figure]) => figure !== undefined)
    .map(([name, figure]) => {
      const [suffix, format] = UNITS.find(([unit]) => name.endsWith(unit)) ?? ['', String];
      const words = name
        .slice(0, name.length - suffix.length)
        .replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
      if (typeof figure === 'boolean') return `${words} ${figure ? 'on' : 'off'}`;
      return `${words} ${typeof figure === 'number' ? format(figure) : [figure].flat().join(' ')}`;
    })
    .join(', ');
}

/** A snapshot with every value as `change` gives it; settings for which it gives none are left out. */
export const mapSettings = (
  snapshot: ConfigurationSnapshot,
  change: (element: string, setting: string, value: SettingValue) => SettingValue | undefined,
): ConfigurationSnapshot =>
  Object.fromEntries(
    Object.entries(snapshot).map(([element, settings]) => [
      element,
      Object.fromEntries(
        Object.entries(settings).flatMap(([setting, value]) => {
          const changed = change(element, setting, value);
          return changed === undefined ? [] : [[setting, changed]];
        }),
      ),
    ]),
  );
