/**
 * A part of recorded evidence: what somebody would have seen who looked from one instant to another.
 *
 * What is only told when it changes still holds when the window opens. A switch that is subscribed to then says its
 * link states and routes once (gNMI: the initial sync of an on-change subscription), so their last word is carried to
 * the window's start. A training log says nothing of the kind: its last line is carried as a repeated one, since no
 * step ended at that instant. Polls before the window are left out.
 */
import { metricDefinition } from './catalog.js';
import { QUALITY, type Evidence, type Series } from './series.js';

/** Elements whose on-change metrics are lines of a log, not answers of a device. */
const LOGGED = new Set(['job', 'rank', 'edge']);

/** First position whose time is not before (or, `after`, is past) an instant. */
function positionAt(timesNs: Float64Array, timeNs: number, after = false): number {
  let low = 0;
  let high = timesNs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (timesNs[middle] < timeNs || (after && timesNs[middle] === timeNs)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function cut(series: Series, fromNs: number, toNs: number): Series {
  const { metric, element, timesNs, values, quality } = series;
  const from = positionAt(timesNs, fromNs);
  const to = Math.max(from, positionAt(timesNs, toNs, true));
  const definition = metricDefinition(metric);
  const onChange = definition?.sampling === 'on-change';
  const held = onChange && from > 0 && positionAt(timesNs, fromNs, true) === from;
  const start = held ? from - 1 : from;
  const part: Series = {
    metric,
    element,
    timesNs: timesNs.slice(start, to),
    values: values.slice(start, to),
    quality: quality.slice(start, to),
  };
  if (held) {
    part.timesNs[0] = fromNs;
    const logged = definition !== undefined && LOGGED.has(definition.element);
    if (logged && part.quality[0] === QUALITY.fresh) part.quality[0] = QUALITY.repeated;
  }
  return part;
}

/** The evidence between two instants, ns on its own clock; series without a sample there stay, empty. */
export function windowOf(evidence: Evidence, fromNs: number, toNs: number): Evidence {
  if (fromNs <= evidence.fromNs && toNs >= evidence.toNs) return evidence;
  const [from, to] = [Math.max(fromNs, evidence.fromNs), Math.min(toNs, evidence.toNs)];
  return { fromNs: from, toNs: to, series: evidence.series.map((series) => cut(series, from, to)) };
}
