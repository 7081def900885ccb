/**
 * Devices whose clocks differ, brought to one clock before anything else is looked at.
 *
 * Each device stamps what it says by its own clock, and the clocks of a fabric may be off by half a second and more. Then
 * honest counters seem to receive bytes before they were sent, others seem to lose them, and causes follow their effects.
 * Where the counters of links show that, every link says how far the clocks of its ends are apart (clock-fit.ts); the
 * median over the links of a device places it among its neighbours, and what NICs count against what their jobs report
 * places them all. What no link can say, or the fit leaves open, is handed on as slack: what rests on an order of readings
 * within it is not claimed. Where nothing is in doubt all is left as it is. Polls at phases of their own, under traffic
 * that repeats itself exactly, can't be told from clocks that are off; they are moved, and slack keeps that harmless.
 * Sources: NTP's usual errors under load; Huygens (Geng et al., NSDI 2018), which does the same with probes.
 */
import { elementName } from '../../../core/elements.js';
import type { Series } from '../../../model/telemetry/series.js';
import type { Device, Link, Topology } from '../../../model/topology/model.js';
import { connectionsOf } from './byte-accounts.js';
import { fitClocks } from './clock-fit.js';
import type { ClockFit, CounterPair } from './clock-fit.js';
import { receivedEarly, wireBytes } from './conservation.js';
import { Context } from '../../series/context.js';
import type { DiagnosisInput } from '../../series/context.js';
import { freshColumn } from '../../series/samples.js';
import { ShiftedSeries } from '../../series/shifted-series.js';
import type { Column } from '../../series/samples.js';
import { median } from '../../series/statistics.js';

/** Links of each device that are asked whether clocks differ, and by how much. */
const LINKS_ASKED = 2;
const LINKS_FITTED = 6;
/** A fit costs: in a large fabric some links stand for all. */
const MOST_DOUBTED = 48;
/** A device that they doubt is asked by itself: so many of the links that tell, and so large a share of them, must agree. */
const FEWEST_DOUBTS = 3;
const DOUBTS_SHARE = 0.75;
/** NICs of a host whose connections place it beside the clock of the jobs. */
const NICS_ASKED = 3;
/** A link whose counters fit elsewhere nearly as well does not count. */
const LEAST_CERTAINTY = 0.3;
/** Clocks of a link are in doubt when its counters fit so much better with clocks apart by so much. */
const LEAST_DOUBT = 0.5;
const AGREE_NS = 30e6;
/** Rounds in which devices settle among their neighbours. */
const SETTLING_ROUNDS = 10;
/** Counters of one device that are read one after the other by a busy agent are that far apart; no clock is moved for it. */
const MOST_SLIGHT_NS = 50e6;
/** What clocks may still differ by, ns: the least that explains what counters show. */
const SLACKS_NS = [20e6, 50e6, 100e6, 200e6, 400e6, 800e6, 1.25e9];

/** The same evidence by one clock, with what is left of the differences; nothing changes where clocks seem to agree. */
export function alignedContext(input: DiagnosisInput): Context {
  const context = new Context(input);
  const asked = linksOf(context, LINKS_ASKED);
  const contradicted = asked.some((link) => contradicts(context, link));
  const fits = new Fits(context);
  const slightNs = contradicted ? slackOf(context, asked, MOST_SLIGHT_NS) : undefined;
  if ((!contradicted || slightNs !== undefined) && !inDoubt(context, asked, fits)) {
    return slightNs === undefined ? context : new Context(input, slightNs);
  }
  const offsets = settle(context, linksOf(context, LINKS_FITTED), fits);
  const aligned = { ...input, evidence: { ...input.evidence, series: shiftAll(context, input, offsets) } };
  const once = new Context(aligned);
  const left = asked.filter((link) => contradicts(once, link));
  if (left.length === 0 && offsets.every((offset) => offset === 0)) return context;
  const slackNs = slackOf(once, left, Infinity);
  // polls at phases of their own may fit better when moved, and then contradict each other
  return !contradicted && slackNs !== SLACKS_NS[0] ? context : new Context(aligned, slackNs);
}

/** The least slack up to `mostNs` that explains what the counters of these links show; undefined when none does. */
const slackOf = (context: Context, links: readonly Link[], mostNs: number): number | undefined =>
  SLACKS_NS.find((slackNs) => slackNs <= mostNs && !links.some((link) => isEarly(context, link, slackNs)));

/** Bytes are received before they are sent, for which clocks may be the reason: with clocks far enough apart they are not. */
const contradicts = (context: Context, link: Link): boolean =>
  isEarly(context, link, 0) && !isEarly(context, link, SLACKS_NS[SLACKS_NS.length - 1]);

const isEarly = (context: Context, link: Link, slackNs: number): boolean =>
  countersOf(context, link).some(
    ([sent, received]) => receivedEarly(sent, received, slackNs) > wireBytes(link),
  );

/** Whether links of some device, all of the sample and most of its own, fit better with its clock off. */
function inDoubt({ topology }: Context, asked: readonly Link[], fits: Fits): boolean {
  const { ports, devices } = topology;
  const doubted = new Set<number>();
  const cleared = new Set<number>();
  const stride = Math.ceil(asked.length / MOST_DOUBTED);
  for (let at = 0; at < asked.length; at += stride) {
    const ends = [asked[at].portA, asked[at].portB].map((port) => ports[port].device);
    if (ends.every((device) => cleared.has(device))) continue;
    const fit = fits.of(asked[at]);
    if (fit === null) continue;
    for (const device of ends) (doubts(fit) ? doubted : cleared).add(device);
  }
  return [...doubted].some((device) => {
    if (cleared.has(device)) return false;
    const own = linksOfDevice(topology, devices[device], LINKS_FITTED);
    const told = own.flatMap((link) => fits.of(link) ?? []);
    const count = told.filter(doubts).length;
    return count >= Math.min(FEWEST_DOUBTS, own.length) && count >= DOUBTS_SHARE * told.length;
  });
}

const doubts = ({ doubt, aheadNs }: ClockFit): boolean =>
  doubt >= LEAST_DOUBT && Math.abs(aheadNs) > AGREE_NS;

/** How far the clock of a link's second port is ahead of that of its first; null where it does not tell. */
class Fits {
  private readonly made = new Map<number, ClockFit | null>();

  constructor(private readonly context: Context) {}

  of(link: Link): ClockFit | null {
    let fit = this.made.get(link.index);
    if (fit === undefined) this.made.set(link.index, (fit = fitOf(this.context, link)));
    return fit;
  }
}

function fitOf(context: Context, link: Link): ClockFit | null {
  const [[sentA, receivedB], [sentB, receivedA]] = countersOf(context, link);
  // under the clock of A first: what it sent, and what it received, of which B holds the original
  const fit = fitClocks([
    [sentA, receivedB],
    [receivedA, sentB],
  ]);
  return fit === null || fit.certainty < LEAST_CERTAINTY ? null : fit;
}

/** Some links of every device, those of hosts among them. */
const linksOf = ({ topology }: Context, ofEach: number): Link[] =>
  [...new Set(topology.devices.flatMap((device) => linksOfDevice(topology, device, ofEach)))].sort(
    (one, other) => one.index - other.index,
  );

function linksOfDevice({ ports, links }: Topology, device: Device, most: number): Link[] {
  const stride = Math.max(1, Math.floor(device.ports.length / most));
  return device.ports.filter((_, at) => at % stride === 0).map((port) => links[ports[port].link]);
}

/** Both directions: counters of the sender and of the receiver. */
function countersOf(context: Context, { portA, portB }: Link): [sent: Column, received: Column][] {
  const read = (metric: 'port_tx_bytes' | 'port_rx_bytes', port: number): Column =>
    freshColumn(context.readPort(metric, port));
  return [
    [read('port_tx_bytes', portA), read('port_rx_bytes', portB)],
    [read('port_tx_bytes', portB), read('port_rx_bytes', portA)],
  ];
}

/** How far the clock of a neighbour is ahead. */
interface Neighbour {
  device: number;
  aheadNs: number;
}

/** By device: how far its clock is ahead of that of the jobs, else of the other devices; 0 where nothing tells. */
function settle(context: Context, links: readonly Link[], fits: Fits): Float64Array {
  const { ports, devices } = context.topology;
  const jobs = devices.length;
  const neighbours = Array.from({ length: jobs + 1 }, (): Neighbour[] => []);
  const join = (one: number, other: number, aheadNs: number): void => {
    neighbours[one].push({ device: other, aheadNs });
    neighbours[other].push({ device: one, aheadNs: -aheadNs });
  };
  for (const link of links) {
    const fit = fits.of(link);
    if (fit !== null) join(ports[link.portA].device, ports[link.portB].device, fit.aheadNs);
  }
  for (const { host, aheadNs } of jobsAhead(context)) join(host, jobs, aheadNs);
  const offsets = new Float64Array(jobs + 1).fill(NaN);
  for (let device = jobs; device >= 0; device--) {
    if (Number.isNaN(offsets[device])) spread(device, neighbours, offsets);
  }
  for (let round = 0; round < SETTLING_ROUNDS; round++) {
    for (let device = 0; device < jobs; device++) {
      offsets[device] = placed(neighbours[device], offsets) ?? offsets[device];
    }
  }
  const told = offsets.filter((_, device) => neighbours[device].length > 0);
  const middle = neighbours[jobs].length > 0 ? offsets[jobs] : told.length > 0 ? median(told) : 0;
  return offsets.map((offset, device) => {
    const own = neighbours[device].length > 0 ? offset - middle : 0;
    return Math.abs(own) > AGREE_NS ? own : 0;
  });
}

/** Places all devices that links lead to from one, nearest first. */
function spread(root: number, neighbours: readonly Neighbour[][], offsets: Float64Array): void {
  offsets[root] = 0;
  const queue = [root];
  for (const from of queue) {
    for (const { device } of neighbours[from]) {
      if (!Number.isNaN(offsets[device])) continue;
      offsets[device] = placed(neighbours[device], offsets) ?? 0;
      queue.push(device);
    }
  }
}

/** Where the neighbours that are placed already put a device; null without any. */
function placed(neighbours: readonly Neighbour[], offsets: Float64Array): number | null {
  const votes = neighbours.flatMap(({ device, aheadNs }) =>
    Number.isNaN(offsets[device]) ? [] : [offsets[device] - aheadNs],
  );
  return votes.length === 0 ? null : median(votes);
}

/** By how much the clock of the jobs is ahead of hosts', as what their NICs count beside what ranks report tells. */
function jobsAhead(context: Context): { host: number; aheadNs: number }[] {
  const connections = context.once(connectionsOf);
  const asked = new Map<number, number>();
  return context.topology.nics.flatMap(({ index, host, ports }) => {
    const sent = connections[index]?.[0] ?? [];
    const count = asked.get(host) ?? 0;
    if (sent.length === 0 || count >= NICS_ASKED) return [];
    asked.set(host, count + 1);
    const wire = ports.map((port) => freshColumn(context.readPort('port_tx_bytes', port)));
    const pair = scaled(added(wire), added(sent));
    const fit = pair === null ? null : fitClocks([pair]);
    return fit === null || fit.certainty < LEAST_CERTAINTY ? [] : [{ host, aheadNs: fit.aheadNs }];
  });
}

/** The first counter, made to gain in all what the second does: headers are no payload. */
function scaled(wire: Column | null, payload: Column | null): CounterPair | null {
  if (wire === null || payload === null) return null;
  const gainOf = ({ count, values }: Column): number => values[count - 1] - values[0];
  const ratio = gainOf(payload) / gainOf(wire);
  return Number.isFinite(ratio) && ratio > 0
    ? [{ ...wire, values: wire.values.map((value) => value * ratio) }, payload]
    : null;
}

/** Counters that were read together, added up; null when one of them was read less often. */
function added(columns: readonly Column[]): Column | null {
  const [first, ...rest] = columns;
  if (rest.some(({ count }) => count !== first.count)) return null;
  const values = first.values.slice(0, first.count);
  for (const column of rest) for (let at = 0; at < first.count; at++) values[at] += column.values[at];
  return { ...first, values };
}

/** All series by one clock. */
function shiftAll(context: Context, { evidence }: DiagnosisInput, offsets: Float64Array): Series[] {
  const byName = new Map(context.topology.devices.map(({ name, index }) => [name, offsets[index]]));
  const byElement = new Map<string, number>();
  return evidence.series.map((series) => {
    let offsetNs = byElement.get(series.element);
    if (offsetNs === undefined) {
      const owner =
        /^(device|port|queue|nic):/.test(series.element) && elementName(series.element).split('/')[0];
      offsetNs = owner === false ? 0 : (byName.get(owner) ?? 0);
      byElement.set(series.element, offsetNs);
    }
    return offsetNs === 0 ? series : new ShiftedSeries(series, offsetNs, context.window);
  });
}
