/**
 * The baseline of rules: an operator's runbook, thresholds on counters, asked in the order of how plain they are.
 *
 * Dead devices and links first, then speeds, errors, pauses, slow slots, slow GPUs, full queues, and retries last. Each
 * rule names the element with the worst reading. Thresholds are those of common alerts: any lost link, any uncorrectable
 * codeword, a pre-FEC ratio past the KP4 limit, one per cent of the time paused, a tenth of the time stalled on PCIe, a
 * fifth slower than the peers, twice the deepest queue of the first polls. It weighs nothing, and compares no element with another.
 */
import { elementName, elementRef } from '../../../src/core/elements.js';
import type { DiagnosisInput } from '../../../src/diagnosis/index.js';
import { EvidenceIndex, type Series } from '../../../src/model/telemetry/series.js';
import type { CulpritKind } from '../../../src/model/telemetry/vocabulary.js';
import type { Topology } from '../../../src/model/topology/model.js';
import type { Baseline, Suspect } from './answer.js';
import { above, fresh, least, median, most, rise } from './readings.js';

type Rule = (index: EvidenceIndex, input: DiagnosisInput) => Suspect[];

/** Answers of more than this many rules would be a list of alarms, not an answer. */
const MOST_SUSPECTS = 3;

export const rules: Baseline = (input) => {
  const index = new EvidenceIndex(input.evidence);
  const found = RUNBOOK.flatMap((rule) => rule(index, input).slice(0, 1));
  return found.slice(0, MOST_SUSPECTS);
};

const named = (kind: CulpritKind, ids: readonly string[]): Suspect[] =>
  ids.map((id) => ({ kind, element: elementRef(id) }));

/** The link of a port, or of a NIC's first port. */
function linkAt(topology: Topology, id: string): string[] {
  const name = elementName(id);
  const port = topology.ports.find(
    (candidate) => candidate.name === name || topology.nics[candidate.nic]?.name === name,
  );
  return port === undefined ? [] : [topology.links[port.link].id];
}

const onLink = (kind: CulpritKind, { topology }: DiagnosisInput, ports: readonly string[]): Suspect[] =>
  named(
    kind,
    ports.slice(0, 1).flatMap((port) => linkAt(topology, port)),
  );

const SECONDS = 1e-9;
const MISSED_POLLS = 3;

/** Three polls in a row without an answer. */
const deadDevice: Rule = (index) =>
  named(
    'node-down',
    index
      .all('device_reachable')
      .filter(({ values }) => {
        let silent = 0;
        return values.some((value) => (silent = value === 0 ? silent + 1 : 0) >= MISSED_POLLS);
      })
      .map(({ element }) => element),
  );

const deadLink: Rule = (index, input) => {
  const down = index.all('port_oper_status').filter((series) => least(series) === 0);
  const events = down.map(({ element }) => {
    const counter = index.get('port_link_down_events', element);
    return counter === undefined ? 0 : rise(counter);
  });
  const kind = events.some((count) => count > 1) ? 'link-flap' : 'link-down';
  return onLink(
    kind,
    input,
    down.map(({ element }) => element),
  );
};

const slowLink: Rule = (index, input) => {
  const drop = index.all('port_rate_gbps').filter((series) => least(series) < most(series));
  return onLink(
    'speed-downgrade',
    input,
    drop.map(({ element }) => element),
  );
};

const badSignal: Rule = (index, input) => {
  const lost = above(index, 'port_fec_uncorrected_codewords', rise, 0);
  const damaged = lost.length > 0 ? lost : above(index, 'port_rx_errors', rise, 0);
  return onLink(
    'optic-error',
    input,
    damaged.length > 0 ? damaged : above(index, 'port_fec_pre_ber', most, 2.4e-4),
  );
};

/** A NIC that keeps its switch from sending. */
const pausingNic: Rule = (index, input) => {
  const { fromNs, toNs } = input.evidence;
  const threshold = 0.01 * (toNs - fromNs) * SECONDS;
  const nicPorts = new Map(
    input.topology.ports.filter(({ nic }) => nic >= 0).map(({ name, nic }) => [`port:${name}`, nic]),
  );
  return above(index, 'port_pause_tx_s', rise, threshold).flatMap((port) => {
    const nic = nicPorts.get(port);
    if (nic === undefined) return [];
    return named('slow-receiver', [`nic:${input.topology.nics[nic].name}`]);
  });
};

/** Twice as much as was ever seen in its first ten polls, and not less than a megabyte. */
const fullQueue: Rule = (index) =>
  named(
    'incast',
    above(index, 'queue_depth_max_bytes', (series) => most(series) / Math.max(1e6, usualMost(series)), 2),
  );

const usualMost = (series: Series): number => Math.max(0, ...fresh(series).slice(0, 10));

const slowSlot: Rule = (index) => {
  const stalled = (metric: string): string[] =>
    above(index, metric, (series) => median(fresh(series).slice(-10)), 0.1);
  return named('speed-downgrade', [
    ...stalled('nic_pcie_write_stalled_ratio'),
    ...stalled('nic_pcie_read_stalled_ratio'),
  ]);
};

const slowGpu: Rule = (index, { topology, jobs }) =>
  jobs.flatMap((job) => {
    const times = Array.from(job.placement, (_, rank) => {
      const series = index.get('rank_compute_time_s', `rank:${job.name}/${rank}`);
      return series === undefined ? NaN : most(series);
    });
    const usual = median(times.filter((time) => Number.isFinite(time)));
    const slowest = times.reduce(
      (worst, time, rank) => (time > (times[worst] || 0) && Number.isFinite(time) ? rank : worst),
      0,
    );
    if (!(times[slowest] > 1.2 * usual)) return [];
    return named('straggler', [
      `device:${topology.devices[topology.gpus[job.placement[slowest]].host].name}`,
    ]);
  });

const retryingNic: Rule = (index, input) => {
  const timeouts = above(index, 'nic_local_ack_timeouts', rise, 0);
  const tried = timeouts.length > 0 ? timeouts : above(index, 'nic_adaptive_retransmissions', rise, 0);
  return onLink('one-way-loss', input, tried);
};

const RUNBOOK: readonly Rule[] = [
  deadDevice,
  deadLink,
  slowLink,
  badSignal,
  pausingNic,
  slowSlot,
  slowGpu,
  fullQueue,
  retryingNic,
];
