/**
 * NICs all of whose connections stand still together: the mark of loss on the NIC's own link.
 *
 * A connection whose data vanishes stalls, and so does one whose ACKs vanish; a link that loses one direction therefore
 * stops everything its NIC sends and everything it receives, while the partners go on with others. This is tomography in
 * its smallest form: what all stalled connections share, and no moving one does. Between switches there are other ways
 * and liveness sessions, so that only links of hosts are judged so. A NIC with a single partner tells nothing: the
 * partner looks the same.
 */
import type { Series } from '../../../model/telemetry/series.js';
import type { Context, Interval } from '../../series/context.js';
import { edgeSeries } from '../bytes/edges.js';
import { increments, rose, union } from '../../series/samples.js';

/** Shorter stalls heal by themselves: a reroute, a lost packet and its timer. */
const LEAST_STALL_NS = 2e9;
/** Share of a poll interval without an answer that counts as standing still. */
const STILL = 0.5;

interface Edge {
  source: number;
  destination: number;
  still: Interval[];
}

/** By NIC: the longest time in which nothing it sent or was sent was acknowledged; null without any, or unknown. */
export function observeNicStalls(context: Context): (Interval | null)[] {
  const ofNic = context.topology.nics.map((): Edge[] => []);
  for (const edge of activeEdges(context)) {
    ofNic[edge.source].push(edge);
    ofNic[edge.destination].push(edge);
  }
  return ofNic.map((edges, nic) => {
    const partners = new Set(edges.map(({ source, destination }) => (source === nic ? destination : source)));
    if (partners.size < 2) return null;
    const together = edges.map(({ still }) => still).reduce(intersection);
    const longest = [...together].sort((one, other) => lengthNs(other) - lengthNs(one)).at(0);
    return longest !== undefined && lengthNs(longest) >= LEAST_STALL_NS ? longest : null;
  });
}

const lengthNs = ({ fromNs, toNs }: Interval): number => toNs - fromNs;

/** Connections over the fabric that moved or tried to. */
function activeEdges(context: Context): Edge[] {
  const { gpus } = context.topology;
  return edgeSeries(context, 'edge_stalled_s').flatMap(({ job, from, to, series }) => {
    const still = stillTimes(series);
    const moved = still.length > 0 || rose(context.read('edge_tx_bytes', series.element));
    const nicOf = (rank: number): number => gpus[job.placement[rank]].nic;
    return moved ? [{ source: nicOf(from), destination: nicOf(to), still }] : [];
  });
}

/** The first part of a stall is as long as the counter says, not as the poll interval. */
function stillTimes(series: Series): Interval[] {
  const spans: Interval[] = [];
  if (series.constant === true) return spans;
  let still = false;
  for (const { fromNs, toNs, gain } of increments(series)) {
    const began = Math.max(fromNs, toNs - gain * 1e9);
    if (gain > 0 && (!still || toNs - began >= STILL * (toNs - fromNs))) spans.push({ fromNs: began, toNs });
    still = gain > 0;
  }
  return union(spans);
}

function intersection(one: readonly Interval[], other: readonly Interval[]): Interval[] {
  return one.flatMap((a) =>
    other.flatMap((b) => {
      const both = { fromNs: Math.max(a.fromNs, b.fromNs), toNs: Math.min(a.toNs, b.toNs) };
      return lengthNs(both) > 0 ? [both] : [];
    }),
  );
}
