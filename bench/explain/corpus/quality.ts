/**
 * How well a case is watched: everything, a part of the samples lost, a third of the devices silent, clocks off.
 *
 * Loss is a setting of telemetry itself. Silence and clocks are put on what was observed: a silent device leaves no
 * series of its own behind, and a device whose clock is off stamps all that it says earlier or later by the same amount
 * (up to half a second: hosts that synchronise over NTP through a congested network, or have lost their server).
 */
import { elementName } from '../../../src/core/elements.js';
import type { Prng } from '../../../src/core/prng.js';
import type { Evidence, Series } from '../../../src/model/telemetry/series.js';
import type { Topology } from '../../../src/model/topology/model.js';
import type { Weights } from './draw.js';

export const QUALITIES = ['clean', 'lost-10', 'lost-30', 'mute-third', 'clocks-off'] as const;
export type Quality = (typeof QUALITIES)[number];

export const QUALITY_WEIGHTS: Weights<Quality> = [
  ['clean', 0.6],
  ['lost-10', 0.1],
  ['lost-30', 0.14],
  ['mute-third', 0.08],
  ['clocks-off', 0.08],
];

const LOSS: Readonly<Partial<Record<Quality, number>>> = { 'lost-10': 0.1, 'lost-30': 0.3 };
const MUTE_SHARE = 1 / 3;
const CLOCK_MOST_NS = 0.5e9;

export const lossOf = (quality: Quality): number => LOSS[quality] ?? 0;

/** The evidence as an operator of this quality would have it. */
export function degrade(evidence: Evidence, topology: Topology, quality: Quality, random: Prng): Evidence {
  if (quality !== 'mute-third' && quality !== 'clocks-off') return evidence;
  const draws = new Map(topology.devices.map(({ name }) => [name, random.uniform()]));
  const drawOf = ({ element }: Series): number | undefined => draws.get(ownerOf(element));
  if (quality === 'mute-third') {
    return { ...evidence, series: evidence.series.filter((series) => (drawOf(series) ?? 1) >= MUTE_SHARE) };
  }
  const series = evidence.series.map((one): Series => {
    const draw = drawOf(one);
    return draw === undefined ? one : shifted(one, (2 * draw - 1) * CLOCK_MOST_NS, evidence);
  });
  return { ...evidence, series };
}

/** The device that reports a series: the first part of a device's, port's, queue's or NIC's name. */
const ownerOf = (element: string): string =>
  /^(device|port|queue|nic):/.test(element) ? elementName(element).split('/')[0] : '';

/** What a wrong clock would put outside of the window was asked for too early or too late, and is not there. */
function shifted(series: Series, byNs: number, { fromNs, toNs }: Evidence): Series {
  const kept: number[] = [];
  const timesNs = Float64Array.from(series.timesNs, (timeNs, index) =>
    // what held at the start of the window holds there by any clock
    index === 0 && timeNs === fromNs ? timeNs : timeNs + byNs,
  );
  let lastNs = -Infinity;
  for (let index = 0; index < timesNs.length; index++) {
    if (timesNs[index] < fromNs || timesNs[index] > toNs || timesNs[index] <= lastNs) continue;
    lastNs = timesNs[index];
    kept.push(index);
  }
  return {
    metric: series.metric,
    element: series.element,
    timesNs: Float64Array.from(kept, (index) => timesNs[index]),
    values: Float64Array.from(kept, (index) => series.values[index]),
    quality: Uint8Array.from(kept, (index) => series.quality[index]),
  };
}
