import { describe, expect, it } from '@jest/globals';
import type { Series } from '../../model/telemetry/series.js';
import { peerPort } from '../../model/topology/model.js';
import { buildTopology, topologySchema } from '../../model/topology/topology-spec.js';
import { observePauseLoops } from '../features/queues/pause-loops.js';
import { Context } from '../series/context.js';
import { diagnose } from '../index.js';
import { evidenceOf, polled } from '../testing/polled.js';

const SECONDS = 40;
const FROM_S = 20;
const topology = buildTopology(
  topologySchema.parse({ builder: 'leaf-spine', leaves: 3, spines: 2, hostsPerLeaf: 1, gpusPerHost: 1 }),
);

/** The egress port of one device towards another. */
function towards(from: string, to: string): number {
  const device = topology.devices.find(({ name }) => name === from)!;
  return device.ports.find(
    (port) => topology.devices[topology.ports[peerPort(topology, port)].device].name === to,
  )!;
}

interface Port {
  path: readonly [from: string, to: string];
  /** Share of each second for which it is held, and bytes per second that it sends all the same. */
  held?: number;
  sends?: number;
  waiting?: number;
}

function series({ path: [from, to], held = 1, sends = 0, waiting = 1e6 }: Port): Series[] {
  const port = `port:${topology.ports[towards(from, to)].name}`;
  const since = (second: number): number => Math.max(0, second - FROM_S);
  return [
    polled('port_pause_rx_s', port, SECONDS, (second) => held * since(second)),
    polled(
      'port_tx_bytes',
      port,
      SECONDS,
      (second) => 1e9 * Math.min(second, FROM_S) + sends * since(second),
    ),
    polled(`queue_depth_bytes`, `queue:${port.slice(5)}/3`, SECONDS, (second) =>
      second > FROM_S ? waiting : 0,
    ),
  ];
}

const input = (ports: readonly Port[]) => ({
  topology,
  jobs: [],
  evidence: evidenceOf(ports.flatMap(series), SECONDS),
});
const loops = (ports: readonly Port[]) => observePauseLoops(new Context(input(ports)));

const CIRCLE: Port['path'][] = [
  ['leaf-1', 'spine-1'],
  ['spine-1', 'leaf-2'],
  ['leaf-2', 'spine-2'],
  ['spine-2', 'leaf-1'],
];
const circle = (change: Partial<Port> = {}, at = -1): Port[] =>
  CIRCLE.map((path, index) => ({ path, ...(index === at ? change : {}) }));

describe('ports that wait for each other', () => {
  it('in a circle are found, each of them, from the poll in which they stood', () => {
    const [loop, ...more] = loops(circle());
    expect(more).toEqual([]);
    expect([...loop.ports].sort()).toEqual(CIRCLE.map(([from, to]) => towards(from, to)).sort());
    expect(loop.during).toEqual({ fromNs: FROM_S * 1e9, toNs: SECONDS * 1e9 });
  });

  it('are named as a deadlock, with every port in the chain', () => {
    const verdict = diagnose(input(circle()));
    expect(verdict.culprits).toHaveLength(1);
    expect(verdict.culprits[0]).toMatchObject({
      kind: 'pause-deadlock',
      element: { type: 'pattern', id: 'pattern:pause-deadlock' },
      onset_s: FROM_S,
    });
    expect(verdict.culprits[0].probability).toBeGreaterThan(0.9);
    for (const [from, to] of CIRCLE) {
      const name = topology.ports[towards(from, to)].name;
      expect(verdict.chain.map(({ element }) => element.id)).toContain(`port:${name}`);
    }
  });

  it.each([
    ['is open at one place', circle().slice(1)],
    ['has a port that sends', circle({ sends: 1e6 }, 2)],
    ['has a port with nothing to send', circle({ waiting: 0 }, 1)],
    ['has a port that is held half of the time', circle({ held: 0.5 }, 0)],
    ['goes back over the same link only', [{ path: CIRCLE[0] }, { path: ['spine-1', 'leaf-1'] as const }]],
    ['waits for a host outside of it as well', [...circle(), { path: ['leaf-2', 'host-2'] as const }]],
  ])('are no deadlock where the circle %s', (_, ports) => {
    expect(loops(ports)).toEqual([]);
  });

  it('upstream of a circle are no part of it', () => {
    const [loop] = loops([...circle(), { path: ['leaf-3', 'spine-1'] }]);
    expect(loop.ports).not.toContain(towards('leaf-3', 'spine-1'));
    expect(loop.ports).toHaveLength(4);
  });
});
