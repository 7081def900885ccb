import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { runCongestion, type CongestionResult } from './congestion-run.js';
import type { CongestionFlow, CongestionLink, CongestionNetwork, DcqcnSettings } from './network.js';

const PACKET_NS = 83;
const ACK_NS = 4;
const DELAY_NS = 1000;

const dcqcn: DcqcnSettings = {
  alphaIntervalNs: 55_000,
  decreaseIntervalNs: 50_000,
  increaseIntervalNs: 55_000,
  gain: 1 / 256,
  fastRecoveryTimes: 1,
  additiveIncrease: 0.0025,
  hyperIncrease: 0.025,
  minRate: 0.125,
  clampTargetRate: false,
};

interface Star {
  hosts: number;
  bufferMiB?: number;
  lossless?: boolean;
  marking?: CongestionLink['marking'];
  reaction?: DcqcnSettings | null;
}

/** Hosts 0..n-1 on switch n; link 2i goes up from host i, 2i + 1 down to it. */
function star({ hosts, bufferMiB = 8, lossless = true, marking, reaction = null }: Star): CongestionNetwork {
  const ingress = { headroomBytes: 37_500, freeShare: 1 / 8 };
  const cable = { packetNs: PACKET_NS, ackNs: ACK_NS, delayNs: DELAY_NS, ingress };
  const links = Array.from({ length: hosts }, (_, host): CongestionLink[] => [
    { from: host, to: hosts, ...cable },
    { from: hosts, to: host, ...cable, marking },
  ]).flat();
  const buffer = { bufferBytes: bufferMiB * 2 ** 20, reserveBytes: 4096, resumeOffsetBytes: 3072, lossless };
  return {
    links,
    switches: [...Array.from({ length: hosts }, () => null), buffer],
    packetBytes: 1048,
    ackBytes: 60,
    dcqcn: reaction,
    nackRepeatNs: 500_000,
  };
}

const flow = (
  from: number,
  to: number,
  packets: number,
  more: Partial<CongestionFlow> = {},
): CongestionFlow => ({
  path: [2 * from, 2 * to + 1],
  ackPath: [2 * to, 2 * from + 1],
  packets,
  ...more,
});

const incast = (senders: number, packets: number): CongestionFlow[] =>
  Array.from({ length: senders }, (_, sender) => flow(sender, senders, packets));

/** What comes into every egress queue and every switch goes out, waits or is lost. */
function expectConserved({ links, switches }: CongestionNetwork, { links: totals }: CongestionResult): void {
  const tolerance = 1e-7 * totals.sentBytes.reduce((sum, bytes) => sum + bytes, 1);
  const balance = switches.map(() => 0);
  links.forEach(({ from, to }, link) => {
    if (switches[from] !== null) {
      const out = totals.sentBytes[link] + totals.queuedBytes[link] + totals.lostBytes[link];
      expect(Math.abs(totals.queuedInBytes[link] - out)).toBeLessThan(tolerance);
      balance[from] -= totals.queuedInBytes[link];
    }
    const missing = totals.underWayBytes[link] + totals.lostUnderWayBytes[link] + totals.droppedBytes[link];
    balance[to] += totals.sentBytes[link] - missing;
  });
  switches.forEach((buffer, node) => {
    if (buffer !== null) expect(Math.abs(balance[node])).toBeLessThan(tolerance);
  });
}

describe('one flow alone', () => {
  it('takes (N + L - 1) packets, the delays both ways and L ACKs, whatever the step', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 3000 }),
        fc.double({ min: 100, max: 1083, noNaN: true }),
        fc.double({ min: 0, max: 5000, noNaN: true }),
        (packets, stepNs, startNs) => {
          const { finishNs } = runCongestion(star({ hosts: 2 }), [flow(0, 1, packets, { startNs })], {
            stepNs,
          });
          const alone = (packets + 1) * PACKET_NS + 4 * DELAY_NS + 2 * ACK_NS;
          expect(Math.abs(finishNs[0] - startNs - alone)).toBeLessThan(1e-3);
        },
      ),
      {
        numRuns: 25, // a packet that all but fits into its first step
        examples: [
          [1, 100, 617.000083],
          [1, 100, 617.0001],
          [1, 100, 660],
        ],
      },
    );
  });

  it('starts when the flow it waits for is known to be complete', () => {
    const flows = [flow(0, 1, 500), flow(1, 0, 500, { startAfter: [0] })];
    const { startNs, finishNs } = runCongestion(star({ hosts: 2 }), flows);
    expect(startNs[1]).toBe(finishNs[0]);
    expect(finishNs[1]).toBeCloseTo(2 * finishNs[0], 3);
  });
});

describe('senders at line rate into one port', () => {
  it('take one packet time for each packet of all, and pause each other instead of dropping', () => {
    const network = star({ hosts: 9 });
    const result = runCongestion(network, incast(8, 1000));
    expect(result.makespanNs).toBeCloseTo((8 * 1000 + 1) * PACKET_NS + 4 * DELAY_NS + 2 * ACK_NS, 3);
    expect(result.links.pauses.reduce((sum, pauses) => sum + pauses)).toBeGreaterThan(0);
    expect(result.links.droppedBytes.every((bytes) => bytes === 0)).toBe(true);
    expectConserved(network, result);
  });

  it('hold back a flow to an idle port only where they share a paused link', () => {
    // Host 0 sends to the busy port and to an idle one; host 9 sends to an idle one alone.
    const flows = [...incast(8, 2000), flow(0, 9, 300), flow(9, 7, 300)];
    const { finishNs } = runCongestion(star({ hosts: 10, bufferMiB: 1 }), flows);
    const alone = 301 * PACKET_NS + 4 * DELAY_NS + 2 * ACK_NS;
    expect(finishNs[9] / alone).toBeLessThan(1.15);
    expect(finishNs[8] / alone).toBeGreaterThan(3);
  });

  it('without PFC drop, send again what go-back-N asks for, and bytes still add up', () => {
    const network = star({ hosts: 5, bufferMiB: 1, lossless: false });
    const flows = incast(4, 600);
    const result = runCongestion(network, flows, { untilNs: 3e6 });
    expect(result.links.pauses.every((pauses) => pauses === 0)).toBe(true);
    expect(result.links.droppedBytes.reduce((sum, bytes) => sum + bytes)).toBeGreaterThan(1e5);
    expect(result.sentPackets.reduce((sum, packets) => sum + packets)).toBeGreaterThan(4 * 600);
    expectConserved(network, result);
  });

  it('add up at any moment, whoever sends to whom', () => {
    const pair = fc.tuple(fc.nat(4), fc.nat(4), fc.integer({ min: 1, max: 800 }));
    fc.assert(
      fc.property(
        fc.array(pair, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 200 }),
        (pairs, us) => {
          const network = star({ hosts: 5, bufferMiB: 1 });
          const flows = pairs
            .filter(([from, to]) => from !== to)
            .map(([from, to, packets]) => flow(from, to, packets));
          expectConserved(network, runCongestion(network, flows, { untilNs: us * 1000 }));
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe('with marks and reaction points', () => {
  const marking = { kminBytes: 50e3, kmaxBytes: 400e3, pmax: 0.2 };

  it('senders are told before a pause is needed', () => {
    const result = runCongestion(
      star({ hosts: 5, bufferMiB: 32, marking, reaction: dcqcn }),
      incast(4, 4000),
    );
    expect(result.marks.every((marks) => marks > 0)).toBe(true);
    expect(result.cuts.every((cuts) => cuts > 0)).toBe(true);
    expect(result.links.pauses.every((pauses) => pauses === 0)).toBe(true);
    expect(result.finishNs.every((ns) => ns < Infinity)).toBe(true);
  });

  it('nobody is told where nothing queues', () => {
    const network = star({ hosts: 4, marking, reaction: dcqcn });
    const { marks, links } = runCongestion(network, [flow(0, 1, 2000), flow(2, 3, 2000)]);
    expect([...marks]).toEqual([0, 0]);
    expect(links.markedPackets.every((packets) => packets === 0)).toBe(true);
  });

  it('the same seed gives the same bytes, another seed another draw', () => {
    const network = star({ hosts: 5, bufferMiB: 32, marking, reaction: dcqcn });
    const run = (seed: number) => [...runCongestion(network, incast(4, 2000), { seed }).finishNs];
    expect(run(7)).toEqual(run(7));
    expect(run(8)).not.toEqual(run(7));
  });
});

describe('a link that goes down', () => {
  /** Host 0 and host 1 with two switches (2, 3) between them: 0 - 2 - 1 and 0 - 3 - 1 share nothing but hosts. */
  it('loses what it carries, and the flow goes back and finishes on the other way', () => {
    const cable = { packetNs: PACKET_NS, ackNs: ACK_NS, delayNs: DELAY_NS };
    const ends = [
      [0, 2],
      [2, 3],
      [3, 1],
      [2, 4],
      [4, 3],
    ];
    const links = ends.flatMap(([from, to]) => [
      { from, to, ...cable },
      { from: to, to: from, ...cable },
    ]);
    const buffer = { bufferBytes: 2 ** 23, reserveBytes: 4096, resumeOffsetBytes: 3072, lossless: true };
    const network = { ...star({ hosts: 2 }), links, switches: [null, null, buffer, buffer, buffer] };
    const flows = [{ path: [0, 2, 4], ackPath: [5, 3, 1], packets: 2000 }];
    const reroutes = [{ flow: 0, path: [0, 6, 8, 4], ackPath: [5, 9, 7, 1] }];
    const result = runCongestion(network, flows, { down: { atNs: 50_000, links: [2, 3], reroutes } });
    expect(result.links.lostUnderWayBytes[2]).toBeGreaterThan(0);
    // Lost on one link, and sent in vain until the NACK is back: between one and three round trips.
    const excess = result.sentPackets[0] - 2000;
    expect(excess * PACKET_NS).toBeGreaterThan(4 * DELAY_NS);
    expect(excess * PACKET_NS).toBeLessThan(16 * DELAY_NS);
    expect(result.finishNs[0]).toBeLessThan((2000 + excess + 60) * PACKET_NS + 10 * DELAY_NS);
    expectConserved(network, result);
  });
});

describe('a network that can not be', () => {
  it('is refused with a pointer', () => {
    const network = star({ hosts: 3 });
    expect(() => runCongestion(network, [{ path: [0, 99], ackPath: [2, 1], packets: 1 }])).toThrow(
      '/flows/0/path/1: no link 99',
    );
    expect(() => runCongestion(network, [{ path: [0, 2], ackPath: [2, 1], packets: 1 }])).toThrow(
      '/flows/0/path/1: link 2 does not begin where link 0 ends',
    );
    expect(() => runCongestion(network, [flow(0, 1, 1, { startAfter: [3] })])).toThrow(
      '/flows/0/startAfter/0',
    );
  });
});
