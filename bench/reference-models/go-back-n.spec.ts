import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Prng } from '../../src/core/prng.js';
import { meanSentRatio, packetsPerLoss, samplePacketsSent, type LossyTransfer } from './go-back-n.js';

const transfer: LossyTransfer = { packets: 20_000, lossRatio: 0.01, windowPackets: 52, repeatPackets: 6024 };

function meanExcess(changes: Partial<LossyTransfer>, samples: number): number {
  const random = new Prng(11);
  let sum = 0;
  for (let index = 0; index < samples; index++)
    sum += samplePacketsSent({ ...transfer, ...changes }, random) / (changes.packets ?? transfer.packets) - 1;
  return sum / samples;
}

/** The same rules played packet by packet. */
function playedExcess(
  { packets, lossRatio, windowPackets, repeatPackets }: LossyTransfer,
  random: Prng,
): number {
  const lost = (): boolean => random.uniform() < lossRatio;
  let sent = 0;
  for (let packet = 0; packet < packets; packet++) {
    sent++;
    if (!lost()) continue;
    const left = packets - packet;
    let followers = 0;
    while (lost()) followers++;
    sent += Math.min(left, windowPackets + followers) - 1;
    while (lost()) sent += Math.min(left, repeatPackets);
    sent++;
  }
  return sent / packets - 1;
}

describe('go-back-N', () => {
  it('loses nothing on a clean path', () => {
    expect(samplePacketsSent({ ...transfer, lossRatio: 0 }, new Prng(1))).toBe(20_000);
  });

  it('wastes what is under way for every loss, in the mean', () => {
    const changes = { packets: 50_000, lossRatio: 1e-3, repeatPackets: 0 };
    expect(meanExcess(changes, 400) / (1e-3 * 52)).toBeCloseTo(1, 1);
  });

  it('wastes as much as the rules played packet by packet', () => {
    const random = new Prng(5);
    let played = 0;
    for (let index = 0; index < 150; index++) played += playedExcess(transfer, random) / 150;
    expect(Math.abs(meanExcess({}, 1000) / played - 1)).toBeLessThan(0.1);
  });

  it('nearly doubles the cost of repeated losses where NACKs are lost as well', () => {
    const alone = meanExcess({ windowPackets: 1 }, 1000);
    const both = meanExcess({ windowPackets: 1, nackLossRatio: 0.01 }, 1000);
    expect(both / alone).toBeGreaterThan(1.7);
    expect(both / alone).toBeLessThan(2.3);
  });

  it('sends each packet once at least, and the same number for the same seed', () => {
    const ratio = fc.double({ min: 0, max: 0.3, noNaN: true });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3000 }), ratio, fc.integer(), (packets, lossRatio, seed) => {
        const sent = samplePacketsSent({ ...transfer, packets, lossRatio }, new Prng(seed));
        expect(sent).toBeGreaterThanOrEqual(packets);
        expect(samplePacketsSent({ ...transfer, packets, lossRatio }, new Prng(seed))).toBe(sent);
      }),
    );
  });

  it('counts a round trip in packets: the lost one, the next that shows the gap, and the way of the NACK', () => {
    // 83 + 2 × (83 + 4 + 2000) = 4257 ns at 83 ns each.
    expect(packetsPerLoss(2, 83, 4, 1000)).toBe(52);
    expect(meanSentRatio(transfer)).toBeCloseTo(1 + 0.52 + 0.6024, 12);
  });

  it.each([-0.1, 1, NaN])('refuses a loss ratio of %d', (lossRatio) => {
    expect(() => samplePacketsSent({ ...transfer, lossRatio }, new Prng(1))).toThrow('/lossRatio');
  });
});
