/**
 * What a hole of known length costs a sender, to the retransmission timer's tick.
 */
import { describe, expect, it } from '@jest/globals';
import { oneWire, samplesOf, seriesOf, simulatedFabric } from '../../../test/support/simulated-fabric.js';

const HOLE_FROM_NS = 2e9;
const impairment = {
  type: 'blackhole',
  link: 'link:host-1/nic-0--leaf-1/p1',
  fromPort: 'port:host-1/nic-0',
} as const;

interface Outcome {
  /** Time from the hole's start to the end of the step it interrupted, less the step's usual time, s. */
  stalledS: number;
  edgeStalledS: number;
  diedS: number | undefined;
  timeouts: number;
  adaptive: number;
  exceeded: number;
  /** Bytes that left the sending port and never reached its peer. */
  vanishedBytes: number;
}

async function sendThroughHole(settings: object, holeNs: number, untilNs: number): Promise<Outcome> {
  const fabric = simulatedFabric({ ...oneWire, settings, telemetry: { pollSpread: '0s' } });
  await fabric.startJobs();
  await fabric.advance(HOLE_FROM_NS);
  const saved = await fabric.readBack(impairment);
  await fabric.apply('hole', impairment);
  await fabric.advance(HOLE_FROM_NS + holeNs);
  await fabric.revert('hole', impairment, saved);
  await fabric.advance(untilNs);
  const evidence = await fabric.observe({ fromNs: 0, toNs: untilNs });
  const steps = samplesOf(evidence, 'job_step_time_s', 'job:sender');
  const usualS = steps[0][1];
  const interrupted = steps.find(([timeS]) => timeS > HOLE_FROM_NS / 1e9);
  const last = (metric: string, element = 'nic:host-1/nic-0'): number =>
    seriesOf(evidence, metric, element).values.at(-1)!;
  return {
    stalledS: interrupted === undefined ? Infinity : interrupted[1] - usualS,
    edgeStalledS: seriesOf(evidence, 'edge_stalled_s', 'edge:sender/0-1').values.at(-1)!,
    diedS: samplesOf(evidence, 'job_state', 'job:sender').find(([, state]) => state === 0)?.[0],
    timeouts: last('nic_local_ack_timeouts'),
    adaptive: last('nic_adaptive_retransmissions'),
    exceeded: last('nic_retries_exceeded'),
    vanishedBytes: last('port_tx_bytes', 'port:host-1/nic-0') - last('port_rx_bytes', 'port:leaf-1/p1'),
  };
}

const fixed = { adaptiveRetransmission: false };

describe('a QP whose path vanishes', () => {
  it('resumes at its first expiry after a 1 s hole, 4.29 s for T = 20', async () => {
    const outcome = await sendThroughHole({ ...fixed, ackTimeoutExponent: 20 }, 1e9, 10e9);
    expect(outcome.stalledS).toBeCloseTo(4.294967296, 6);
    expect(outcome.edgeStalledS).toBeCloseTo(4.294967296, 9);
    expect(outcome.timeouts).toBe(1);
    expect(outcome.diedS).toBeUndefined();
  });

  it('resumes within 0.07 s of the repair for T = 14', async () => {
    const outcome = await sendThroughHole({ ...fixed, ackTimeoutExponent: 14, retries: 20 }, 1e9, 10e9);
    expect(outcome.stalledS).toBeGreaterThan(1);
    expect(outcome.stalledS).toBeLessThan(1.07);
    // The fifteenth expiry of 67.1 ms is the first past 1 s.
    expect(outcome.stalledS).toBeCloseTo(15 * 0.067108864, 6);
    expect(outcome.timeouts).toBe(15);
    // 400G over two links with 500 ns each way and one switch: what was in flight, then one packet for each try that failed.
    const bytesPerNs = 50;
    const roundTripNs = 4 * 500 + 2 * 500 + 4178 / bytesPerNs + (2 * 86) / bytesPerNs;
    const windowPackets = Math.ceil((bytesPerNs * roundTripNs) / 4178);
    expect(outcome.vanishedBytes / 4178).toBeCloseTo(windowPackets + 14, 3);
  });

  it('gives up at the eighth expiry with 7 retries and takes the job along', async () => {
    const outcome = await sendThroughHole({ ...fixed, ackTimeoutExponent: 14, retries: 7 }, 1e9, 10e9);
    expect(outcome.diedS).toBeCloseTo(2 + 8 * 0.067108864, 9);
    expect(outcome.exceeded).toBe(1);
    expect(outcome.stalledS).toBe(Infinity);
  });

  it('kills the job 34.4 s after the stall for T = 20', async () => {
    const outcome = await sendThroughHole({ ...fixed, ackTimeoutExponent: 20 }, 50e9, 60e9);
    expect(outcome.diedS).toBeCloseTo(2 + 34.359738368, 9);
  });

  it('tries at growing intervals with the adaptive timer, and gives up after retries × timeout', async () => {
    const short = await sendThroughHole({}, 1e9, 10e9);
    // 4.096 ms × (2^8 - 1): the first try past 1 s.
    expect(short.stalledS).toBeCloseTo(0.004096 * 255, 6);
    expect(short.adaptive).toBe(8);
    expect(short.timeouts).toBe(0);
    const long = await sendThroughHole({}, 50e9, 60e9);
    expect(long.diedS).toBeCloseTo(2 + 30.064771072, 9);
  });
});
