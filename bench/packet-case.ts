/**
 * A case of a packet-level peer as a flow list: what a flow-level engine must count to be right about packets.
 *
 * Three things separate a flow from fluid bytes, and each can be left out here to show what it is worth. Headers:
 * every packet carries its wire overhead. ACKs: one per packet goes back along the ACK path and takes its share
 * there, which on a ring's NICs is the link that is busy anyway. Latency: the last packet is stored and forwarded at
 * every hop, and the sender knows once the last ACK is back; with one flow alone on equal links that gives the closed
 * form (N + L - 1)·tx + 2·L·delay + L·tx_ack exactly. The peer truncates transmission times to whole ns
 * (83 for 83.84 at 100G); `rounding: 'peer'` does the same. Not modelled: queues, congestion control, loss, faults.
 */
import { z } from 'zod';
import { InputError, toPointer } from '../src/core/problem.js';
import { BYTES_PER_NS_PER_GBPS } from '../src/core/units.js';
import type { ListedFlow } from './reference-models/flow-list.js';

const packetCase = z.object({
  name: z.string(),
  cc: z.string(),
  topology: z.object({
    links: z.array(
      z.object({
        a: z.number(),
        b: z.number(),
        gbps: z.number().positive(),
        delay_ns: z.number().nonnegative(),
        packet_loss: z.number().default(0),
      }),
    ),
  }),
  packet: z.object({
    data_payload: z.number().positive(),
    data_wire: z.number().positive(),
    ack_wire: z.number().positive(),
  }),
  flows: z.array(
    z.object({
      id: z.number(),
      bytes: z.number().positive(),
      start_ns: z.number().nonnegative(),
      start_after: z.array(z.number()).optional(),
      path: z.array(z.number()).min(2),
      ack_path: z.array(z.number()).min(2),
      fct_ns: z.number().nullable(),
    }),
  ),
  result: z.object({ makespan_ns: z.number() }),
  perf: z.object({ run_wall_s_median: z.number() }).optional(),
});

/** The fields of a peer case that a flow level needs. */
export type PacketCase = z.infer<typeof packetCase>;

/** @throws InputError with a pointer to each field that is missing or no amount */
export function parsePacketCase(document: unknown): PacketCase {
  const parsed = packetCase.safeParse(document);
  if (parsed.success) return parsed.data;
  throw new InputError(
    parsed.error.issues.map((issue) => ({ pointer: toPointer(issue.path), message: issue.message })),
  );
}

/** What is counted; all of it unless a test wants to know what one of them is worth. */
export interface PacketModel {
  rounding: 'peer' | 'exact';
  headers?: boolean;
  ackShare?: boolean;
  latency?: boolean;
}

interface LinkDirection {
  index: number;
  delayNs: number;
  /** Time a byte count takes on this link, ns. */
  transmitNs: (bytes: number) => number;
}

/**
 * The case as capacities and flows for `runFlowList`, ids being places in the list.
 *
 * @throws InputError when a path uses a link the topology lacks
 */
export function packetCaseFlows(
  source: PacketCase,
  { rounding, headers = true, ackShare = true, latency = true }: PacketModel,
): { capacities: Float64Array; flows: ListedFlow[] } {
  const directions = linkDirections(source, rounding);
  const { data_payload: payloadBytes, data_wire: dataBytes, ack_wire: ackBytes } = source.packet;
  const wireBytes = headers ? dataBytes : payloadBytes;
  const places = new Map(source.flows.map((flow, place) => [flow.id, place]));
  // Bytes that count are those of a full packet, so that a truncated time gives the link a higher capacity.
  const capacities = new Float64Array(directions.size);
  for (const { index, transmitNs } of directions.values())
    capacities[index] = wireBytes / transmitNs(wireBytes);
  const flows = source.flows.map((flow, place): ListedFlow => {
    const dataPath = hops(directions, flow.path, `/flows/${place}/path`);
    const ackPath = hops(directions, flow.ack_path, `/flows/${place}/ack_path`);
    const consumed = new Map(dataPath.map((link) => [link.index, 1]));
    for (const link of ackShare ? ackPath : []) {
      const share = link.transmitNs(ackBytes) / link.transmitNs(wireBytes);
      consumed.set(link.index, (consumed.get(link.index) ?? 0) + share);
    }
    const packets = Math.ceil(flow.bytes / payloadBytes);
    const lastBytes = flow.bytes - (packets - 1) * payloadBytes + wireBytes - payloadBytes;
    return {
      links: Int32Array.from(consumed.keys()),
      coefficients: Float64Array.from(consumed.values()),
      wireBytes: (packets - 1) * wireBytes + lastBytes,
      // Measured starts of dependent flows are results, not inputs.
      startNs: flow.start_after === undefined ? flow.start_ns : 0,
      startAfter: flow.start_after?.map((id, index) =>
        placeOf(places, id, `/flows/${place}/start_after/${index}`),
      ),
      latencyNs: latency ? pathLatencyNs(dataPath, ackPath, wireBytes, ackBytes) : 0,
    };
  });
  return { capacities, flows };
}

/** One packet over all hops but the slowest, which the transfer counts already; and the last ACK's way back. */
function pathLatencyNs(
  dataPath: LinkDirection[],
  ackPath: LinkDirection[],
  wireBytes: number,
  ackBytes: number,
): number {
  let sumNs = 0;
  let slowestNs = 0;
  for (const link of dataPath) {
    const transmitNs = link.transmitNs(wireBytes);
    sumNs += transmitNs + link.delayNs;
    slowestNs = Math.max(slowestNs, transmitNs);
  }
  for (const link of ackPath) sumNs += link.transmitNs(ackBytes) + link.delayNs;
  return sumNs - slowestNs;
}

function linkDirections(source: PacketCase, rounding: 'peer' | 'exact'): Map<string, LinkDirection> {
  const directions = new Map<string, LinkDirection>();
  for (const { a, b, gbps, delay_ns: delayNs } of source.topology.links) {
    const exactNs = (bytes: number): number => bytes / (gbps * BYTES_PER_NS_PER_GBPS);
    const transmitNs =
      rounding === 'exact' ? exactNs : (bytes: number) => Math.max(1, Math.floor(exactNs(bytes)));
    directions.set(`${a}>${b}`, { index: directions.size, delayNs, transmitNs });
    directions.set(`${b}>${a}`, { index: directions.size, delayNs, transmitNs });
  }
  return directions;
}

function placeOf(places: Map<number, number>, id: number, pointer: string): number {
  const place = places.get(id);
  if (place === undefined) throw InputError.at(pointer, `no flow has the id ${id}`);
  return place;
}

function hops(directions: Map<string, LinkDirection>, path: number[], pointer: string): LinkDirection[] {
  return path.slice(1).map((node, index) => {
    const direction = directions.get(`${path[index]}>${node}`);
    if (direction === undefined)
      throw InputError.at(pointer, `no link from node ${path[index]} to node ${node}`);
    return direction;
  });
}
