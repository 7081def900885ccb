/**
 * What the congestion model runs on: links, switch buffers, reaction points and explicit flows, in plain numbers.
 *
 * The words are those of the sources: marking curve and reaction point of DCQCN (Zhu et al., SIGCOMM 2015), dynamic
 * pause threshold, reserve and headroom as in shared-buffer switches (IEEE 802.1Qbb on a buffer with an alpha).
 * Amounts are counted in packets of one size, since every rule of the model speaks of packets; a flow's last short
 * packet is a fraction of one. Not modelled: several priorities, several packet sizes at once.
 */

/** Probability that a packet is marked: 0 up to Kmin, linear up to Pmax at Kmax, 1 above. */
export interface MarkingCurve {
  kminBytes: number;
  kmaxBytes: number;
  /** Probability at Kmax, 0..1. */
  pmax: number;
}

/** How the far end of a link accounts for what arrives, when it is a switch. */
export interface IngressSettings {
  /** Room for what is under way when a pause is sent, bytes. */
  headroomBytes: number;
  /** Share of the free buffer this port may take before it pauses (the "alpha" of switches), > 0. */
  freeShare: number;
}

/** One direction of a cable. */
export interface CongestionLink {
  from: number;
  to: number;
  /** Transmission time of a full data packet and of an ACK, ns. */
  packetNs: number;
  ackNs: number;
  /** Propagation, one way, ns. */
  delayNs: number;
  /** Absent: this egress queue never marks. */
  marking?: MarkingCurve;
  /** Absent: an ingress without limit, which never pauses. */
  ingress?: IngressSettings;
}

/** Buffer of a switch. */
export interface SwitchBuffer {
  /** All of it, headrooms and reserves included, bytes. */
  bufferBytes: number;
  /** Bytes of each ingress port that never count as shared. */
  reserveBytes: number;
  /** A pause ends once the use of the shared part is this far below the threshold, bytes. */
  resumeOffsetBytes: number;
  /** False: no pause is sent; what is over the threshold is dropped. */
  lossless: boolean;
}

/** Reaction point of a flow; rates in bytes/ns. */
export interface DcqcnSettings {
  alphaIntervalNs: number;
  decreaseIntervalNs: number;
  increaseIntervalNs: number;
  /** g. */
  gain: number;
  /** Increase periods that only move half-way to the target. */
  fastRecoveryTimes: number;
  additiveIncrease: number;
  hyperIncrease: number;
  minRate: number;
  /** True: every cut takes the rate before it as the new target, even if it has not risen since the last cut. */
  clampTargetRate: boolean;
}

/** The fabric; node ids are places in `switches`. */
export interface CongestionNetwork {
  links: readonly CongestionLink[];
  /** Per node: its buffer, or null for a host. */
  switches: readonly (SwitchBuffer | null)[];
  /** Wire sizes, bytes. */
  packetBytes: number;
  ackBytes: number;
  /** Null: senders stay at line rate. */
  dcqcn: DcqcnSettings | null;
  /** A receiver repeats the NACK of an open gap after this time, ns. */
  nackRepeatNs: number;
  /** True: a paced packet leaves after whole ns, rounded down, as in simulators that count whole ns. */
  wholeNs?: boolean;
}

/** One transfer; its id is its place in the list. */
export interface CongestionFlow {
  /** Places of links in sending order; an ACK per packet takes `ackPath`. */
  path: readonly number[];
  ackPath: readonly number[];
  /** Full packets, the last one as the fraction it is. */
  packets: number;
  /** Earliest start, ns; default 0. */
  startNs?: number;
  /** Flows whose senders must know that they are complete before this one starts. */
  startAfter?: readonly number[];
}

/** Links that go down for good, and the ways from then on. */
export interface LinksDown {
  atNs: number;
  links: readonly number[];
  /** New ways of flows that get one; they count from the switch where old and new part. */
  reroutes: readonly { flow: number; path?: readonly number[]; ackPath?: readonly number[] }[];
}
