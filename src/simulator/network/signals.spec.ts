/**
 * Bit errors on a wire: what FEC counts, what is lost, what that costs go-back-N, and when the link drops.
 */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  codewordErrorRatio,
  correctedCodewordRatio,
  FEC_PAYLOAD_BITS,
  FEC_SYMBOLS,
  frameLossRatio,
} from '../../model/telemetry/fec.js';
import {
  oneWire,
  samplesOf,
  simulatedFabric,
  valueAt,
  type Impairment,
} from '../../../test/support/simulated-fabric.js';

const LINK = 'link:host-1/nic-0--leaf-1/p1';
const SENDER = 'port:host-1/nic-0';
const RECEIVER = 'port:leaf-1/p1';
const FRAME_BYTES = 4096 + 82;

const errors = (bitErrorRatio: number, more: Partial<Extract<Impairment, { type: 'bit-errors' }>> = {}) =>
  ({
    type: 'bit-errors',
    link: LINK,
    fromPort: SENDER,
    bitErrorRatio,
    laneShare: 1,
    cause: 'connector',
    ...more,
  }) satisfies Impairment;

async function evidenceUnder(impairment: Impairment | undefined, settings = {}, seed = 1) {
  const fabric = simulatedFabric({ ...oneWire, settings }, seed);
  await fabric.startJobs();
  if (impairment !== undefined) await fabric.apply('errors', impairment);
  await fabric.advance(10e9);
  return fabric.observe({ fromNs: 0, toNs: 10e9 });
}

const goodput = (evidence: Awaited<ReturnType<typeof evidenceUnder>>): number =>
  valueAt(evidence, 'edge_tx_bytes', 'edge:sender/0-1', 10e9);

describe('bit errors', () => {
  it('are counted at the receiver as FEC would: corrected and uncorrected codewords by their shares', async () => {
    const ber = 1e-3;
    const evidence = await evidenceUnder(errors(ber));
    const codewords = (10e9 * 400) / FEC_PAYLOAD_BITS;
    const count = (metric: string, port: string): number => valueAt(evidence, metric, port, 10e9);
    const corrected = count('port_fec_corrected_codewords', RECEIVER);
    expect(corrected / (codewords * correctedCodewordRatio(ber))).toBeCloseTo(1, 2);
    const uncorrected = count('port_fec_uncorrected_codewords', RECEIVER);
    expect(uncorrected / (codewords * codewordErrorRatio(ber))).toBeCloseTo(1, 2);
    expect(valueAt(evidence, 'port_fec_pre_ber', RECEIVER, 5e9)).toBeCloseTo(ber, 5);
    // The other direction is as healthy as ever.
    expect(count('port_fec_uncorrected_codewords', SENDER)).toBe(0);
    expect(valueAt(evidence, 'port_fec_pre_ber', SENDER, 5e9)).toBeLessThan(1e-8);
  });

  it('cost nothing until FEC fails, and then a share of frames as dropped at the receiver', async () => {
    const [clean, below] = [await evidenceUnder(undefined), await evidenceUnder(errors(2.4e-4))];
    expect(goodput(below) / goodput(clean)).toBeCloseTo(1, 8);
    expect(valueAt(below, 'port_rx_errors', RECEIVER, 10e9)).toBe(0);
    const above = await evidenceUnder(errors(1e-3));
    const frames = valueAt(above, 'port_rx_bytes', RECEIVER, 10e9) / FRAME_BYTES;
    const dropped = valueAt(above, 'port_rx_errors', RECEIVER, 10e9);
    expect(dropped / (frames * frameLossRatio(1e-3, FRAME_BYTES))).toBeCloseTo(1, 1);
    expect(goodput(above)).toBeLessThan(goodput(clean));
  });

  it('slow a queue pair by 1 + p·W, with W packets in a round trip, when timeouts are short', async () => {
    // The shortest timer there is, so that what is left is the waste.
    const settings = { adaptiveBase: '1us', adaptiveFactor: 1 };
    const [clean, lossy] = [
      await evidenceUnder(undefined, settings),
      await evidenceUnder(errors(1e-3), settings),
    ];
    const p = frameLossRatio(1e-3, FRAME_BYTES);
    const sent = valueAt(lossy, 'nic_out_of_sequence', 'nic:host-2/nic-0', 10e9);
    const losses = valueAt(lossy, 'nic_packet_sequence_errors', 'nic:host-1/nic-0', 10e9);
    const window = sent / losses;
    expect(window).toBeGreaterThan(2);
    expect(goodput(clean) / goodput(lossy)).toBeCloseTo(1 + (p / (1 - p)) * window, 2);
    const packets = goodput(lossy) / 4096;
    expect(losses / (packets * (p / (1 - p)))).toBeCloseTo(1, 1);
  });

  it('cost more the longer the timer is that notices a lost retransmission', async () => {
    const short = await evidenceUnder(errors(1e-3), { adaptiveBase: '1us', adaptiveFactor: 1 });
    const usual = await evidenceUnder(errors(1e-3));
    const long = await evidenceUnder(errors(1e-3), { adaptiveRetransmission: false });
    expect(goodput(usual)).toBeLessThan(goodput(short));
    expect(goodput(long)).toBeLessThan(goodput(usual));
    const timeouts = (metric: string, evidence: typeof usual): number =>
      valueAt(evidence, metric, 'nic:host-1/nic-0', 10e9);
    expect(timeouts('nic_adaptive_retransmissions', usual)).toBeGreaterThan(0);
    expect(timeouts('nic_local_ack_timeouts', usual)).toBe(0);
    expect(timeouts('nic_local_ack_timeouts', long)).toBeGreaterThan(0);
  });

  it('hurt the more, the more there are, and never help', async () => {
    const ratios = fc.tuple(
      fc.double({ min: 1e-6, max: 1.2e-3, noNaN: true }),
      fc.double({ min: 1e-6, max: 1.2e-3, noNaN: true }),
    );
    await fc.assert(
      fc.asyncProperty(ratios, async ([one, other]) => {
        // Flaps would add their own luck.
        const settings = { carrierDetection: '1s' };
        const [less, more] = [Math.min(one, other), Math.max(one, other)];
        const [better, worse] = [
          await evidenceUnder(errors(less), settings),
          await evidenceUnder(errors(more), settings),
        ];
        expect(goodput(worse)).toBeLessThanOrEqual(goodput(better) * (1 + 1e-9));
      }),
      { numRuns: 8 },
    );
  }, 60_000);

  it('are never more than symbols that arrive, and none arrives while the port is down', async () => {
    const ratio = fc.oneof(fc.constant(0.5), fc.double({ min: 1e-4, max: 0.5, noNaN: true }));
    await fc.assert(
      fc.asyncProperty(ratio, async (bitErrorRatio) => {
        const evidence = await evidenceUnder(errors(bitErrorRatio));
        const read = (metric: string): [number, number][] => samplesOf(evidence, metric, RECEIVER);
        const status = read('port_oper_status');
        const wasUp = (fromS: number, toS: number): boolean =>
          valueAt(evidence, 'port_oper_status', RECEIVER, fromS * 1e9) === 1 ||
          status.some(([seconds, up]) => seconds > fromS && seconds <= toS && up === 1);
        const [corrected, uncorrected, wrong, errored] = [
          'port_fec_corrected_codewords',
          'port_fec_uncorrected_codewords',
          'port_fec_symbol_errors',
          'port_rx_errors',
        ].map(read);
        for (let at = 1; at < wrong.length; at++) {
          const gain = (samples: [number, number][]): number => samples[at][1] - samples[at - 1][1];
          const [fromS, toS] = [wrong[at - 1][0], wrong[at][0]];
          const codewords = ((toS - fromS) * 400e9) / FEC_PAYLOAD_BITS;
          expect(gain(corrected) + gain(uncorrected)).toBeLessThanOrEqual(codewords + 1);
          expect(gain(wrong)).toBeLessThanOrEqual((codewords + 1) * FEC_SYMBOLS);
          if (wasUp(fromS, toS)) continue;
          expect([corrected, uncorrected, wrong, errored].map(gain)).toEqual([0, 0, 0, 0]);
        }
      }),
      { numRuns: 4 },
    );
  });

  it('on one lane of four are a quarter as many', async () => {
    const evidence = await evidenceUnder(errors(8e-4, { laneShare: 0.25 }));
    expect(valueAt(evidence, 'port_fec_pre_ber', RECEIVER, 5e9)).toBeCloseTo(2e-4, 5);
    expect(valueAt(evidence, 'port_fec_uncorrected_codewords', RECEIVER, 10e9)).toBe(0);
  });

  it('beyond what alignment survives make the link flap at both ends, until they are gone', async () => {
    const fabric = simulatedFabric(oneWire);
    await fabric.startJobs();
    const impairment = errors(2e-3);
    const saved = await fabric.readBack(impairment);
    await fabric.apply('errors', impairment);
    await fabric.advance(10e9);
    await fabric.revert('errors', impairment, saved);
    await fabric.advance(30e9);
    const evidence = await fabric.observe({ fromNs: 0, toNs: 30e9 });
    for (const port of [SENDER, RECEIVER]) {
      const flaps = valueAt(evidence, 'port_link_down_events', port, 10e9);
      expect(flaps).toBeGreaterThan(0);
      expect(valueAt(evidence, 'port_oper_status', port, 30e9)).toBe(1);
      const after = samplesOf(evidence, 'port_link_down_events', port).filter(([seconds]) => seconds > 11);
      expect(new Set(after.map(([, count]) => count)).size).toBe(1);
    }
    const steps = (atNs: number): number => valueAt(evidence, 'edge_tx_bytes', 'edge:sender/0-1', atNs);
    expect(steps(30e9)).toBeGreaterThan(steps(20e9));
  });

  it.each([
    ['connector', { optic_rx_power_dbm: [RECEIVER], optic_tx_power_dbm: [], optic_bias_ma: [] }],
    ['laser', { optic_rx_power_dbm: [RECEIVER], optic_tx_power_dbm: [SENDER], optic_bias_ma: [SENDER] }],
    ['serdes', { optic_rx_power_dbm: [], optic_tx_power_dbm: [], optic_bias_ma: [] }],
  ] as const)('by a bad %s show in light where it is lost and nowhere else', async (cause, expected) => {
    const [clean, bad] = [await evidenceUnder(undefined), await evidenceUnder(errors(1e-4, { cause }))];
    for (const [metric, ports] of Object.entries(expected)) {
      const moved = clean.series
        .filter((series) => series.metric === metric)
        .map(({ element }) => element)
        .filter((element) => {
          const change = valueAt(bad, metric, element, 10e9) - valueAt(clean, metric, element, 10e9);
          return Math.abs(change) > 0.5;
        });
      expect(moved).toEqual([...ports]);
    }
  });
});
