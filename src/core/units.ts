/**
 * Quantities with units: text from files and flags becomes plain numbers once, at the edge.
 *
 * Inside, time is ns, rate is Gbps (1e9 bit/s), size is bytes; a rate of 1 Gbps is 0.125 bytes/ns. Bare numbers
 * are refused: `30` could be seconds or milliseconds, and a drill must not guess.
 */
import { z } from 'zod';

/** Nanoseconds per unit of time. */
export const NS_PER = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  min: 60e9,
  h: 3600e9,
  d: 86400e9,
} as const;
const GBPS_PER = { bps: 1e-9, kbps: 1e-6, Mbps: 1e-3, Gbps: 1, Tbps: 1e3 } as const;
const BYTES_PER = {
  B: 1,
  kB: 1e3,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
} as const;

/** Bytes per ns that a rate in Gbps carries. */
export const BYTES_PER_NS_PER_GBPS = 0.125;

type Units = Readonly<Record<string, number>>;

function parseQuantity(text: string, units: Units): number | undefined {
  const match = /^\s*(\d+(?:\.\d+)?|\.\d+)\s*([A-Za-zµ]+)\s*$/.exec(text);
  if (match === null || !Object.hasOwn(units, match[2])) return undefined;
  return Number(match[1]) * units[match[2]];
}

function parseIsoDuration(text: string): number | undefined {
  const match = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(text.trim());
  if (match === null || match.slice(1).every((part) => part === undefined)) return undefined;
  const [days, hours, minutes, seconds] = match.slice(1).map((part) => Number(part ?? 0));
  return days * NS_PER.d + hours * NS_PER.h + minutes * NS_PER.m + seconds * NS_PER.s;
}

/** `30s`, `250ms`, `1.5h`, `PT30S` to whole ns; undefined when it is not a duration. */
export function parseDurationNs(text: string): number | undefined {
  const value = parseQuantity(text, NS_PER) ?? parseIsoDuration(text);
  return value === undefined ? undefined : Math.round(value);
}

/** `100Gbps` to Gbps; undefined when it is not a rate. */
export function parseRateGbps(text: string): number | undefined {
  return parseQuantity(text, GBPS_PER);
}

/** `16MiB`, `64MB` to bytes; undefined when it is not a size. */
export function parseSizeBytes(text: string): number | undefined {
  const value = parseQuantity(text, BYTES_PER);
  return value === undefined ? undefined : Math.round(value);
}

/** Transforms of quantities to how their values are written: schemas made from one (optional, refined …) share it. */
const writers = new WeakMap<z.core.$ZodType, (value: number) => string>();

function quantity(
  kind: string,
  example: string,
  units: Units,
  parse: (text: string) => number | undefined,
  write: (value: number) => string,
) {
  const choices = Object.keys(units).join(', ');
  const schema = z.unknown().transform((input, context) => {
    const value = typeof input === 'string' ? parse(input) : undefined;
    if (value === undefined) {
      const wrong =
        input === undefined
          ? 'missing'
          : `${typeof input === 'string' ? `"${input}"` : JSON.stringify(input)} is no ${kind}`;
      context.addIssue({
        code: 'custom',
        message: `${wrong}; write a number with a unit (${choices}), as in ${example}`,
      });
      return z.NEVER;
    }
    return value;
  });
  writers.set(schema.def.out, write);
  return schema;
}

/** How a value of this schema is written in a file, `400ms`; undefined for a schema that is no quantity. */
export function quantityWriter(schema: z.core.$ZodType): ((value: number) => string) | undefined {
  let inner = schema;
  for (;;) {
    const def = inner._zod.def as { innerType?: z.core.$ZodType; out?: z.core.$ZodType };
    if (def.out !== undefined) return writers.get(def.out);
    if (def.innerType === undefined) return undefined;
    inner = def.innerType;
  }
}

/** Schema: text such as `30s` to ns. */
export const durationNs = quantity('duration', '30s', NS_PER, parseDurationNs, writeDuration).meta({
  type: 'string',
  description: 'a duration with a unit, such as 250ms or 30s; ISO 8601 (PT30S) is taken too',
  examples: ['30s'],
});

/** Schema: text such as `100Gbps` to Gbps. */
export const rateGbps = quantity('rate', '100Gbps', GBPS_PER, parseRateGbps, formatRateGbps).meta({
  type: 'string',
  description: 'a rate with a unit, such as 400Gbps',
  examples: ['100Gbps'],
});

/** Schema: text such as `64MB` to bytes. */
export const sizeBytes = quantity('size', '64MB', BYTES_PER, parseSizeBytes, formatSizeBytes).meta({
  type: 'string',
  description: 'a size with a unit, such as 64MB or 16MiB',
  examples: ['64MB'],
});

/** ns to the text a person would write: `1.5 s`, `48 ms`, `830 ns`. */
export function formatDurationNs(ns: number): string {
  const magnitude = Math.abs(ns);
  if (magnitude >= 48 * 3600e9) return `${trim(ns / 86_400e9)} d`;
  if (magnitude >= 2 * 3600e9) return `${trim(ns / 3600e9)} h`;
  if (magnitude >= 120e9) return `${trim(ns / 60e9)} min`;
  if (magnitude >= 1e9) return `${trim(ns / 1e9)} s`;
  if (magnitude >= 1e6) return `${trim(ns / 1e6)} ms`;
  if (magnitude >= 1e3) return `${trim(ns / 1e3)} µs`;
  return `${trim(ns)} ns`;
}

function writeDuration(ns: number): string {
  return written(ns, [1, 1e3, 1e6, 1e9], ['ns', 'us', 'ms', 's']);
}

/** Gbps to what a file takes: `400Gbps`, `1bps`, `1.6Tbps`. */
export function formatRateGbps(gbps: number): string {
  return written(gbps, Object.values(GBPS_PER), Object.keys(GBPS_PER));
}

/** Bytes to what a file takes: `64MB`, `4096B`. Decimal units, since sizes on a wire are. */
export function formatSizeBytes(bytes: number): string {
  return written(bytes, [1, 1e3, 1e6, 1e9, 1e12], ['B', 'kB', 'MB', 'GB', 'TB']);
}

/** In the largest unit in which it is at least one; units ascend. */
function written(value: number, sizes: readonly number[], units: readonly string[]): string {
  let at = 0;
  // a quotient a hair below one is the unit itself: 1e-3 / 1e-3 is not always 1
  while (at + 1 < sizes.length && value / sizes[at + 1] >= 1 - 1e-12) at++;
  return `${Number((value / sizes[at]).toPrecision(12))}${units[at]}`;
}

function trim(value: number): string {
  return String(Number(value.toPrecision(4)));
}
