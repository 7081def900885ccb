/**
 * What go-back-N wastes on a path that loses packets: counted per loss, not per packet.
 *
 * A lost packet costs itself and all that is sent until the NACK is back: W packets, one round trip. If the packet is
 * lost once more, the receiver keeps silent about a gap it has reported already and repeats its NACK only after a
 * timer: R packets in vain. To first order the mean of sent over needed is 1 + p·W + p²·R. A sample draws the
 * distance from loss to loss, so a run costs a few draws per loss, whatever its length.
 * Not modelled: a NACK that is lost itself (`nackLossRatio` 0 by default; as likely as a packet, it would double the
 * last term), and the retransmission timer that must help when the very last packets are lost.
 */
import { InputError } from '../../src/core/problem.js';
import type { Prng } from '../../src/core/prng.js';

// A module constant is read faster than a global where tests run in a sandbox.
const { ceil, floor, log1p, min } = Math;

export interface LossyTransfer {
  /** Packets to deliver. */
  packets: number;
  /** Probability that a packet is lost, 0..1. */
  lossRatio: number;
  /** Packets that a loss costs, the lost one included: see `packetsPerLoss`. */
  windowPackets: number;
  /** Packets sent until a receiver repeats its NACK. */
  repeatPackets: number;
  /** Probability that a NACK is lost; default 0. */
  nackLossRatio?: number;
}

/**
 * Packets sent from a lost one until its NACK is heard: the next packet must arrive to show the gap.
 *
 * @param packetNs transmission time of a packet; links store and forward
 */
export function packetsPerLoss(links: number, packetNs: number, ackNs: number, delayNs: number): number {
  const roundTripNs = packetNs + links * (packetNs + ackNs + 2 * delayNs);
  return ceil(roundTripNs / packetNs);
}

/** Mean of packets sent over packets needed, to second order in the loss ratio. */
export function meanSentRatio({ lossRatio, windowPackets, repeatPackets }: LossyTransfer): number {
  return 1 + lossRatio * windowPackets + lossRatio ** 2 * repeatPackets;
}

/**
 * Packets sent by one transfer, repeats included.
 *
 * @throws InputError for a loss ratio outside 0..1 (1 excluded: nothing would ever arrive)
 */
export function samplePacketsSent(transfer: LossyTransfer, random: Prng): number {
  const { packets, lossRatio, windowPackets, repeatPackets, nackLossRatio = 0 } = transfer;
  for (const [name, ratio] of Object.entries({ lossRatio, nackLossRatio })) {
    if (!(ratio >= 0 && ratio < 1))
      throw InputError.at(`/${name}`, `a ratio of ${ratio}; it lies between 0 and 1`);
  }
  if (lossRatio === 0) return packets;
  const failureRatio = 1 - (1 - lossRatio) * (1 - nackLossRatio);
  let left = packets;
  let sent = 0;
  for (;;) {
    const delivered = untilFailure(lossRatio, random);
    if (delivered >= left) return sent + left;
    left -= delivered;
    // Followers may be lost as well, and then the gap shows later.
    sent += delivered + min(left, windowPackets + untilSuccess(lossRatio, random));
    // A NACK and the packet it asks for must both get through, or the sender goes on in vain until the next NACK.
    sent += untilSuccess(failureRatio, random) * min(left, repeatPackets);
    // The packet is through now; it has been sent once more.
    left -= 1;
    sent += 1;
    if (left === 0) return sent;
  }
}

/** Successes before the first failure of a given probability. */
function untilFailure(probability: number, random: Prng): number {
  return floor(log1p(-random.uniform()) / log1p(-probability));
}

/** Failures before the first success, failures having the given probability. */
function untilSuccess(probability: number, random: Prng): number {
  return untilFailure(1 - probability, random);
}
