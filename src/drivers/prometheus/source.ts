/**
 * A site's own metrics as evidence: each mapped query over the window, each series to the element that its labels name.
 *
 * A range query repeats the last sample for up to five minutes, which would make a silent device look steady. So the
 * instants of the samples are asked for as well (`timestamp(query)`), and each sample counts once, at the time at which it
 * was scraped; what was not scraped is missing. Of a query that computes (`rate(…)`) every step is a sample. States are
 * told when they change. Labels that name nothing on this fabric are left out, but not all of them may be.
 */
import { InputError } from '../../core/problem.js';
import { listChoices } from '../../core/nearest.js';
import { metricDefinition } from '../../model/telemetry/catalog.js';
import { SeriesBuilder, QUALITY, type Evidence, type Series } from '../../model/telemetry/series.js';
import { elementWith } from '../../fabric-api/element-labels.js';
import type { PrometheusMapping, PrometheusSettings } from '../../fabric-api/prometheus-settings.js';
import type { PrometheusClient, PrometheusSeries } from './client.js';

const AT_ONCE = 4;

export class PrometheusSource {
  constructor(
    private readonly client: Pick<PrometheusClient, 'range'>,
    private readonly settings: Pick<PrometheusSettings, 'metrics' | 'step'>,
    private readonly isKnown: (element: string) => boolean,
  ) {}

  /**
   * Evidence of a stretch of wall-clock time; its times count from `zeroMs`.
   * @throws InputError when a query is wrong, or nothing that was found is on this fabric
   */
  async read(zeroMs: number, fromNs: number, toNs: number): Promise<Evidence> {
    const window = { fromS: zeroMs / 1e3 + fromNs / 1e9, toS: zeroMs / 1e3 + toNs / 1e9 };
    const found = new Map<string, Series>();
    const foreign = new Set<string>();
    const pending = this.settings.metrics.map((mapping, index) => ({ mapping, index }));
    const work = async (): Promise<void> => {
      for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
        const pointer = `/spec/prometheus/metrics/${next.index}/query`;
        for (const { series, times } of await this.samples(next.mapping, window, pointer)) {
          this.place(next.mapping, series, times, window, zeroMs, found, foreign);
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    if (found.size === 0) throw nothingFound(foreign);
    const series = [...found.entries()]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([, one]) => one);
    return { fromNs, toNs, series };
  }

  /** Each series of a query with the instant at which each of its values was scraped. */
  private async samples(
    { query }: PrometheusMapping,
    { fromS, toS }: { fromS: number; toS: number },
    pointer: string,
  ): Promise<{ series: PrometheusSeries; times: number[] }[]> {
    const [values, stamps] = await Promise.all([
      this.client.range(query, fromS, toS, pointer),
      this.client.range(`timestamp(${query})`, fromS, toS, pointer),
    ]);
    const stampsOf = new Map(stamps.map((one) => [labelKey(one.labels), one]));
    return values.map((series) => {
      const stamped = stampsOf.get(labelKey(series.labels));
      const byTime = new Map(stamped?.times.map((time, at) => [time, stamped.values[at]]));
      return { series, times: series.times.map((time) => byTime.get(time) ?? time) };
    });
  }

  private place(
    mapping: PrometheusMapping,
    { labels, values }: PrometheusSeries,
    times: readonly number[],
    window: { fromS: number },
    zeroMs: number,
    found: Map<string, Series>,
    foreign: Set<string>,
  ): void {
    const element = elementWith(mapping.element, mapping.values, labels);
    if (element === undefined || !this.isKnown(element)) {
      foreign.add(element ?? `${mapping.metric} without ${mapping.element}`);
      return;
    }
    const key = `${mapping.metric} ${element}`;
    if (found.has(key)) {
      const at = `/spec/prometheus/metrics/${this.settings.metrics.indexOf(mapping)}/element`;
      const message = `${mapping.metric} of ${element} comes from more than one series`;
      throw InputError.at(at, message, 'sum or max in the query, or name more labels in element');
    }
    const onChange = metricDefinition(mapping.metric)?.sampling === 'on-change';
    const builder = new SeriesBuilder(mapping.metric, element);
    times.forEach((timeS, at) => {
      // The first steps may still show what was scraped before the window.
      const timeNs = Math.round((Math.max(timeS, window.fromS) - zeroMs / 1e3) * 1e9);
      const value = values[at];
      if (timeNs <= builder.lastTimeNs) return;
      if (onChange && builder.length > 0 && Object.is(value, builder.last)) return;
      builder.push(timeNs, value, Number.isNaN(value) ? QUALITY.notAvailable : QUALITY.fresh);
    });
    found.set(key, builder.build());
  }
}

/** A query and the timestamps of it differ in the metric's name. */
const labelKey = ({ __name__, ...labels }: Record<string, string>): string =>
  JSON.stringify(Object.entries(labels).sort());

function nothingFound(foreign: ReadonlySet<string>): InputError {
  const message =
    foreign.size === 0
      ? 'Prometheus has no sample of any of these metrics in the window'
      : `nothing that was found is on this fabric: ${listChoices([...foreign], 3)}`;
  const hint =
    foreign.size === 0
      ? 'try the queries in its own page; is the window right?'
      : 'look at element and values: names are those of the topology, as in fabrics show';
  return InputError.at('/spec/prometheus/metrics', message, hint);
}
