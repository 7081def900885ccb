/**
 * A case with random loss on one link: what go-back-N sends in excess, beside the model and the peer's one run.
 *
 * One run is one draw, so it is judged by where it stands among ours: 0 is our median, 1 beyond all of them, and up to
 * 0.95 is inside our 95 % range. The mean over many seeds is compared with 1 + p·W + p²·R. Both leave out that the
 * peer loses NACKs as well (it would double the last term).
 */
import { InputError } from '../src/core/problem.js';
import { Prng } from '../src/core/prng.js';
import {
  meanSentRatio,
  packetsPerLoss,
  samplePacketsSent,
  type LossyTransfer,
} from './reference-models/go-back-n.js';
import type { CongestionCase } from './congestion-case.js';
import { measured, type BenchRow } from './row.js';

/** Enough for the mean of half a loss per run to settle. */
const RUNS = 4000;
const NACK_REPEAT_NS = 500_000;

export const isLossyCase = ({ topology }: CongestionCase): boolean =>
  topology.links.some((link) => link.packet_loss > 0);

/** @throws InputError for more than one flow, or a path of unequal links: W and R are those of one rate */
export function goBackNRows(name: string, source: CongestionCase, seed: number): BenchRow[] {
  const { transfer, peerPackets } = lossyTransfer(source);
  const random = new Prng(seed).stream('loss');
  const excess = Float64Array.from(
    { length: RUNS },
    () => samplePacketsSent(transfer, random) / transfer.packets - 1,
  ).sort();
  const meanExcess = excess.reduce((sum, value) => sum + value, 0) / RUNS;
  const error = Math.abs(meanExcess / (meanSentRatio(transfer) - 1) - 1);
  const rows = [
    measured(name, 'mean_excess_error', error, {
      unit: 'ratio',
      reference: 'plain max-min, which sends nothing twice; both beside 1 + p·W + p²·R',
      referenceValue: 1,
      floor: 0.1,
      aim: 0.05,
    }),
  ];
  if (peerPackets === undefined) return rows;
  const peerExcess = peerPackets / transfer.packets - 1;
  const below = excess.filter((value) => value < peerExcess - 1e-12).length;
  const notAbove = excess.filter((value) => value <= peerExcess + 1e-12).length;
  const place = Math.abs((below + notAbove) / RUNS - 1);
  const reference = "the peer's one run among ours, 0 for the median";
  return [
    ...rows,
    measured(name, 'peer_excess_place', place, { unit: 'ratio', reference, floor: 0.95, aim: 0.95 }),
  ];
}

function lossyTransfer(source: CongestionCase): { transfer: LossyTransfer; peerPackets?: number } {
  if (source.flows.length !== 1) throw InputError.at('/flows', 'random loss with more than one flow');
  const [flow] = source.flows;
  const links = flow.path.slice(1).map((node, index) => {
    const from = flow.path[index];
    return source.topology.links.find(
      ({ a, b }) => (a === from && b === node) || (a === node && b === from),
    )!;
  });
  const [{ gbps, delay_ns: delayNs }] = links;
  if (links.some((link) => link.gbps !== gbps || link.delay_ns !== delayNs))
    throw InputError.at('/topology/links', 'random loss on a path of unequal links');
  const wholeNs = (bytes: number): number => Math.max(1, Math.floor((8 * bytes) / gbps));
  const packetNs = wholeNs(source.packet.data_wire);
  const through = links.reduce((clear, link) => clear * (1 - link.packet_loss), 1);
  const hops = source.perf?.hops_data;
  return {
    transfer: {
      packets: Math.ceil(flow.bytes / source.packet.data_payload),
      lossRatio: 1 - through,
      windowPackets: packetsPerLoss(links.length, packetNs, wholeNs(source.packet.ack_wire), delayNs),
      repeatPackets: NACK_REPEAT_NS / packetNs,
    },
    peerPackets: hops === undefined ? undefined : hops / links.length,
  };
}
