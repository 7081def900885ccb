/**
 * What the congestion equilibrium is asked and what it answers: flows on link directions, switch classes, steady state.
 *
 * The engine moves flows at constant rates between events; this says which rates, queues, marks, pauses and drops hold
 * while nothing changes. Amounts are bytes and bytes/ns. Words as in DCQCN (Zhu et al., SIGCOMM 2015), IEEE 802.1Qbb
 * and shared-buffer switches with dynamic thresholds (Choudhury and Hahne 1998).
 * Not modelled: order of packets, several packet sizes.
 */
import type { DcqcnSettings, MarkingCurve } from '../../fluid/network.js';

export type { MarkingCurve };

/** One class (priority) at one switch. */
export interface SwitchClassSettings {
  /** False: no pause is ever sent, what finds no room is dropped. */
  pfc: boolean;
  /** Room per ingress port for what is under way when a pause is sent, bytes. */
  headroomBytes: number;
  /** Share of the free buffer that one ingress port (lossless) or egress queue (lossy) may take, > 0. */
  freeShare: number;
  /** Bytes of each ingress port that never count as shared. */
  reserveBytes: number;
  /** A pause ends once the use is this far below the threshold, bytes; default 3072. */
  resumeOffsetBytes?: number;
  /** Absent: the class's queues never mark. */
  marking?: MarkingCurve;
}

/** Reaction point and what the notification point adds to it. */
export interface EquilibriumDcqcn extends DcqcnSettings {
  /** A receiver sends at most one CNP per QP in this time, ns; default 50 µs. */
  cnpIntervalNs?: number;
  /** Byte counter of the increase, bytes; default Infinity, no byte counter. */
  byteCounterBytes?: number;
}

export interface EquilibriumNetwork {
  /** 2 × links. */
  directions: number;
  /** Device at either end, by direction. */
  fromDevice: Int32Array;
  toDevice: Int32Array;
  /** By device: 1 for a switch. */
  isSwitch: Uint8Array;
  /** bytes/ns by direction; may change between solves. */
  capacity: Float64Array;
  /** One way, ns, by direction; include the switch latency of the far end. */
  delayNs: Float64Array;
  /** By device: all of a switch's buffer. */
  bufferBytes: Float64Array;
  switchClass(device: number, classIndex: number): SwitchClassSettings;
  /**
   * bytes/ns that the receiver at the end of a direction accepts of a class: Infinity normally, 0 for a NIC that pauses
   * without end, less than the capacity for a slow one.
   */
  accepts(direction: number, classIndex: number): number;
  /** As `accepts`, for all classes together: a slow host side; default Infinity. */
  acceptsAll?(direction: number): number;
  dcqcn: EquilibriumDcqcn | null;
  /** Wire size of a full data packet. */
  packetBytes: number;
  classes: number;
  /** By class: weight among classes with a backlog on one link; default 1 for all. */
  weights?: ArrayLike<number>;
  /** By class: 1 for one that is served before all others, the highest class first; default 0 for all. */
  strict?: ArrayLike<number>;
  /** By direction: factor on `freeShare` of the ingress port at its end; default 1 for all. */
  freeShareFactor?: Float64Array;
  /** How long a go-back-N receiver waits until it repeats the NACK of a gap, ns; default 500 µs. */
  nackRepeatNs?: number;
}

/** Ways of a flow's QPs, one after the other in flat arrays. */
export interface EquilibriumPaths {
  /** QPs. */
  count: number;
  /** Link directions in sending order, first the sending NIC's own; path p has `links[starts[p] .. starts[p + 1])`. */
  links: Int32Array;
  /** `count + 1` places. */
  starts: Int32Array;
  /** Bytes that the QP sends per byte of the flow's variable. */
  weights: Float64Array;
}

/** One variable of the engine: a coupled collective, a point-to-point flow, an injected load. */
export interface EquilibriumFlow {
  /**
   * As in the max-min solver, each link once; entries at or above `network.directions` are no link directions. What a
   * coefficient has beyond the paths' weights (ACKs, repeats) takes capacity without queueing for it.
   */
  links: Int32Array;
  coefficients: Float64Array;
  count: number;
  classIndex: number;
  /** bytes/ns of the variable if nothing in the fabric held it: host side, scale-up, cap. Sending NICs may be left out. */
  potential: number;
  /** QPs that send. */
  qps: number;
  paths: EquilibriumPaths;
}

/**
 * The steady state. Arrays are reused by the next solve and may be longer than what counts. Queues that hold nobody may
 * be left out, and stand at 0: they carry what flows send over them.
 * "By queue" is by (class, direction): classIndex × directions + direction.
 */
export interface EquilibriumResult {
  /** Something is contended, held by a pause or dropped; if false only `rate` is worth reading. */
  congested: boolean;
  /** By flow: useful bytes/ns of its variable. */
  rate: Float64Array;
  /** By queue: wire bytes/ns that arrive at the egress queue and that leave it, repeats included. */
  arrivalRate: Float64Array;
  carriedRate: Float64Array;
  /** By queue: the data in what leaves, ACKs left out. */
  carriedDataRate: Float64Array;
  /** By queue: mean bytes waiting, and the most that a watermark shows. */
  queueBytes: Float64Array;
  queueMaxBytes: Float64Array;
  /** By queue: share of the packets that leave marked by this queue. */
  markRatio: Float64Array;
  /** By queue: share of the time the direction's sender is held by pauses from the far end, and pauses begun per ns. */
  pausedShare: Float64Array;
  pausesPerNs: Float64Array;
  /** By queue: share of what arrives at the egress queue that is dropped for want of buffer. */
  dropRatio: Float64Array;
  /** By (class, direction): bytes/ns dropped on arrival over this direction, at the switch at its end. */
  discardRate: Float64Array;
  /** By device: buffer in use beyond the reserves, mean bytes, and its most. */
  bufferBytes: Float64Array;
  bufferMaxBytes: Float64Array;
  /**
   * By device: free buffer at which the fullest of its ports or queues would be at its threshold, Infinity where one is;
   * and the bytes that all share. Only of `devices`.
   */
  bufferNeededBytes: Float64Array;
  bufferSharedBytes: Float64Array;
  /** Switches with queues of these flows, `deviceCount` of them, each once. */
  devices: Int32Array;
  deviceCount: number;
  /** First path of each flow in the arrays by path. */
  pathStart: Int32Array;
  /** By path: share of the packets that arrive marked, and CNPs per ns that its receiver sends. */
  pathMarkRatio: Float64Array;
  pathCnpPerNs: Float64Array;
  /** By path: wire bytes sent per useful byte, 1 without loss; and the share of packets lost. */
  pathSentRatio: Float64Array;
  pathLossRatio: Float64Array;
  /** Directions with anything to tell, `touchedCount` of them. */
  touched: Int32Array;
  touchedCount: number;
}
