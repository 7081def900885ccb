/**
 * How DCQCN swings about its fixed point: the true mean queue, marks and use of a link that N like flows share.
 *
 * The fixed point is what the published drifts rest at; with more than a few flows, long feedback, or a marking curve
 * that starts near zero, the loop swings instead (Zhu et al., CoNEXT 2016, phase margins; packet-level runs: with 16
 * flows at 40 Gb/s the queue averages 60 KB about a fixed point at 200 KB, and runs dry). So the very reaction points of
 * the congestion model run here on one queue: rates in, a clock in half round trips, marks heard a round trip later,
 * from the fixed point on until means settle. Results are ratios, remembered by what the loop depends on.
 * Not modelled: several queues that swing together, flows of different rates.
 */
import { Prng } from '../../../core/prng.js';
import { markHazard } from '../../fluid/marking.js';
import { ReactionPoints } from '../../fluid/reaction-points.js';
import type { EquilibriumDcqcn, MarkingCurve } from './model.js';
import { queueOfMarkRatio, restingMarkRatio } from './reaction-curve.js';

const { exp, expm1, log, max, min, round } = Math;

const DEFAULT_CNP_INTERVAL_NS = 50e3;
/** Length of a run in increase periods, at least so many feedback times; its first part settles. */
const PERIODS = 200;
const FEEDBACKS = 40;
const SETTLE_SHARE = 0.3;
/** Steps times flows that a run may cost, and its fewest steps; over far links steps get longer rather than fewer. */
const MOST_WORK = 400_000;
const FEWEST_STEPS = 4000;
/** A loop that uses less of its link than this counts as using this much: a search divides by it. */
const LEAST_USABLE = 0.02;
/** Flows beyond these count as steps of so much; above the last number all loops are alike. */
const EXACT_FLOWS = 8;
const FLOW_STEP = 1.25;
const MOST_FLOWS = 96;
const DELAY_STEP = 1.25;

export interface Swing {
  /** Mean queue and near-peak queue (95 %), bytes. */
  queueBytes: number;
  peakBytes: number;
  /** Share of packets marked. */
  markRatio: number;
  /** Share of the capacity that is used. */
  usable: number;
  /** CNPs per ns of one flow over what marks alone and evenly spread would give, 0..1. */
  cnpRatio: number;
  /** Share of the packets marked at the fixed point, and its queue. */
  restMarkRatio: number;
  restBytes: number;
}

/** What the loop depends on. */
export interface Loop {
  flows: number;
  /** bytes/ns of the link, and of each sender's NIC. */
  capacity: number;
  lineRate: number;
  marking: MarkingCurve;
  /** From a mark to the rate that answers it, without queueing, ns. */
  feedbackNs: number;
  /** Most that can wait: what does not fit is held at its senders, or dropped. */
  roomBytes: number;
}

export class Oscillation {
  private readonly known = new Map<number, { loop: Loop; swing: Swing }[]>();

  constructor(
    private readonly settings: EquilibriumDcqcn,
    private readonly packetBytes: number,
  ) {}

  /** Remembered for loops that are all but alike; flows and feedback are rounded to steps. */
  swing({ flows, capacity, lineRate, marking, feedbackNs, roomBytes }: Loop): Swing {
    const countedFlows = roundedFlows(flows);
    const countedNs = exp(round(log(max(1, feedbackNs)) / log(DELAY_STEP)) * log(DELAY_STEP));
    const key = countedFlows * 1e6 + round(countedNs);
    let loops = this.known.get(key);
    if (loops === undefined) {
      loops = [];
      this.known.set(key, loops);
    }
    for (const { loop, swing } of loops) {
      const sameLink = loop.capacity === capacity && loop.lineRate === lineRate;
      if (sameLink && loop.roomBytes === roomBytes && sameCurve(loop.marking, marking)) return swing;
    }
    const link = { capacity, lineRate, marking: { ...marking }, roomBytes };
    const loop = { ...link, flows: countedFlows, feedbackNs: countedNs };
    const swing = runLoop(loop, this.settings, this.packetBytes);
    loops.push({ loop, swing });
    return swing;
  }
}

const sameCurve = (one: MarkingCurve, other: MarkingCurve): boolean =>
  one.kminBytes === other.kminBytes && one.kmaxBytes === other.kmaxBytes && one.pmax === other.pmax;

function roundedFlows(flows: number): number {
  if (flows <= EXACT_FLOWS) return max(1, round(flows));
  const steps = round(log(flows / EXACT_FLOWS) / log(FLOW_STEP));
  return round(min(MOST_FLOWS, EXACT_FLOWS * FLOW_STEP ** steps));
}

function runLoop(loop: Loop, settings: EquilibriumDcqcn, packetBytes: number): Swing {
  const { flows, capacity, lineRate, marking, feedbackNs } = loop;
  const rest = restingMarkRatio(min(lineRate, capacity / flows), settings, packetBytes);
  const restBytes = queueOfMarkRatio(marking, rest);
  const { stepNs, steps } = pacing(flows, feedbackNs, settings.increaseIntervalNs);
  const meter = new LoopRun(loop, settings, packetBytes, stepNs, restBytes, rest);
  meter.advance(round(SETTLE_SHARE * steps), false);
  meter.advance(round((1 - SETTLE_SHARE) * steps), true);
  return meter.read(rest, restBytes);
}

/** Steps of half a feedback time, or of an increase period where that is shorter, so that no cut is left out. */
function pacing(flows: number, feedbackNs: number, increaseNs: number): { stepNs: number; steps: number } {
  const affordable = max(FEWEST_STEPS, MOST_WORK / flows);
  const stepNs = max(1, min(feedbackNs / 2, increaseNs));
  const least = FEEDBACKS * feedbackNs;
  const wanted = max(PERIODS * increaseNs, least) / stepNs;
  if (wanted <= affordable || least / stepNs <= affordable) {
    return { stepNs, steps: round(min(wanted, affordable)) };
  }
  return { stepNs: least / affordable, steps: round(affordable) };
}

class LoopRun {
  private readonly points: ReactionPoints;
  private readonly random: Prng;
  private readonly toNextMark: Float64Array;
  private readonly nextCnpNs: Float64Array;
  /** Hazards on their way back, by step. */
  private readonly heard: Float64Array;
  private queueBytes: number;
  private step = 0;
  private measured = 0;
  private queueSum = 0;
  private carriedSum = 0;
  private markedSum = 0;
  private cnps = 0;
  private readonly histogram = new Float64Array(256);

  constructor(
    private readonly loop: Loop,
    private readonly settings: EquilibriumDcqcn,
    private readonly packetBytes: number,
    private readonly stepNs: number,
    restBytes: number,
    restMark: number,
  ) {
    const { flows, capacity, lineRate, feedbackNs } = loop;
    this.points = new ReactionPoints(settings, new Float64Array(flows).fill(lineRate));
    this.random = new Prng(flows).stream('oscillation');
    this.toNextMark = new Float64Array(flows);
    this.nextCnpNs = new Float64Array(flows);
    this.heard = new Float64Array(max(1, round(feedbackNs / stepNs)));
    this.queueBytes = restBytes;
    const fair = min(lineRate, capacity / flows);
    const marksPerNs = (restMark * fair) / packetBytes;
    for (let flow = 0; flow < flows; flow++) {
      this.toNextMark[flow] = this.random.exponential(1);
      this.points.rate[flow] = fair;
      this.points.target[flow] = min(lineRate, fair * 1.01);
      this.points.alpha[flow] = -expm1(-marksPerNs * settings.alphaIntervalNs);
    }
  }

  advance(steps: number, measure: boolean): void {
    const { loop, points, stepNs, packetBytes, heard } = this;
    const { rate, nextNs } = points;
    const room = loop.capacity * stepNs;
    for (let end = this.step + steps; this.step < end; this.step++) {
      const nowNs = this.step * stepNs;
      const place = this.step % heard.length;
      const hazard = heard[place];
      let arrived = 0;
      for (let flow = 0; flow < rate.length; flow++) {
        if (nextNs[flow] <= nowNs) points.advance(flow, nowNs);
        const bytes = rate[flow] * stepNs;
        arrived += bytes;
        if (hazard > 0) this.hear(flow, (hazard * bytes) / packetBytes, nowNs, measure);
      }
      const carried = min(this.queueBytes + arrived, room);
      this.queueBytes = min(this.queueBytes + arrived - carried, loop.roomBytes);
      heard[place] = markHazard(loop.marking, this.queueBytes);
      if (measure) this.count(carried, heard[place]);
    }
  }

  read(restMarkRatio: number, restBytes: number): Swing {
    const { measured, loop, settings, packetBytes } = this;
    const spanNs = measured * this.stepNs;
    const markRatio = this.markedSum / max(1e-300, this.carriedSum);
    const usable = max(LEAST_USABLE, this.carriedSum / (loop.capacity * spanNs));
    const intervalNs = settings.cnpIntervalNs ?? DEFAULT_CNP_INTERVAL_NS;
    const marksPerNs = (markRatio * usable * loop.capacity) / loop.flows / packetBytes;
    const even = -expm1(-marksPerNs * intervalNs) / intervalNs;
    return {
      queueBytes: this.queueSum / measured,
      peakBytes: this.quantile(0.95),
      markRatio,
      usable,
      cnpRatio: even > 0 ? min(1, this.cnps / loop.flows / spanNs / even) : 1,
      restMarkRatio,
      restBytes,
    };
  }

  private hear(flow: number, hazard: number, nowNs: number, measure: boolean): void {
    this.toNextMark[flow] -= hazard;
    if (this.toNextMark[flow] > 0) return;
    this.toNextMark[flow] = this.random.exponential(1);
    this.points.mark(flow, nowNs);
    if (nowNs < this.nextCnpNs[flow]) return;
    this.nextCnpNs[flow] = nowNs + (this.settings.cnpIntervalNs ?? DEFAULT_CNP_INTERVAL_NS);
    if (measure) this.cnps++;
  }

  private count(carried: number, hazard: number): void {
    this.measured++;
    this.queueSum += this.queueBytes;
    this.carriedSum += carried;
    this.markedSum += -expm1(-hazard) * carried;
    const cells = this.histogram.length;
    const cell = (this.queueBytes / (2 * this.loop.marking.kmaxBytes)) * cells;
    this.histogram[min(cells - 1, Math.floor(cell))]++;
  }

  private quantile(share: number): number {
    let left = share * this.measured;
    let cell = 0;
    while (cell < this.histogram.length - 1 && left > this.histogram[cell]) left -= this.histogram[cell++];
    return ((cell + 0.5) / this.histogram.length) * 2 * this.loop.marking.kmaxBytes;
  }
}
