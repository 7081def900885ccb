/** The peak of a start, beside the stepwise fluid that runs it, and its limits. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { clos, reactionPoint } from '../../../../test/support/fluid-twin.js';
import { runCongestion } from '../../fluid/congestion-run.js';
import { onset } from './onset.js';

const marking = { kminBytes: 400e3, kmaxBytes: 1600e3, pmax: 0.2 };
const RATE = 12.5;
const FEEDBACK_NS = 4168;

describe('the start of many senders at once', () => {
  it.each([2, 8])('of %i piles up as much as in the fluid, within 25 %%', (senders) => {
    const net = clos({
      leaves: 1,
      spines: 1,
      hosts: senders + 1,
      bufferMib: 64,
      marking,
      dcqcn: reactionPoint,
    });
    const flows = Array.from({ length: senders }, (_, host) => net.flow(host, senders));
    const { links } = runCongestion(net.network, flows, { untilNs: 600e3 });
    const bottleneck = net.link(senders + 1, senders);
    const queue = {
      capacity: RATE,
      offeredRate: senders * RATE,
      flows: senders,
      feedbackNs: FEEDBACK_NS,
      marking,
    };
    const found = onset({ ...queue, ports: senders, thresholdBytes: Infinity }, reactionPoint, 1048);
    expect(Math.abs(found.peakBytes / links.peakBytes[bottleneck] - 1)).toBeLessThan(0.25);
    expect(found.pauses).toBe(0);
  });

  it('is nothing where all fits, and never piles up more than the ports may hold', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 64 }),
        fc.double({ min: 1e4, max: 1e7, noNaN: true }),
        fc.boolean(),
        (senders, thresholdBytes, reacts) => {
          const queue = {
            capacity: RATE,
            offeredRate: senders * RATE,
            flows: senders,
            feedbackNs: FEEDBACK_NS,
            ports: senders,
            thresholdBytes,
            marking,
          };
          const { peakBytes, pauses, pausedNs } = onset(queue, reacts ? reactionPoint : null, 1048);
          if (senders === 1) expect([peakBytes, pauses, pausedNs]).toEqual([0, 0, 0]);
          expect(peakBytes).toBeLessThanOrEqual(senders * thresholdBytes * (1 + 1e-9));
          expect(pauses > 0).toBe(pausedNs > 0);
        },
      ),
    );
  });
});
