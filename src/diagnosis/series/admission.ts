/**
 * Series as they enter the diagnosis: what is no value of its metric is N/A, and the reader is told.
 *
 * A state in a code of another system makes the whole device doubtful, whose 0 and 1 may mean something else as well; where
 * most devices use such codes nothing is believed of that metric. A polled counter that falls by less than a restart would
 * make it fall was misread: what it shows until it is back is left out, so that what it had gained is not lost with it.
 */
import { metricDefinition } from '../../model/telemetry/catalog.js';
import type { MetricDefinition } from '../../model/telemetry/catalog.js';
import { domainOf, domainText, faultOf } from '../../model/telemetry/metrics/domains.js';
import type { Domain } from '../../model/telemetry/metrics/domains.js';
import { QUALITY, seriesWith } from '../../model/telemetry/series.js';
import type { Evidence, Series } from '../../model/telemetry/series.js';
import { unwrapped } from '../../model/telemetry/wrapping.js';

interface Misread {
  elements: Set<string>;
  example: number;
  why: 'value' | 'fall' | 'codes';
}

/** Share of the devices that tell a state in codes of their own from which on none of it is believed. */
const MOST_DEVICES = 0.5;
const MOST_NAMED = 3;

export class Admission {
  private readonly checked = new WeakMap<Series, Series>();
  private readonly misread = new Map<string, Misread>();
  private readonly states = new Map<string, ReadonlySet<string>>();

  constructor(private readonly evidence: Evidence) {}

  /** The series, without what can't be a reading; the same where all can. */
  admit(series: Series): Series {
    // what a fabric vouches for needs no look
    if (series.constant === true || series.regular === true) return series;
    let known = this.checked.get(series);
    if (known === undefined) this.checked.set(series, (known = this.check(series)));
    return known;
  }

  /** One sentence for each metric and reason, in the order in which they were met. */
  notes(): string[] {
    return [...this.misread]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, { elements, example, why }]) => {
        const metric = key.slice(0, key.indexOf(' '));
        const names = [...elements].sort();
        const left = names.length - MOST_NAMED;
        const whose = `${names.slice(0, MOST_NAMED).join(', ')}${left > 0 ? ` and ${left} more` : ''}`;
        return `${metric} of ${whose}: ${WHY[why](example, domainText(metric))}; taken as N/A.`;
      });
  }

  private check(series: Series): Series {
    const definition = metricDefinition(series.metric);
    if (definition === undefined) return series;
    const domain = domainOf(definition);
    if (domain.codes !== undefined && this.isDoubtful(series, definition, domain)) {
      return without(series, () => true);
    }
    const bad = badValues(series, definition, domain);
    const falls = fallsALittle(series, definition, bad);
    for (const at of bad) this.note(series, 'value', series.values[at]);
    for (const at of falls) this.note(series, 'fall', series.values[at]);
    return bad.size + falls.size === 0 ? series : without(series, (at) => bad.has(at) || falls.has(at));
  }

  private note({ metric, element }: Series, why: Misread['why'], example: number): void {
    const key = `${metric} ${why}`;
    const known = this.misread.get(key);
    if (known === undefined) this.misread.set(key, { elements: new Set([element]), example, why });
    else known.elements.add(element);
  }

  /** Whether the device of a state's element, or most devices, tell it in other codes. */
  private isDoubtful({ metric, element }: Series, definition: MetricDefinition, domain: Domain): boolean {
    let strange = this.states.get(metric);
    if (strange === undefined) this.states.set(metric, (strange = this.strangers(definition, domain)));
    return strange.has(ownerOf(element)) || strange.has(EVERYBODY);
  }

  private strangers({ name }: MetricDefinition, domain: Domain): ReadonlySet<string> {
    const all = new Set<string>();
    const strange = new Set<string>();
    for (const series of this.evidence.series) {
      if (series.metric !== name) continue;
      all.add(ownerOf(series.element));
      if (series.constant === true || series.regular === true) continue;
      const at = series.values.findIndex(
        (value, index) => isRead(series, index) && faultOf(domain, value) === 'code',
      );
      if (at < 0) continue;
      strange.add(ownerOf(series.element));
      this.note(series, 'codes', series.values[at]);
    }
    return strange.size > MOST_DEVICES * all.size ? new Set([EVERYBODY]) : strange;
  }
}

const EVERYBODY = '';

const WHY = {
  value: (example: number, domain: string) => `${example} is no value of it (${domain})`,
  fall: (example: number) => `the counter fell a little, to ${example}, which no restart explains`,
  codes: (example: number, domain: string) =>
    `${example} is no state of it (${domain}), so that its other codes may mean something else too`,
} as const;

/** The device of a port, NIC or queue; the element itself elsewhere. */
const ownerOf = (element: string): string => element.slice(element.indexOf(':') + 1).split('/')[0];

const isRead = ({ quality, values }: Series, at: number): boolean =>
  quality[at] === QUALITY.fresh && !Number.isNaN(values[at]);

function badValues(series: Series, { kind }: MetricDefinition, domain: Domain): Set<number> {
  const bad = new Set<number>();
  const { values } = series;
  for (let at = 0; at < values.length; at++) {
    const fault = isRead(series, at) && Number.isFinite(values[at]) ? faultOf(domain, values[at]) : undefined;
    if (fault === undefined) continue;
    // a counter may pass by the number that stands for "none" elsewhere
    const passesBy =
      kind === 'counter' && fault === 'marker' && values[at] < domain.most && isBetween(values, at);
    if (!passesBy) bad.add(at);
  }
  return bad;
}

const isBetween = (values: Float64Array, at: number): boolean =>
  at > 0 && at + 1 < values.length && values[at - 1] <= values[at] && values[at] <= values[at + 1];

/** After a restart a counter shows what came since; twice as much as it ever gained in such a time is no restart. */
const RESTART_FACTOR = 2;

function fallsALittle(
  series: Series,
  { kind, sampling }: MetricDefinition,
  bad: ReadonlySet<number>,
): Set<number> {
  const falls = new Set<number>();
  if (kind !== 'counter' || sampling !== 'poll') return falls;
  const read = [...series.values.keys()].filter(
    (at) => isRead(series, at) && Number.isFinite(series.values[at]) && !bad.has(at),
  );
  const values = unwrapped(
    series.metric,
    Float64Array.from(read, (at) => series.values[at]),
  );
  let fell = false;
  let mostPerNs = 0;
  for (let place = 1; place < read.length; place++) {
    const gain = values[place] - values[place - 1];
    const tookNs = series.timesNs[read[place]] - series.timesNs[read[place - 1]];
    if (gain < 0) fell = true;
    else if (tookNs > 0) mostPerNs = Math.max(mostPerNs, gain / tookNs);
  }
  if (!fell) return falls;
  let last = 0;
  for (let place = 1; place < read.length; place++) {
    const tookNs = series.timesNs[read[place]] - series.timesNs[read[last]];
    const isLittle = values[place] < values[last] && values[place] > RESTART_FACTOR * mostPerNs * tookNs;
    if (isLittle) falls.add(read[place]);
    else last = place;
  }
  return falls;
}

function without(series: Series, isOut: (at: number) => boolean): Series {
  const values = series.values.slice();
  const quality = series.quality.slice();
  for (let at = 0; at < values.length; at++) {
    if (!isOut(at)) continue;
    values[at] = NaN;
    quality[at] = QUALITY.notAvailable;
  }
  return seriesWith(series, { values, quality });
}
