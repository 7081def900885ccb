/**
 * Which values each metric can take, and what stands for "no value" in the field.
 *
 * Collectors hand on what they read: -1 or all ones for a speed that is not known (Linux `SPEED_UNKNOWN`), DCGM's blanks
 * (dcgm_structs.h: 0x7ffffff0, 0x7ffffffffffffff0 and 2^47, each with the three reasons behind it), states in the codes
 * of another system. None of them is a reading. Counters beyond 2^53 are no longer whole in a double.
 */
import { metricDefinition } from '../catalog.js';
import type { MetricDefinition } from './definition.js';

/** Both ends belong to it; `codes` where only some values have a meaning. */
export interface Domain {
  least: number;
  most: number;
  codes?: readonly number[];
}

const COUNTED: Domain = { least: 0, most: Number.MAX_SAFE_INTEGER };
const codes = (...values: number[]): Domain => ({
  least: values[0],
  most: values[values.length - 1],
  codes: values,
});

/** Where neither the kind nor the unit says it. A speed of 0 is none; the fastest Ethernet is 1.6 Tb/s (802.3dj). */
const OWN: Readonly<Record<string, Domain>> = {
  port_rate_gbps: { least: 1e-3, most: 1e4 },
  port_fec_pre_ber: { least: 0, most: 0.5 },
  optic_rx_power_dbm: { least: -60, most: 30 },
  optic_tx_power_dbm: { least: -60, most: 30 },
  optic_bias_ma: { least: 0, most: 1e4 },
  optic_temperature_c: { least: -60, most: 200 },
  job_state: codes(0, 1, 2, 3),
  host_allocated_gpus: COUNTED,
};

export function domainOf(definition: Pick<MetricDefinition, 'name' | 'kind' | 'unit'>): Domain {
  const own = OWN[definition.name];
  if (own !== undefined) return own;
  if (definition.kind === 'state') return codes(0, 1);
  if (definition.unit === 'ratio') return { least: 0, most: 1 + 1e-6 };
  return COUNTED;
}

/** DCGM: blank, not found, not supported, no permission. As doubles the 64-bit ones are all 2^63. */
const MARKERS = new Set([
  ...[0, 1, 2, 3].flatMap((reason) => [0x7ffffff0 + reason, 2 ** 47 + reason]),
  2 ** 63,
  2 ** 64,
]);

export type Fault = 'marker' | 'code' | 'below' | 'above';

/** What is wrong with a value; undefined where it is one of the metric. Not a number is no value, and not asked here. */
export function faultOf({ least, most, codes: known }: Domain, value: number): Fault | undefined {
  if (MARKERS.has(value)) return 'marker';
  if (known !== undefined) return known.includes(value) ? undefined : 'code';
  if (value < least) return 'below';
  return value > most ? 'above' : undefined;
}

/** The values of a metric as people read them. */
export function domainText(metric: string): string {
  const definition = metricDefinition(metric);
  if (definition === undefined) return 'any number';
  const { least, most, codes: known } = domainOf(definition);
  if (known !== undefined) return known.length === 2 ? `${known[0]} or ${known[1]}` : known.join(', ');
  return `from ${least} to ${most === Number.MAX_SAFE_INTEGER ? '2^53' : Number(most.toPrecision(4))} ${definition.unit}`;
}
