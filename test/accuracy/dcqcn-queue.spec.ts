/**
 * The queue that DCQCN keeps, beside the one sampled at packet level: long flows, published parameters, 40G.
 *
 * With two flows the fluid theory holds (20 KB); with sixteen the control oscillates and the mean is far below its
 * fixed point, which a model of rates alone would miss.
 */
import { describe, expect, it } from '@jest/globals';
import { congestionScene, parseCongestionCase } from '../../bench/congestion-case.js';
import { runCongestion } from '../../src/simulator/fluid/congestion-run.js';
import { caseJson } from './cases.js';

interface Recorded {
  topology: { switches: number[] };
  flows: { src: number; dst: number }[];
}
const FROM_NS = 50e6;
const TO_NS = 95e6;

const { rows } = caseJson('dcqcn_queue_ns3_vs_fluid.json') as { rows: { N: number; mean_KB: number }[] };

/** The case with its only possible ways, which it does not record. */
function sceneOf(senders: number) {
  const document = caseJson(`hpcc_dcqcn15_N${senders}_40G.json`) as Recorded;
  const [center] = document.topology.switches;
  const flows = document.flows.map((flow) => ({
    ...flow,
    path: [flow.src, center, flow.dst],
    ack_path: [flow.dst, center, flow.src],
  }));
  return congestionScene(parseCongestionCase({ ...document, flows, result: { makespan_ns: TO_NS } }));
}

describe('the queue of long DCQCN flows', () => {
  it.each([2, 16])('of %i senders is as long in the mean as recorded, within 10 %%', (senders) => {
    const { network, flows } = sceneOf(senders);
    const [, bottleneck] = flows[0].path;
    const untilNs = [FROM_NS, TO_NS];
    const [before, after] = untilNs.map((ns) => runCongestion(network, flows, { untilNs: ns }).links);
    const meanBytes = (after.queueByteNs[bottleneck] - before.queueByteNs[bottleneck]) / (TO_NS - FROM_NS);
    const recordedBytes = 1000 * rows.find(({ N }) => N === senders)!.mean_KB;
    expect(Math.abs(meanBytes / recordedBytes - 1)).toBeLessThan(0.1);
    expect(after.pauses.every((pauses) => pauses === 0)).toBe(true);
  });
});
