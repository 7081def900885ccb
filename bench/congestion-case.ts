/**
 * A case of the packet-level peer as a congested network: its switches, its DCQCN and PFC settings, its ways.
 *
 * Everything comes from the case's own settings by the peer's published rules: pause threshold a share of the free
 * buffer (an eighth for a port at host speed, doubled per doubling of the port's rate), headroom of three one-way
 * delays, 4 KiB reserve, 3 KiB resume offset; marking curve by port rate; timers and steps of the reaction point.
 * Nothing is fitted to a case. Data and ACKs take the recorded ways; after a link goes down, the peer's hash over
 * what is left. Refused: congestion control other than DCQCN or none, loss per packet, losses of other kinds.
 */
import { z } from 'zod';
import { InputError, toPointer } from '../src/core/problem.js';
import { BYTES_PER_NS_PER_GBPS } from '../src/core/units.js';
import type {
  CongestionFlow,
  CongestionLink,
  CongestionNetwork,
  DcqcnSettings,
  LinksDown,
  MarkingCurve,
} from '../src/simulator/fluid/network.js';
import { PeerRouting } from './peer-routing.js';

const RESERVE_BYTES = 4096;
const RESUME_OFFSET_BYTES = 3072;
const HOST_SHIFT = 3;
const NACK_REPEAT_NS = 500_000;
const MEBIBYTE = 2 ** 20;

const megabits = z
  .string()
  .regex(/^[\d.]+Mb\/s$/)
  .transform((text) => (parseFloat(text) / 1000) * BYTES_PER_NS_PER_GBPS);

/** "2 25000000000 100 100000000000 400": count, then rate in bit/s and value by turns. */
const byRate = z.string().transform((text, context) => {
  const numbers = text.trim().split(/\s+/).map(Number);
  const [count, ...pairs] = numbers;
  if (numbers.some(Number.isNaN) || pairs.length !== 2 * count) {
    context.addIssue({ code: 'custom', message: 'a count, then a rate in bit/s and a value by turns' });
    return z.NEVER;
  }
  return new Map(Array.from({ length: count }, (_, index) => [pairs[2 * index] / 1e9, pairs[2 * index + 1]]));
});

const congestionCase = z.object({
  name: z.string(),
  cc: z.string(),
  topology: z.object({
    hosts: z.array(z.number().int()),
    switches: z.array(z.number().int()),
    links: z.array(
      z.object({
        a: z.number().int(),
        b: z.number().int(),
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
  settings: z.object({
    ENABLE_QCN: z.number(),
    CC_MODE: z.number(),
    ALPHA_RESUME_INTERVAL: z.number().positive(),
    RATE_DECREASE_INTERVAL: z.number().positive(),
    RP_TIMER: z.number().positive(),
    CLAMP_TARGET_RATE: z.number(),
    EWMA_GAIN: z.number().positive(),
    FAST_RECOVERY_TIMES: z.number(),
    RATE_AI: megabits,
    RATE_HAI: megabits,
    MIN_RATE: megabits,
    KMIN_MAP: byRate,
    KMAX_MAP: byRate,
    PMAX_MAP: byRate,
    BUFFER_SIZE: z.number().positive(),
  }),
  faults: z
    .array(z.object({ kind: z.string(), at_ns: z.number(), a: z.number(), b: z.number() }))
    .default([]),
  flows: z.array(
    z.object({
      id: z.number(),
      src: z.number(),
      dst: z.number(),
      bytes: z.number().positive(),
      start_ns: z.number().nonnegative(),
      start_after: z.array(z.number()).optional(),
      udp_sport: z.number().default(10_000),
      udp_dport: z.number().default(100),
      path: z.array(z.number()).min(2),
      ack_path: z.array(z.number()).min(2),
      fct_ns: z.number().nullable(),
    }),
  ),
  result: z.object({ makespan_ns: z.number() }),
  perf: z.object({ hops_data: z.number().optional() }).optional(),
});

/** The fields of a peer case that the congestion model needs. */
export type CongestionCase = z.infer<typeof congestionCase>;

/** @throws InputError with a pointer to each field that is missing or unreadable */
export function parseCongestionCase(document: unknown): CongestionCase {
  const parsed = congestionCase.safeParse(document);
  if (parsed.success) return parsed.data;
  throw new InputError(
    parsed.error.issues.map((issue) => ({ pointer: toPointer(issue.path), message: issue.message })),
  );
}

/** Whether marks can occur at all: with Kmin beyond the buffer, what acts is PFC alone. */
export function isPauseOnly({ settings }: CongestionCase): boolean {
  const bufferBytes = settings.BUFFER_SIZE * MEBIBYTE;
  return settings.ENABLE_QCN === 0 || [...settings.KMIN_MAP.values()].every((kb) => kb * 1000 > bufferBytes);
}

export interface CongestionScene {
  network: CongestionNetwork;
  flows: CongestionFlow[];
  down?: LinksDown;
}

/** @throws InputError for what the model does not express */
export function congestionScene(source: CongestionCase): CongestionScene {
  if (source.settings.CC_MODE !== 1)
    throw InputError.at('/settings/CC_MODE', 'congestion control other than DCQCN');
  const lossy = source.topology.links.findIndex((link) => link.packet_loss > 0);
  if (lossy >= 0) throw InputError.at(`/topology/links/${lossy}/packet_loss`, 'random loss of packets');
  const { links, indexOf } = directions(source);
  const ways = (nodes: number[], pointer: string): number[] =>
    nodes.slice(1).map((node, index) => {
      const link = indexOf.get(`${nodes[index]}>${node}`);
      if (link === undefined) throw InputError.at(pointer, `no link from node ${nodes[index]} to ${node}`);
      return link;
    });
  const { data_payload: payloadBytes, data_wire: packetBytes, ack_wire: ackBytes } = source.packet;
  const places = new Map(source.flows.map(({ id }, place) => [id, place]));
  const flows = source.flows.map((flow, place): CongestionFlow => {
    const packets = Math.ceil(flow.bytes / payloadBytes);
    const missing = (packets * payloadBytes - flow.bytes) / packetBytes;
    return {
      path: ways(flow.path, `/flows/${place}/path`),
      ackPath: ways(flow.ack_path, `/flows/${place}/ack_path`),
      packets: packets - missing,
      // Measured starts of dependent flows are results, not inputs.
      startNs: flow.start_after === undefined ? flow.start_ns : 0,
      startAfter: flow.start_after?.map((id) => places.get(id) ?? -1),
    };
  });
  const nodes = Math.max(...source.topology.hosts, ...source.topology.switches) + 1;
  const isSwitch = new Set(source.topology.switches);
  const buffer = {
    bufferBytes: source.settings.BUFFER_SIZE * MEBIBYTE,
    reserveBytes: RESERVE_BYTES,
    resumeOffsetBytes: RESUME_OFFSET_BYTES,
    lossless: true,
  };
  return {
    network: {
      links,
      switches: Array.from({ length: nodes }, (_, node) => (isSwitch.has(node) ? buffer : null)),
      packetBytes,
      ackBytes,
      dcqcn: source.settings.ENABLE_QCN === 0 ? null : reactionPoint(source),
      nackRepeatNs: NACK_REPEAT_NS,
      wholeNs: true,
    },
    flows,
    down: linksDown(source, indexOf, ways),
  };
}

function reactionPoint({ settings }: CongestionCase): DcqcnSettings {
  return {
    alphaIntervalNs: settings.ALPHA_RESUME_INTERVAL * 1000,
    decreaseIntervalNs: settings.RATE_DECREASE_INTERVAL * 1000,
    increaseIntervalNs: settings.RP_TIMER * 1000,
    gain: settings.EWMA_GAIN,
    fastRecoveryTimes: settings.FAST_RECOVERY_TIMES,
    additiveIncrease: settings.RATE_AI,
    hyperIncrease: settings.RATE_HAI,
    minRate: settings.MIN_RATE,
    clampTargetRate: settings.CLAMP_TARGET_RATE === 1,
  };
}

function directions(source: CongestionCase): { links: CongestionLink[]; indexOf: Map<string, number> } {
  const isHost = new Set(source.topology.hosts);
  const { data_wire: packetBytes, ack_wire: ackBytes } = source.packet;
  const hostGbps = Math.min(
    ...source.topology.links.filter(({ a, b }) => isHost.has(a) || isHost.has(b)).map(({ gbps }) => gbps),
  );
  const indexOf = new Map<string, number>();
  const links: CongestionLink[] = [];
  source.topology.links.forEach(({ a, b, gbps, delay_ns: delayNs }, place) => {
    const rate = gbps * BYTES_PER_NS_PER_GBPS;
    const wholeNs = (bytes: number): number => Math.max(1, Math.floor(bytes / rate));
    const doublings = Math.max(0, Math.floor(Math.log2(gbps / hostGbps)));
    for (const [from, to] of [
      [a, b],
      [b, a],
    ]) {
      indexOf.set(`${from}>${to}`, links.length);
      links.push({
        from,
        to,
        packetNs: wholeNs(packetBytes),
        ackNs: wholeNs(ackBytes),
        delayNs,
        marking: isHost.has(from) ? undefined : markingCurve(source, gbps, place),
        ingress: { headroomBytes: 3 * rate * delayNs, freeShare: 2 ** (doublings - HOST_SHIFT) },
      });
    }
  });
  return { links, indexOf };
}

function markingCurve({ settings }: CongestionCase, gbps: number, place: number): MarkingCurve | undefined {
  if (settings.ENABLE_QCN === 0) return undefined;
  const [kmin, kmax, pmax] = [settings.KMIN_MAP, settings.KMAX_MAP, settings.PMAX_MAP].map((map) =>
    map.get(gbps),
  );
  if (kmin === undefined || kmax === undefined || pmax === undefined)
    throw InputError.at(`/topology/links/${place}/gbps`, `no marking thresholds for ${gbps} Gb/s`);
  return { kminBytes: kmin * 1000, kmaxBytes: kmax * 1000, pmax };
}

function linksDown(
  source: CongestionCase,
  indexOf: Map<string, number>,
  ways: (nodes: number[], pointer: string) => number[],
): LinksDown | undefined {
  if (source.faults.length === 0) return undefined;
  const other = source.faults.findIndex(({ kind }) => kind !== 'link_down');
  if (other >= 0)
    throw InputError.at(`/faults/${other}/kind`, `a fault of kind ${source.faults[other].kind}`);
  if (source.faults.length > 1) throw InputError.at('/faults', 'more than one link down');
  const [{ at_ns: atNs, a, b }] = source.faults;
  const routing = new PeerRouting(source.topology, { a, b });
  const rerouted = (old: number[], sourcePort: number, targetPort: number, pointer: string) => {
    const now = routing.path(old[0], old[old.length - 1], sourcePort, targetPort);
    return now.join() === old.join() ? undefined : ways(now, pointer);
  };
  return {
    atNs,
    links: [indexOf.get(`${a}>${b}`)!, indexOf.get(`${b}>${a}`)!],
    reroutes: source.flows.map((flow, place) => ({
      flow: place,
      path: rerouted(flow.path, flow.udp_sport, flow.udp_dport, `/flows/${place}/path`),
      ackPath: rerouted(flow.ack_path, flow.udp_dport, flow.udp_sport, `/flows/${place}/ack_path`),
    })),
  };
}
