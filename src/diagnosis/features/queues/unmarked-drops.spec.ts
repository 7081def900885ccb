import { describe, expect, it } from '@jest/globals';
import { queueId } from '../../../core/elements.js';
import { buildTopology, topologySchema } from '../../../model/topology/topology-spec.js';
import { evidenceOf, polled } from '../../testing/polled.js';
import { Context } from '../../series/context.js';
import { dropsUnmarked } from './unmarked-drops.js';

const topology = buildTopology(
  topologySchema.parse({ builder: 'leaf-spine', leaves: 2, spines: 2, hostsPerLeaf: 2, gpusPerHost: 1 }),
);
const leaf = topology.devices.find(({ name }) => name === 'leaf-1')!;
const queue = queueId(topology.ports[leaf.ports[0]].name, 3);
const SECONDS = 20;
const FROM_S = 10;

/** A queue that marks 500 packets a second, and from 10 s on drops `drops` and marks `marks` of them instead. */
function verdictOn(drops: number, marks: number, readsMarks = true): boolean | null {
  const since = (second: number): number => Math.max(0, second - FROM_S);
  const series = [
    polled('queue_drop_packets', queue, SECONDS, (second) => drops * since(second)),
    ...(readsMarks
      ? [
          polled(
            'queue_ecn_marked_packets',
            queue,
            SECONDS,
            (second) => 500 * Math.min(second, FROM_S) + marks * since(second),
          ),
        ]
      : []),
  ];
  const context = new Context({ topology, jobs: [], evidence: evidenceOf(series, SECONDS) });
  return dropsUnmarked(context, leaf.index);
}

describe('drops of a switch', () => {
  it('that its queues did not announce by marks are unmarked', () => {
    expect(verdictOn(1000, 0)).toBe(true);
    expect(verdictOn(1000, 10)).toBe(true);
  });

  it('beside plenty of marks are those of a queue that was marked and overflowed in spite of it', () => {
    expect(verdictOn(1000, 500)).toBe(false);
  });

  it('say nothing where they are few, or nobody read the marks', () => {
    expect(verdictOn(0, 0)).toBeNull();
    expect(verdictOn(5, 0)).toBeNull();
    expect(verdictOn(1000, 0, false)).toBeNull();
  });
});
