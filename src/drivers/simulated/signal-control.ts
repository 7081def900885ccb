/**
 * The signal that a port sends, as a setting: `clean`, or its bit-error ratio, the share of lanes and the cause.
 */
import type { FlowSimulator } from '../../simulator/flow-simulator.js';
import { SIGNAL_CAUSES, type SignalCause, type SignalCondition } from '../../simulator/network/signals.js';
import type { Impairment } from '../../fabric-api/impairment.js';
import type { Control } from './control.js';

const CLEAN = 'clean';

/** @param direction what the port sends on */
export function signalControl(
  impairment: Extract<Impairment, { type: 'bit-errors' }>,
  direction: number,
  simulator: FlowSimulator,
): Control {
  return {
    element: impairment.fromPort,
    setting: 'signal',
    healthy: CLEAN,
    impaired: textOf(impairment),
    read: () => textOf(simulator.signal(direction)),
    write: (value) => simulator.setSignal(direction, conditionOf(value)),
    accepts: (value) => value === CLEAN || conditionOf(value) !== undefined,
    worse: (one, other) => (severity(one) > severity(other) ? one : other),
  };
}

function textOf(condition: SignalCondition | undefined): string {
  if (condition === undefined) return CLEAN;
  return `bit errors ${condition.bitErrorRatio} on ${condition.laneShare} of the lanes, ${condition.cause}`;
}

function conditionOf(text: string): SignalCondition | undefined {
  const match = /^bit errors (\S+) on (\S+) of the lanes, (\w+)$/.exec(text);
  if (match === null) return undefined;
  const [bitErrorRatio, laneShare] = [Number(match[1]), Number(match[2])];
  const inRange = bitErrorRatio > 0 && bitErrorRatio <= 0.5 && laneShare > 0 && laneShare <= 1;
  if (!inRange || !SIGNAL_CAUSES.includes(match[3] as SignalCause)) return undefined;
  return { bitErrorRatio, laneShare, cause: match[3] as SignalCause };
}

const severity = (text: string): number => {
  const condition = conditionOf(text);
  return condition === undefined ? 0 : condition.bitErrorRatio * condition.laneShare;
};
