/**
 * The same congested network twice: as the stepwise fluid runs it, and as the equilibrium asks for it.
 *
 * Built by hand as a two-tier Clos, or taken from a recorded case. `longRun` lets endless flows run in the fluid and
 * takes means over a window, which is what a steady state has to match.
 */
import { runCongestion } from '../../src/simulator/fluid/congestion-run.js';
import type {
  CongestionFlow,
  CongestionNetwork,
  DcqcnSettings,
  MarkingCurve,
} from '../../src/simulator/fluid/network.js';
import type {
  EquilibriumFlow,
  EquilibriumNetwork,
} from '../../src/simulator/congestion/equilibrium/model.js';

export const GBPS = 1 / 8;

export interface ClosOptions {
  leaves: number;
  spines: number;
  hosts: number;
  hostGbps?: number;
  upGbps?: number;
  bufferMib?: number;
  marking?: MarkingCurve;
  dcqcn?: DcqcnSettings;
  lossless?: boolean;
  /** A link from its leaf to this host that is slower: a slow receiver for the fluid. */
  slowHost?: { host: number; gbps: number };
}

/** Reaction point in the published timer form, steps as at 100G. */
export const reactionPoint: DcqcnSettings = {
  alphaIntervalNs: 50e3,
  decreaseIntervalNs: 50e3,
  increaseIntervalNs: 55e3,
  gain: 1 / 256,
  fastRecoveryTimes: 1,
  additiveIncrease: 0.02 * GBPS,
  hyperIncrease: 0.2 * GBPS,
  minRate: 0.1 * GBPS,
  clampTargetRate: false,
};

const PACKET_BYTES = 1048;
const ACK_BYTES = 60;
const DELAY_NS = 1000;

/** Hosts first, then leaves, then spines. */
export function clos(options: ClosOptions) {
  const { leaves, spines, hosts, hostGbps = 100, upGbps = 100, bufferMib = 16, marking, dcqcn } = options;
  const count = leaves * hosts;
  const links: CongestionNetwork['links'][number][] = [];
  const place = new Map<string, number>();
  const isSwitch = (node: number): boolean => node >= count;
  const cable = (a: number, b: number, gbps: number): void => {
    for (const [from, to] of [
      [a, b],
      [b, a],
    ]) {
      const slow = to === options.slowHost?.host ? options.slowHost.gbps : gbps;
      const rate = slow * GBPS;
      place.set(`${from}>${to}`, links.length);
      links.push({
        from,
        to,
        packetNs: PACKET_BYTES / rate,
        ackNs: ACK_BYTES / rate,
        delayNs: DELAY_NS,
        marking: isSwitch(from) ? marking : undefined,
        ingress: isSwitch(to)
          ? { headroomBytes: 3 * rate * DELAY_NS + 2 * PACKET_BYTES, freeShare: 1 / 8 }
          : undefined,
      });
    }
  };
  for (let leaf = 0; leaf < leaves; leaf++) {
    for (let host = 0; host < hosts; host++) cable(leaf * hosts + host, count + leaf, hostGbps);
    for (let spine = 0; spine < spines; spine++) cable(count + leaf, count + leaves + spine, upGbps);
  }
  const buffer = {
    bufferBytes: bufferMib * 2 ** 20,
    reserveBytes: 4096,
    resumeOffsetBytes: 3072,
    lossless: options.lossless ?? true,
  };
  const nodes = count + leaves + spines;
  const network: CongestionNetwork = {
    links,
    switches: Array.from({ length: nodes }, (_, node) => (isSwitch(node) ? buffer : null)),
    packetBytes: PACKET_BYTES,
    ackBytes: ACK_BYTES,
    dcqcn: dcqcn ?? null,
    nackRepeatNs: 500e3,
  };
  const path = (from: number, to: number, spine: number): number[] => {
    const [up, down] = [from, to].map((host) => count + Math.floor(host / hosts));
    const way = up === down ? [from, up, to] : [from, up, count + leaves + spine, down, to];
    return way.slice(1).map((node, hop) => place.get(`${way[hop]}>${node}`)!);
  };
  const flow = (from: number, to: number, spine = 0): CongestionFlow => ({
    path: path(from, to, spine),
    ackPath: path(to, from, spine),
    packets: 1e9,
  });
  return { network, flow, link: (from: number, to: number) => place.get(`${from}>${to}`)! };
}

/** The equilibrium's view of a network of the fluid, and of its flows. */
export function twin(network: CongestionNetwork, flows: readonly CongestionFlow[]) {
  const { links, switches } = network;
  const shares = links.flatMap(({ ingress }) => (ingress ? [ingress.freeShare] : []));
  const least = Math.min(...shares);
  const classOf = switches.map((buffer, node) => {
    const room = links.flatMap(({ to, ingress }) => (to === node && ingress ? [ingress.headroomBytes] : []));
    return {
      pfc: buffer?.lossless ?? false,
      headroomBytes: Math.max(0, ...room) + 2 * network.packetBytes,
      freeShare: least,
      reserveBytes: buffer?.reserveBytes ?? 0,
      resumeOffsetBytes: buffer?.resumeOffsetBytes,
      marking: links.find(({ from, marking }) => from === node && marking)?.marking,
    };
  });
  const asked: EquilibriumNetwork = {
    directions: links.length,
    fromDevice: Int32Array.from(links, ({ from }) => from),
    toDevice: Int32Array.from(links, ({ to }) => to),
    isSwitch: Uint8Array.from(switches, (buffer) => Number(buffer !== null)),
    capacity: Float64Array.from(links, ({ packetNs }) => network.packetBytes / packetNs),
    delayNs: Float64Array.from(links, ({ delayNs }) => delayNs),
    bufferBytes: Float64Array.from(switches, (buffer) => buffer?.bufferBytes ?? 0),
    switchClass: (device) => classOf[device],
    accepts: () => Infinity,
    dcqcn: network.dcqcn,
    packetBytes: network.packetBytes,
    classes: 1,
    freeShareFactor: Float64Array.from(links, ({ ingress }) => (ingress?.freeShare ?? least) / least),
  };
  const ackShare = links[0].ackNs / links[0].packetNs;
  return { network: asked, flows: flows.map((flow) => pointToPoint(flow, ackShare)) };
}

function pointToPoint({ path, ackPath }: CongestionFlow, ackShare: number): EquilibriumFlow {
  const bytes = new Map<number, number>();
  for (const link of path) bytes.set(link, 1);
  for (const link of ackPath) bytes.set(link, (bytes.get(link) ?? 0) + ackShare);
  const links = [...bytes.keys()].sort((a, b) => a - b);
  return {
    links: Int32Array.from(links),
    coefficients: Float64Array.from(links, (link) => bytes.get(link)!),
    count: links.length,
    classIndex: 0,
    potential: Infinity,
    qps: 1,
    paths: {
      count: 1,
      links: Int32Array.from(path),
      starts: Int32Array.from([0, path.length]),
      weights: Float64Array.from([1]),
    },
  };
}

/** Means of endless flows in the fluid over a window. */
export function longRun(
  network: CongestionNetwork,
  flows: readonly CongestionFlow[],
  fromNs: number,
  toNs: number,
) {
  const endless = flows.map(({ path, ackPath }) => ({ path, ackPath, packets: 1e9 }));
  const [before, after] = [fromNs, toNs].map((untilNs) => runCongestion(network, endless, { untilNs }));
  const spanNs = toNs - fromNs;
  const mean = (one: ArrayLike<number>, other: ArrayLike<number>): number[] =>
    Array.from(one, (value, index) => (value - other[index]) / spanNs);
  return {
    /** bytes/ns sent by flow. */
    rate: mean(after.sentPackets, before.sentPackets).map((packets) => packets * network.packetBytes),
    queueBytes: mean(after.links.queueByteNs, before.links.queueByteNs),
    pausedShare: mean(after.links.pausedNs, before.links.pausedNs),
    pausesPerNs: mean(after.links.pauses, before.links.pauses),
    sentRate: mean(after.links.sentBytes, before.links.sentBytes),
    markedPerNs: mean(after.links.markedPackets, before.links.markedPackets),
    /** Decrease intervals with a mark, by flow: notifications, were one sent in each. */
    cutsPerNs: mean(after.cuts, before.cuts),
  };
}
