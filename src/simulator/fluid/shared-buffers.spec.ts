import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { CongestionNetwork } from './network.js';
import { SharedBuffers } from './shared-buffers.js';

const HEADROOM_BYTES = 37_500;
const RESERVE_BYTES = 4096;
const BUFFER_BYTES = 2 ** 20;

function network(lossless: boolean): CongestionNetwork {
  const ingress = { headroomBytes: HEADROOM_BYTES, freeShare: 1 / 8 };
  const into = (from: number) => ({ from, to: 2, packetNs: 83, ackNs: 4, delayNs: 1000, ingress });
  const buffer = {
    bufferBytes: BUFFER_BYTES,
    reserveBytes: RESERVE_BYTES,
    resumeOffsetBytes: 3072,
    lossless,
  };
  return {
    links: [into(0), into(1)],
    switches: [null, null, buffer],
    packetBytes: 1048,
    ackBytes: 60,
    dcqcn: null,
    nackRepeatNs: 500_000,
  };
}

/** Shared use u at which one port alone pauses: u = (S - u) / 8. */
const THRESHOLD_BYTES = (BUFFER_BYTES - 2 * (HEADROOM_BYTES + RESERVE_BYTES)) / 9;

function fill(buffers: SharedBuffers, link: number, bytes: number): void {
  for (let sent = 0; sent < bytes; sent += 100) buffers.admit(link, Math.min(100, bytes - sent));
}

describe('a shared buffer', () => {
  it('pauses a port when its use reaches its share of what is free, and not before', () => {
    const buffers = new SharedBuffers(network(true));
    fill(buffers, 0, RESERVE_BYTES + THRESHOLD_BYTES - 100);
    expect(buffers.decide(0)).toBe(0);
    fill(buffers, 0, 200);
    expect(buffers.decide(0)).toBe(1);
    expect(buffers.decide(0)).toBe(0);
    expect(buffers.decide(1)).toBe(0);
  });

  it('lets a port go on once its headroom is empty and its use the offset below the threshold', () => {
    const buffers = new SharedBuffers(network(true));
    fill(buffers, 0, RESERVE_BYTES + THRESHOLD_BYTES + 1000);
    expect(buffers.decide(0)).toBe(1);
    buffers.release(0, 1200);
    expect(buffers.decide(0)).toBe(0);
    buffers.release(0, 3000);
    expect(buffers.decide(0)).toBe(-1);
  });

  it('drops nothing while the headroom lasts, and what is beyond it', () => {
    const buffers = new SharedBuffers(network(true));
    fill(buffers, 0, RESERVE_BYTES + THRESHOLD_BYTES);
    expect(buffers.droppedBytes[0]).toBe(0);
    fill(buffers, 0, HEADROOM_BYTES - 200);
    expect(buffers.droppedBytes[0]).toBe(0);
    fill(buffers, 0, 1200);
    expect(buffers.droppedBytes[0]).toBeGreaterThan(800);
  });

  it('without PFC drops at the threshold, which is higher by the headrooms, and never pauses', () => {
    const buffers = new SharedBuffers(network(false));
    const thresholdBytes = (BUFFER_BYTES - 2 * RESERVE_BYTES) / 9;
    fill(buffers, 0, RESERVE_BYTES + thresholdBytes - 100);
    expect(buffers.droppedBytes[0]).toBe(0);
    fill(buffers, 0, 1100);
    expect(buffers.droppedBytes[0]).toBeGreaterThan(800);
    expect(buffers.decide(0)).toBe(0);
  });

  it('holds what was admitted and not released, and is empty at the end', () => {
    const amounts = fc.array(fc.tuple(fc.nat(1), fc.integer({ min: 1, max: 20_000 })), { maxLength: 80 });
    fc.assert(
      fc.property(amounts, (arrivals) => {
        const buffers = new SharedBuffers(network(true));
        const held = [0, 0];
        for (const [link, bytes] of arrivals) {
          const droppedBefore = buffers.droppedBytes[link];
          const admitted = buffers.admit(link, bytes);
          held[link] += admitted;
          expect(admitted + buffers.droppedBytes[link] - droppedBefore).toBeCloseTo(bytes, 6);
          expect(buffers.ingressBytes[link] + buffers.headroomBytes[link]).toBeCloseTo(held[link], 6);
        }
        held.forEach((bytes, link) => buffers.release(link, bytes));
        expect(buffers.sharedUse(2)).toBeCloseTo(0, 6);
        expect(buffers.ingressBytes[0] + buffers.ingressBytes[1]).toBeCloseTo(0, 6);
      }),
    );
  });
});
