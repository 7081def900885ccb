import { describe, expect, it } from '@jest/globals';
import { portId } from '../core/elements.js';
import type { MetricName } from '../model/telemetry/catalog.js';
import { SeriesBuilder, seriesWith } from '../model/telemetry/series.js';
import type { Series } from '../model/telemetry/series.js';
import { buildTopology, topologySchema } from '../model/topology/topology-spec.js';
import type { Job } from '../model/workload/job.js';
import { diagnose } from './index.js';
import type { DiagnosisInput } from './index.js';
import { Scenario, toldOf } from './testing/scenario.js';
import type { Trouble } from './testing/scenario.js';

const topology = buildTopology(
  topologySchema.parse({ builder: 'leaf-spine', leaves: 3, spines: 3, hostsPerLeaf: 2, gpusPerHost: 2 }),
);
const job: Job = {
  name: 'llm-a',
  placement: Int32Array.from([0, 1, 4, 5, 8, 9]),
  program: {
    operations: [
      {
        type: 'collective',
        name: 'gradients',
        collective: 'all-reduce',
        algorithm: 'ring',
        bytes: 1e9,
        groups: [[0, 1, 2, 3, 4, 5]],
        parallelism: 'data',
        after: [],
      },
    ],
  },
  startNs: 0,
  queuePairs: 1,
  priority: 3,
};

const scene = (troubles: Trouble[] = []): DiagnosisInput => new Scenario(topology, [job], troubles).input();

/** Polled every second; `valueAt` takes seconds. */
function polled(metric: MetricName, element: string, valueAt: (second: number) => number): Series {
  const builder = new SeriesBuilder(metric, element);
  for (let second = 0; second <= 60; second++) builder.push(second * 1e9, valueAt(second));
  return builder.build();
}

function withSeries(input: DiagnosisInput, added: readonly Series[]): DiagnosisInput {
  const key = ({ metric, element }: Series): string => `${metric} ${element}`;
  const replaced = new Set(added.map(key));
  const series = input.evidence.series.filter((one) => !replaced.has(key(one)));
  return { ...input, evidence: { ...input.evidence, series: [...series, ...added] } };
}

function mapped(input: DiagnosisInput, change: (series: Series) => Series): DiagnosisInput {
  return { ...input, evidence: { ...input.evidence, series: input.evidence.series.map(change) } };
}

const risesAt20 = (by: number) => (second: number) => (second > 20 ? by : 0);

describe('signs of loss that no culprit explains', () => {
  it.each([
    ['nic_local_ack_timeouts', 'nic:host-1/nic-0', 4, /host-1\/nic-0 counted 4 acknowledgement timeouts/],
    ['nic_adaptive_retransmissions', 'nic:host-1/nic-0', 9, /host-1\/nic-0 counted 9 retransmissions/],
    ['nic_retries_exceeded', 'nic:host-1/nic-0', 1, /host-1\/nic-0 counted 1 exhausted retries/],
    ['edge_stalled_s', 'edge:llm-a/0-1', 1, /llm-a\/0-1 stood still for 1 s/],
  ] as const)('make the diagnosis abstain: %s rose', (metric, element, by, named) => {
    const verdict = diagnose(withSeries(scene(), [polled(metric, element, risesAt20(by))]));
    expect(verdict.faultFound).toBeNull();
    expect(verdict.culprits).toEqual([]);
    expect(verdict.answer).toMatch(named);
    expect(verdict.answer).not.toMatch(/no bytes went missing|No fault found/);
  });

  it('make the diagnosis abstain: one step took 40 times as long', () => {
    const input = mapped(scene(), (series) =>
      series.metric === 'job_step_time_s'
        ? seriesWith(series, {
            values: series.values.map((value, index) => (index === 40 ? 40 * value : value)),
          })
        : series,
    );
    const verdict = diagnose(input);
    expect(verdict.faultFound).toBeNull();
    expect(verdict.answer).toMatch(/a step of llm-a took 24 s instead of 0.6 s/);
  });

  /** Connections and loss counters of all NICs of the job, none of which moved. */
  const quiet = (): Series[] => [
    ...['0-1', '1-2', '2-3', '3-4', '4-5', '5-0'].map((pair) =>
      polled('edge_stalled_s', `edge:llm-a/${pair}`, () => 0),
    ),
    ...topology.nics.flatMap(({ name }) =>
      (['nic_retries_exceeded', 'nic_local_ack_timeouts', 'nic_adaptive_retransmissions'] as const).map(
        (metric) => polled(metric, `nic:${name}`, () => 0),
      ),
    ),
  ];

  /** One step of the log took 3 s longer, in computing or in waiting. */
  const longStep = (utilisation: number): DiagnosisInput =>
    mapped(scene(), (series) => {
      const at = (value: number) => series.values.map((usual, index) => (index === 40 ? value : usual));
      if (series.metric === 'job_step_time_s') return seriesWith(series, { values: at(3.6) });
      if (series.metric === 'job_gpu_utilisation') return seriesWith(series, { values: at(utilisation) });
      return series;
    });

  it('are not seen in a few packets repeated, when nothing else moved', () => {
    const stray = polled('nic_adaptive_retransmissions', 'nic:host-1/nic-0', risesAt20(1));
    expect(diagnose(withSeries(scene(), [stray])).faultFound).toBe(false);
    const stall = polled('edge_stalled_s', 'edge:llm-a/0-1', risesAt20(0.5));
    expect(diagnose(withSeries(scene(), [stray, stall])).faultFound).toBeNull();
  });

  it('are not seen in a step that was long in computing', () => {
    expect(diagnose(longStep(1 - 0.3 / 3.6)).faultFound).toBe(false);
    expect(diagnose(longStep(0.3 / 3.6)).faultFound).toBeNull();
  });

  it('are not seen in a long step while everything that a loss moves was watched and stood', () => {
    expect(diagnose(withSeries(longStep(0.3 / 3.6), quiet())).faultFound).toBe(false);
    const [first, ...rest] = quiet();
    const late = seriesWith(first, { values: first.values.map((_, index) => (index > 24 ? 0.5 : 0)) });
    expect(diagnose(withSeries(longStep(0.3 / 3.6), [late, ...rest])).faultFound).toBeNull();
  });

  it('are not seen in counters that stand, in short waits that recur, and in uneven steps', () => {
    const quiet = withSeries(
      mapped(scene(), (series) =>
        series.metric === 'job_step_time_s'
          ? seriesWith(series, {
              values: series.values.map((value, index) => value * (1 + 0.3 * (index % 3))),
            })
          : series,
      ),
      [
        polled('nic_local_ack_timeouts', 'nic:host-1/nic-0', () => 7),
        polled('edge_stalled_s', 'edge:llm-a/0-1', (second) => 0.02 * second),
      ],
    );
    expect(diagnose(quiet).faultFound).toBe(false);
  });
});

describe('a NIC that stands still behind a loss elsewhere', () => {
  const still = (second: number): number => Math.max(0, Math.min(second, 32) - 20);
  const nic = topology.nics[topology.gpus[4].nic];
  const nicPort = topology.ports[nic.ports[0]];
  const hostLink = topology.links[nicPort.link];
  const uplinkSender = topology.ports.findIndex(({ name }) => name === 'leaf-1/p5');
  const uplink = topology.links[topology.ports[uplinkSender].link].id;

  /** Rank 2 stalls with both partners, which go on with others; the bytes on its own link can't be compared. */
  function stalled(troubles: Trouble[]): DiagnosisInput {
    const edges = [
      polled('edge_stalled_s', 'edge:llm-a/1-2', still),
      polled('edge_stalled_s', 'edge:llm-a/2-3', still),
      ...['0-1', '3-4'].flatMap((pair) => [
        polled('edge_tx_bytes', `edge:llm-a/${pair}`, (second) => 1e9 * second),
        polled('edge_stalled_s', `edge:llm-a/${pair}`, () => 0),
      ]),
      polled('nic_adaptive_retransmissions', `nic:${nic.name}`, risesAt20(9)),
    ];
    const input = scene(troubles);
    const heard = input.evidence.series.filter(
      ({ metric, element }) =>
        metric !== 'bfd_session_status' &&
        !(element === portId(nicPort.name) && /^port_[tr]x_bytes$/.test(metric)),
    );
    return withSeries({ ...input, evidence: { ...input.evidence, series: heard } }, edges);
  }

  it('is a suspect while no link shows a gap', () => {
    const verdict = diagnose(stalled([]));
    expect(verdict.faultFound).not.toBe(false);
    expect(`${verdict.answer}`).toContain(hostLink.id.replace('link:', ''));
  });

  it('is not named: the link whose bytes vanish is', () => {
    const verdict = diagnose(stalled([{ type: 'one-way', at: uplinkSender, from: 20, to: 40 }]));
    expect(verdict.culprits.map(({ element }) => element.id)).toEqual([uplink]);
  });
});

describe('a silent loss between switches that no liveness session watches', () => {
  const sender = topology.ports.find(({ name }) => name === 'leaf-1/p6')!;
  const link = topology.links[sender.link];
  const ends = [sender.name, 'spine-2/p1'];

  /** Counters that do not show it, and routes that leave these ports when a hold time is over, at 30 s. */
  function withRoutes(trouble: Trouble, gone: readonly string[]): DiagnosisInput {
    const input = scene([trouble]);
    const heard = input.evidence.series.filter(
      ({ metric }) => metric !== 'bfd_session_status' && !/^port_[rt]x_bytes$/.test(metric),
    );
    const routes = topology.ports
      .filter(({ nic }) => nic < 0)
      .map(({ name }) =>
        polled('route_port_prefixes', portId(name), (second) =>
          gone.includes(name) && second >= 30 && second < 42 ? 0 : 4,
        ),
      );
    return withSeries({ ...input, evidence: { ...input.evidence, series: heard } }, routes);
  }

  const lost: Trouble = { type: 'one-way', at: sender.index, from: 20.3, to: 40 };

  it('is named by the routes that leave both ends of a link whose ports stay up', () => {
    const [odd] = diagnose(withRoutes(lost, ends)).remarks ?? [];
    expect(odd).toMatchObject({ kind: 'one-way-loss', element: { id: link.id } });
  });

  it('is not blamed on a link of which one end alone loses its routes', () => {
    expect(toldOf(diagnose(withRoutes(lost, ends.slice(0, 1))))).not.toContain(link.id);
  });

  it('is not what routes tell of a link that was cut', () => {
    const cut: Trouble = { type: 'cut', at: sender.link, from: 30, to: 40 };
    const { remarks } = diagnose(withRoutes(cut, ends));
    expect(remarks).toMatchObject([{ kind: 'link-down', element: { id: link.id } }]);
  });
});
