/** `contention: fair`: equal shares for queue pairs that meet, and no queue that marks, pauses or drops. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { flowSimulator, nicOf, valueAt } from '../../../test/support/simulated-fabric.js';
import type { Evidence } from '../../model/telemetry/series.js';

const END_NS = 3e9;

/** Senders with so many queue pairs each towards host-1, which their links would fill several times over. */
function incast(queuePairs: readonly number[]): Evidence {
  const simulator = flowSimulator({
    topology: {
      ...{ builder: 'leaf-spine', leaves: 1, spines: 0, hostsPerLeaf: queuePairs.length + 1, gpusPerHost: 1 },
    },
    settings: { contention: 'fair', dcqcn: { on: false }, pfc: { on: false } },
    telemetry: { pollSpread: '0s' },
  });
  simulator.startJobs();
  queuePairs.forEach((pairs, index) => {
    const fromNics = [nicOf(simulator, `host-${index + 2}/nic-0`)];
    const toNic = nicOf(simulator, 'host-1/nic-0');
    simulator.injectTraffic(`load-${index}`, {
      fromNics,
      toNic,
      rateGbps: 400,
      priority: 3,
      queuePairs: pairs,
    });
  });
  simulator.advance(END_NS);
  return simulator.evidence(0, END_NS);
}

describe('fair contention', () => {
  it('shares a link by queue pairs, to its last byte', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 2, maxLength: 5 }), (queuePairs) => {
        const evidence = incast(queuePairs);
        const bytes = (metric: string, host: number): number =>
          valueAt(evidence, metric, `port:host-${host}/nic-0`, END_NS);
        const total = queuePairs.reduce((sum, pairs) => sum + pairs, 0);
        const arrived = bytes('port_rx_bytes', 1);
        expect(arrived / ((400 / 8) * END_NS)).toBeCloseTo(1, 2);
        queuePairs.forEach((pairs, index) => {
          expect(bytes('port_tx_bytes', index + 2) / arrived).toBeCloseTo(pairs / total, 2);
        });
      }),
      { numRuns: 8 },
    );
  });

  it('leaves no trace in queues', () => {
    const evidence = incast([2, 2, 2, 2]);
    for (const metric of [
      'queue_drop_packets',
      'queue_ecn_marked_packets',
      'queue_depth_max_bytes',
      'port_pause_tx_s',
    ]) {
      const worst = Math.max(
        0,
        ...evidence.series.filter((series) => series.metric === metric).flatMap(({ values }) => [...values]),
      );
      expect([metric, worst]).toEqual([metric, 0]);
    }
  });
});
