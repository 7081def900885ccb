/**
 * Signs that something was lost, whether or not an element can be blamed for it.
 *
 * Byte counters polled apart hide short losses, yet transport and training feel them: a NIC waits in vain for an
 * acknowledgement, a connection stands still, one step takes many times as long. Each sign is read by itself and not as
 * a share of the window, so that a longer run hides none. Packets repeated here and there that nothing else felt are what
 * wires do, and a step that was long in computing is work: neither is a sign. Congestion that only slows is not looked
 * for here.
 */
import { elementName } from '../../../core/elements.js';
import type { MetricName } from '../../../model/telemetry/catalog.js';
import type { Job } from '../../../model/workload/job.js';
import type { Context, Interval } from '../../series/context.js';
import { isHeavier, nothingMoved, timedSteps } from '../jobs/quiet-step.js';
import { increments, rises } from '../../series/samples.js';
import { median, poissonMaximum, robustSpread, sumOfSmallest } from '../../series/statistics.js';

export type LossSign = Interval &
  (
    | { type: 'counter'; metric: MetricName; what: string; element: string; gain: number; ofAll: number }
    | { type: 'stall'; element: string; stalledNs: number }
    | { type: 'step'; element: string; tookS: number; usualS: number }
  );

/** Counters of a NIC that rise when packets or their acknowledgements are missing, as people call them. */
const LOSS_COUNTERS: readonly (readonly [MetricName, string])[] = [
  ['nic_retries_exceeded', 'exhausted retries'],
  ['nic_local_ack_timeouts', 'acknowledgement timeouts'],
  ['nic_adaptive_retransmissions', 'retransmissions'],
];
/** Connections wait shorter than this for each other without anything being lost. */
const LEAST_STALL_S = 0.1;
/** A step is far out when it takes so many times the usual one. */
const FAR_STEP = 5;
const SPREADS = 10;
/** So many repeats of all NICs in a second are nothing, where nothing else moved, whatever is usual. */
const MOST_STRAY = 3;
const SECOND_NS = 1e9;
/** Chance that the busiest second of a window has more repeats than a steady trickle explains. */
const CHANCE = 0.01;
/** Share of seconds that tell what is usual: a burst is none of them. */
const USUAL_SHARE = 0.9;

/** The worst sign of each sort, in the order in which one would believe them; empty when all is quiet. */
export function observeLossSigns(context: Context): LossSign[] {
  const felt = [...worst(stallSigns(context)), ...worst(stepSigns(context))];
  const counted = counterSigns(context);
  const stray = felt.length === 0 && counted.every((sign) => isStray(context, sign));
  return stray ? [] : [...counted, ...felt];
}

function counterSigns(context: Context): LossSign[] {
  return LOSS_COUNTERS.flatMap(([metric, what]) => {
    const signs = context.topology.nics.flatMap(({ name, index }): LossSign[] => {
      const gains = rises(context.readNic(metric, index));
      if (gains.length === 0) return [];
      const gain = gains.reduce((sum, rise) => sum + rise.gain, 0);
      const during = { fromNs: gains[0].fromNs, toNs: gains[gains.length - 1].toNs };
      return [{ type: 'counter', metric, what, element: name, gain, ofAll: gain, ...during }];
    });
    const ofAll = signs.reduce((sum, sign) => sum + (sign.type === 'counter' ? sign.gain : 0), 0);
    return worst(signs).map((sign): LossSign => (sign.type === 'counter' ? { ...sign, ofAll } : sign));
  });
}

function stallSigns(context: Context): LossSign[] {
  return context.all('edge_stalled_s').flatMap((series): LossSign[] => {
    if (rises(series).length === 0) return [];
    const gains = increments(series);
    const limit = limitOf(gains.map(({ gain }) => gain));
    return gains
      .filter(({ gain }) => gain > Math.max(LEAST_STALL_S, limit))
      .map(({ fromNs, toNs, gain }) => ({
        type: 'stall',
        element: elementName(series.element),
        stalledNs: gain * 1e9,
        fromNs,
        toNs,
      }));
  });
}

function stepSigns(context: Context): LossSign[] {
  return context.jobs.flatMap((job): LossSign[] => {
    const steps = timedSteps(context, job);
    const durations = steps.map(({ tookS }) => tookS);
    const usualS = median(durations);
    const limit = Math.max(FAR_STEP * usualS, limitOf(durations));
    return steps
      .filter((step) => step.tookS > limit && !isHeavier(step, steps) && !vouchedFor(context, job, step))
      .map(({ tookS, fromNs, toNs }) => ({ type: 'step', element: job.name, tookS, usualS, fromNs, toNs }));
  });
}

const vouchedFor = (context: Context, job: Job, step: Interval): boolean =>
  nothingMoved(
    context,
    job,
    step,
    LOSS_COUNTERS.map(([metric]) => metric),
    LEAST_STALL_S,
  );

/** A trickle over all NICs, and no burst in it; a QP that gave up is never that. */
function isStray(context: Context, sign: LossSign): boolean {
  if (sign.type !== 'counter' || sign.metric === 'nic_retries_exceeded') return false;
  if (sign.ofAll <= MOST_STRAY) return true;
  const { fromNs, toNs } = context.window;
  const seconds = new Float64Array(Math.max(1, Math.ceil((toNs - fromNs) / SECOND_NS)));
  for (const { index } of context.topology.nics) {
    for (const rise of rises(context.readNic(sign.metric, index))) {
      // by its middle: NICs are not polled together
      const at = Math.floor(((rise.fromNs + rise.toNs) / 2 - fromNs) / SECOND_NS);
      seconds[Math.min(seconds.length - 1, Math.max(0, at))] += rise.gain;
    }
  }
  const usual = sumOfSmallest(seconds.slice(), seconds.length, Math.ceil(USUAL_SHARE * seconds.length));
  const most = poissonMaximum(usual / (USUAL_SHARE * seconds.length), seconds.length, CHANCE);
  return Math.max(...seconds) <= Math.max(MOST_STRAY, most);
}

const limitOf = (values: readonly number[]): number => median(values) + SPREADS * robustSpread(values);

function weightOf(sign: LossSign): number {
  if (sign.type === 'counter') return sign.gain;
  return sign.type === 'stall' ? sign.stalledNs : sign.tookS;
}

/** The heaviest; the first among equals. */
function worst(signs: readonly LossSign[]): LossSign[] {
  if (signs.length === 0) return [];
  return [signs.reduce((one, other) => (weightOf(other) > weightOf(one) ? other : one))];
}
