/**
 * The rhythm of a pause: how often a port stops its sender, and what its headroom must take.
 *
 * A port that lets λ bytes/ns pass of a sender that could do S pauses at its threshold and resumes an offset below it.
 * Each signal takes a link's delay and one packet to be heard, and what is under way still comes, or does not yet: two
 * of those times. So the bytes it holds swing by A = offset + 2·S·d, up at S - λ, down at λ, and a period is
 * A·S / (λ·(S - λ)). Over the threshold come (S - λ)·2d and at worst, from a sender that was at full rate,
 * 2·S·d + packet; what exceeds the headroom is lost at every pause. Not modelled: several ports in step.
 */

export interface PauseRhythm {
  /** Pauses begun per ns. */
  pausesPerNs: number;
  /** Bytes held at most beyond the threshold. */
  overshootBytes: number;
  /** Share of what arrives that finds no headroom, 0..1. */
  lossRatio: number;
}

/**
 * @param senderRate bytes/ns between pauses
 * @param passRate bytes/ns on average, less than `senderRate`
 * @param signalNs from a decision to what the sender does next, arriving: one link delay and a packet each way
 * @param into receives the result, so that nothing is allocated
 */
export function pauseRhythm(
  senderRate: number,
  passRate: number,
  signalNs: number,
  resumeOffsetBytes: number,
  headroomBytes: number,
  into: PauseRhythm,
): void {
  const underWay = senderRate * 2 * signalNs;
  const spare = Math.max(0, senderRate - passRate);
  const swing = resumeOffsetBytes + underWay;
  into.overshootBytes = Math.min(headroomBytes, spare * 2 * signalNs);
  if (spare <= senderRate * 1e-6 || passRate <= 0) {
    into.pausesPerNs = 0;
    into.lossRatio = 0;
    return;
  }
  into.pausesPerNs = (passRate * spare) / (swing * senderRate);
  into.lossRatio = Math.min(1, (into.pausesPerNs * Math.max(0, underWay - headroomBytes)) / passRate);
}
