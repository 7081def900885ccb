/**
 * The table fault × metric: what moves, and what does not.
 *
 * Every kind and variant runs beside a control of the same seed. A metric moves when some series of it differs from the
 * control; what the kind itself promises must also be visible without a control, as a change after the injection. What
 * neither the kind nor the table here names must be the same as in the control, byte for byte, on every element.
 */
import { describe, expect, it } from '@jest/globals';
import { openFabric } from '../../src/fabrics/catalog.js';
import { loadDefinitions } from '../../src/experiments/definition/load.js';
import { FAULT_KINDS, faultKind } from '../../src/faults/catalog.js';
import { Prng } from '../../src/kernel/prng.js';
import { changedAtNs } from '../../src/scoring/change.js';
import { METRICS, type MetricName } from '../../src/telemetry/catalog.js';
import { EvidenceIndex, type Evidence, type Series } from '../../src/telemetry/series.js';
import type { Impairment } from '../../src/fabrics/contract/impairment.js';
import type { ElementRef } from '../../src/telemetry/vocabulary.js';
import { readSource } from '../support/source-tree.js';

/** While a collective is under way, so that packets are lost and not only paths. */
const AT_NS = 20.3e9;
const HELD_NS = 15e9;
const END_NS = 50e9;
/** Everything a device tells falls silent with it. */
const SILENT_WITH_A_SWITCH: readonly MetricName[] = [
  'port_rx_errors',
  'port_tx_discards',
  'port_pause_rx_s',
  'port_pause_tx_s',
  'port_pause_rx_frames',
  'port_pause_tx_frames',
  'port_rx_discards',
  'queue_drop_packets',
  'queue_watchdog_detected',
  'queue_watchdog_restored',
  'route_port_prefixes',
  'optic_rx_power_dbm',
  'optic_tx_power_dbm',
  'optic_bias_ma',
  'optic_temperature_c',
  'port_fec_uncorrected_codewords',
];

const SILENT_WITH_A_HOST: readonly MetricName[] = [
  'nic_local_ack_timeouts',
  'nic_adaptive_retransmissions',
  'nic_packet_sequence_errors',
  'nic_out_of_sequence',
  'nic_retries_exceeded',
  'nic_rx_discards',
  'nic_pcie_read_stalled_ratio',
  'nic_pcie_write_stalled_ratio',
  'rank_compute_time_s',
];

interface Case {
  kind: string;
  variant: string;
  params: object;
  target?: string;
  /** Where it happens; the fabric of two jobs over rails when left out. */
  fabric?: FabricName;
  /** What moves as a consequence, beyond what the kind promises. */
  also: readonly MetricName[];
}

interface FabricOfTable {
  file: string;
  from?: string;
  to?: string;
  loaded?: true;
}

/** Fabrics by name: file of experiments, what is changed in it, and whether a load is on it all the time. */
const FABRICS = {
  rails: { file: 'fabrics/rail-64.yaml' },
  /** Two links between each leaf and each spine. */
  parallel: { file: 'fabrics/rail-64.yaml', from: 'spines: 2', to: 'spines: 2\n    linksPerSpine: 2' },
  spare: { file: 'fabrics/rail-64-spare.yaml' },
  /** Three tiers of switches. */
  tiers: { file: 'ecmp-collision.yaml' },
  /** Steps that are mostly communication. */
  lean: { file: 'fabrics/rail-64.yaml', from: 'compute: 400ms', to: 'compute: 50ms' },
  /** Settings of queues matter where there are queues. */
  busy: { file: 'fabrics/rail-64.yaml', loaded: true },
  /** Settings of pauses matter where nothing else holds the senders. */
  paused: {
    file: 'fabrics/rail-64.yaml',
    from: '  jobs:',
    to: '  settings: { dcqcn: { on: false } }\n  jobs:',
    loaded: true,
  },
} satisfies Record<string, FabricOfTable>;
/** On leaf-1, from the start. */
const LOAD: Impairment = {
  type: 'traffic',
  name: 'background',
  fromNics: ['nic:host-2/nic-0', 'nic:host-3/nic-0', 'nic:host-4/nic-0'],
  toNic: 'nic:host-1/nic-0',
  rateGbps: 200,
  priority: 3,
  queuePairs: 4,
};
type FabricName = keyof typeof FABRICS;

const HOST_LINK = 'link:host-1/nic-0--leaf-1/p1';
const NIC = 'nic:host-1/nic-0';
const LEAF = 'device:leaf-1';
const ALL_SWITCHES = 'all switches';
const FABRIC_LINK = 'link:leaf-1/p5--spine-1/p1';

const BYTES = ['port_tx_bytes', 'port_rx_bytes', 'queue_tx_bytes', 'edge_tx_bytes'] as const;
const JOB_PACE = [
  'job_steps',
  'job_step_time_s',
  'job_gpu_utilisation',
  'job_algbw_gbytes_per_s',
  'job_busbw_gbytes_per_s',
  'job_allreduce_latency_s',
  'job_allreduce_latency_p99_s',
  'job_flow_p99_s',
] as const;
const PACE = [...JOB_PACE, 'rank_wait_time_s'] as const;
/** Collectives themselves are as fast as ever. */
const SLOWER_STEPS = ['job_steps', 'job_step_time_s', 'job_gpu_utilisation'] as const;
/** Queue pairs that lose packets wait and try again. */
const RETRIES = ['edge_stalled_s', 'nic_adaptive_retransmissions'] as const;
/** Bits that FEC corrects on any link are fewer where fewer bits arrive. */
const FEWER_BITS = ['port_fec_corrected_codewords', 'port_fec_symbol_errors', 'port_fec_pre_ber'] as const;
/** N/A, or standing still, while a port is down. */
const DOWN = ['port_rate_gbps', ...FEWER_BITS] as const;
/** What a switch still sends to a port that is down. */
const DROPPED = ['port_tx_discards', 'queue_drop_packets'] as const;
const ROUTES = ['route_next_hops', 'bfd_session_status'] as const;

/** Jobs contend on uplinks even when all is well, at other times and to other degrees when their pace is another. */
const QUEUES = ['queue_depth_bytes', 'device_buffer_used_bytes'] as const;
const MARKS = [
  'queue_ecn_marked_packets',
  'nic_ecn_marked_packets',
  'nic_cnp_sent',
  'nic_cnp_handled',
] as const;
const CONTENTION = [...QUEUES, ...MARKS] as const;
/** Another contention than before. */
const PEAKS = ['queue_depth_max_bytes', 'device_buffer_used_max_bytes'] as const;
const PAUSES = [
  'port_pause_rx_s',
  'port_pause_tx_s',
  'port_pause_rx_frames',
  'port_pause_tx_frames',
] as const;

const CASES: readonly Case[] = [
  { kind: 'none', variant: 'none', params: {}, also: [] },
  {
    kind: 'link-down',
    variant: 'admin',
    params: { variant: 'admin' },
    target: FABRIC_LINK,
    also: [...DOWN, ...DROPPED, ...BYTES, ...PACE, ...RETRIES, ...ROUTES, ...CONTENTION, ...PEAKS],
  },
  {
    kind: 'link-down',
    variant: 'cut',
    params: { variant: 'cut' },
    target: FABRIC_LINK,
    also: [...DOWN, ...DROPPED, ...BYTES, ...PACE, ...RETRIES, ...ROUTES, ...CONTENTION, ...PEAKS],
  },
  {
    kind: 'link-down',
    variant: 'flap',
    params: { variant: 'flap' },
    target: FABRIC_LINK,
    also: [
      ...DOWN,
      ...DROPPED,
      ...BYTES,
      ...PACE,
      ...RETRIES,
      ...ROUTES,
      ...CONTENTION,
      ...PEAKS,
      'optic_rx_power_dbm',
    ],
  },
  {
    kind: 'link-down',
    variant: 'one-way',
    params: { variant: 'one-way' },
    target: HOST_LINK,
    // One long step, which ends after the last poll.
    also: [...BYTES, ...RETRIES, ...JOB_PACE, ...CONTENTION, ...PEAKS],
  },
  {
    kind: 'link-down',
    variant: 'node',
    params: { variant: 'node' },
    target: 'device:spine-1',
    also: [
      ...DOWN,
      ...BYTES,
      ...PACE,
      ...RETRIES,
      ...ROUTES,
      ...SILENT_WITH_A_SWITCH,
      ...CONTENTION,
      ...PEAKS,
    ],
  },
  {
    kind: 'speed-downgrade',
    variant: 'renegotiated',
    params: { variant: 'renegotiated', rate: '50Gbps' },
    target: HOST_LINK,
    also: [...FEWER_BITS, ...BYTES, ...PACE, ...CONTENTION, ...PEAKS],
  },
  {
    kind: 'speed-downgrade',
    variant: 'lane-loss',
    params: { variant: 'lane-loss', lost: 7, lanes: 8 },
    target: HOST_LINK,
    also: [...FEWER_BITS, ...BYTES, ...PACE, ...CONTENTION, ...PEAKS],
  },
  {
    kind: 'speed-downgrade',
    variant: 'pcie',
    params: { variant: 'pcie', generation: 3, lanes: 8 },
    target: NIC,
    also: [...BYTES, ...PACE, ...PAUSES, ...CONTENTION, ...PEAKS],
  },
  {
    kind: 'straggler',
    variant: 'gpu',
    params: { variant: 'gpu', gpu: 1, slowdown: 2 },
    target: 'device:host-1',
    also: [...BYTES, ...SLOWER_STEPS, ...CONTENTION],
  },
  {
    kind: 'straggler',
    variant: 'host',
    params: { variant: 'host', slowdown: 1.5 },
    target: 'device:host-1',
    also: [...BYTES, ...SLOWER_STEPS, ...CONTENTION],
  },
  {
    kind: 'optic-error',
    variant: 'constant',
    params: { variant: 'constant', ber: 1e-3 },
    target: HOST_LINK,
    // The ring over this link has room for what is sent again: another rail's is slower.
    also: [...BYTES, 'nic_adaptive_retransmissions', ...CONTENTION, ...PEAKS],
  },
  {
    kind: 'optic-error',
    variant: 'stepped',
    params: { variant: 'stepped', toBer: 1e-3, steps: 3 },
    target: HOST_LINK,
    also: [...BYTES, 'nic_adaptive_retransmissions', ...CONTENTION, ...PEAKS],
  },
  {
    kind: 'optic-error',
    variant: 'ramped',
    params: { variant: 'ramped', toBer: 1e-3 },
    target: HOST_LINK,
    also: [...BYTES, ...CONTENTION, ...PEAKS],
  },
  {
    kind: 'link-down',
    variant: 'lag-member',
    params: { variant: 'lag-member' },
    target: FABRIC_LINK,
    fabric: 'parallel',
    also: [
      ...DOWN,
      ...BYTES,
      ...PACE,
      ...ROUTES,
      ...CONTENTION,
      ...PEAKS,
      'port_oper_status',
      'port_link_down_events',
      'route_port_prefixes',
      'optic_rx_power_dbm',
    ],
  },
  ...(['burst', 'checkpoint', 'storage'] as const).map((variant) => ({
    kind: 'incast',
    variant,
    params: { variant, senders: 8 },
    target: NIC,
    also: [...BYTES, ...PACE, ...QUEUES, ...PEAKS],
  })),
  ...[
    { variant: 'share', share: 0.1 },
    { variant: 'rate', rate: '40Gbps' },
  ].map((params) => ({
    kind: 'slow-receiver',
    variant: params.variant,
    params,
    target: NIC,
    also: [...BYTES, ...PACE, ...PAUSES, ...CONTENTION, ...PEAKS],
  })),
  {
    kind: 'pause-storm',
    variant: 'continuous',
    params: { variant: 'continuous' },
    target: NIC,
    // The job stands still until its queue pairs try again after the storm.
    also: [...BYTES, ...PACE, ...RETRIES, ...DROPPED, ...CONTENTION, ...PEAKS, 'nic_local_ack_timeouts'],
  },
  {
    kind: 'pause-storm',
    variant: 'intermittent',
    params: { variant: 'intermittent' },
    target: NIC,
    also: [...BYTES, ...PACE, ...RETRIES, ...DROPPED, ...CONTENTION, ...PEAKS],
  },
  {
    kind: 'ecmp-collision',
    variant: 'polarised',
    params: { variant: 'polarised' },
    target: ALL_SWITCHES,
    fabric: 'tiers',
    also: [...BYTES, ...PACE, ...CONTENTION, ...PEAKS],
  },
  {
    kind: 'ecmp-collision',
    variant: 'low-entropy',
    params: { variant: 'low-entropy' },
    target: 'device:leaf-7',
    fabric: 'lean',
    also: [...BYTES, ...PACE, ...CONTENTION, ...PEAKS],
  },
  {
    kind: 'ecn-misconfig',
    variant: 'too-low',
    params: { variant: 'too-low' },
    target: LEAF,
    fabric: 'busy',
    // The queue is short, and the link does not carry what it could.
    also: [...BYTES, ...PACE, ...CONTENTION, ...PEAKS],
  },
  ...(['too-high', 'off'] as const).map((variant) => ({
    kind: 'ecn-misconfig',
    variant,
    params: { variant },
    target: LEAF,
    fabric: 'busy' as const,
    // The load is held by pauses in place of marks; the jobs do not meet it.
    also: ['port_tx_bytes', 'port_rx_bytes', 'queue_tx_bytes', ...CONTENTION, ...PEAKS] as const,
  })),
  {
    kind: 'pfc-misconfig',
    variant: 'alpha',
    params: { variant: 'alpha', alpha: 0.001 },
    target: LEAF,
    fabric: 'busy',
    also: ['port_tx_bytes', 'port_rx_bytes', 'queue_tx_bytes', ...CONTENTION, ...PEAKS],
  },
  {
    kind: 'pfc-misconfig',
    variant: 'headroom',
    params: { variant: 'headroom' },
    target: LEAF,
    fabric: 'paused',
    // What is lost is sent again, and takes the place of what would be.
    also: [
      ...BYTES,
      ...PACE,
      ...PAUSES,
      ...QUEUES,
      ...PEAKS,
      'queue_ecn_marked_packets',
      'nic_ecn_marked_packets',
      'nic_packet_sequence_errors',
      'nic_out_of_sequence',
    ],
  },
  {
    kind: 'pfc-misconfig',
    variant: 'off',
    params: { variant: 'off' },
    target: LEAF,
    fabric: 'paused',
    also: [
      ...BYTES,
      ...PACE,
      ...PAUSES,
      ...QUEUES,
      ...PEAKS,
      'queue_ecn_marked_packets',
      'nic_ecn_marked_packets',
    ],
  },
  ...(['planned', 'one-of-n'] as const).map((variant) => ({
    kind: 'job-migration',
    variant,
    params: { variant },
    target: 'device:host-1',
    fabric: 'spare' as const,
    also: ['queue_tx_bytes', ...PACE, ...CONTENTION, ...PEAKS] as const,
  })),
  ...(['after-host-loss', 'no-spare'] as const).map((variant) => ({
    kind: 'job-migration',
    variant,
    params: { variant },
    target: 'device:host-1',
    fabric: 'spare' as const,
    also: [
      ...DOWN,
      ...BYTES,
      ...PACE,
      ...CONTENTION,
      ...PEAKS,
      ...PAUSES,
      ...SILENT_WITH_A_SWITCH.filter((metric) => !metric.startsWith('queue_watchdog')),
      ...SILENT_WITH_A_HOST,
      'route_next_hops',
    ] as const,
  })),
];

const refOf = (id: string): ElementRef => ({ type: id.slice(0, id.indexOf(':')) as ElementRef['type'], id });

async function evidenceOf(fabricName: FabricName, one: Case | undefined): Promise<Evidence> {
  const { file, from = '', to = '', loaded = false } = FABRICS[fabricName] as FabricOfTable;
  const { fabrics } = loadDefinitions(readSource(`experiments/${file}`).replace(from, to), () => '');
  const fabric = await openFabric(fabrics[0].value, 5);
  const clock = fabric as unknown as { startJobs(): Promise<void>; advance(toNs: number): Promise<void> };
  await clock.startJobs();
  if (loaded) await fabric.apply('load', LOAD);
  const kind = faultKind(one?.kind ?? 'none');
  const { topology } = fabric.describe();
  const switches = topology.devices
    .filter(({ role }) => role === 'switch')
    .map(({ name }) => `device:${name}`);
  const targets = one?.target === undefined ? [] : one.target === ALL_SWITCHES ? switches : [one.target];
  const { impairments } = kind.compile(
    kind.parameters.parse(one?.params ?? {}) as never,
    targets.map(refOf),
    { ...fabric.describe(), durationNs: HELD_NS, random: new Prng(5) },
  );
  const moves = impairments
    .flatMap(({ impairment, atNs, untilNs }, index) => [
      { timeNs: AT_NS + atNs, id: `${index}`, impairment, apply: true },
      { timeNs: AT_NS + untilNs, id: `${index}`, impairment, apply: false },
    ])
    .sort((a, b) => a.timeNs - b.timeNs || Number(a.apply) - Number(b.apply));
  for (const { timeNs, id, impairment, apply } of moves) {
    await clock.advance(timeNs);
    if (apply) await fabric.apply(id, impairment);
    else await fabric.revert(id, impairment, {});
  }
  await clock.advance(END_NS);
  return fabric.observe({ fromNs: 0, toNs: END_NS });
}

/** Figures of steps: a slower job has fewer of them, which says nothing about their values. */
const OF_STEPS = new Set<string>(
  METRICS.filter(({ element, kind }) => element === 'job' && kind === 'gauge').map(({ name }) => name),
);

const sameSamples = (one: Series, other: Series): boolean =>
  one.timesNs.length === other.timesNs.length &&
  one.timesNs.every((timeNs, at) => timeNs === other.timesNs[at]) &&
  one.values.every((value, at) => Object.is(value, other.values[at])) &&
  one.quality.every((code, at) => code === other.quality[at]);

/** Every value of one occurs in the other, but for rounding, and the other way round. */
function sameValues(one: Series, other: Series): boolean {
  const rounded = ({ values }: Series): string[] => [
    ...new Set([...values].map((value) => value.toPrecision(9))),
  ];
  return rounded(one).sort().join() === rounded(other).sort().join();
}

const same = (one: Series, other: Series): boolean =>
  OF_STEPS.has(one.metric) ? sameValues(one, other) : sameSamples(one, other);

it('the table has every kind and every variant', () => {
  const all = FAULT_KINDS.flatMap((kind) =>
    Object.keys(kind.allSymptoms()).map((name) => `${kind.name} ${name}`),
  );
  expect(CASES.map(({ kind, variant }) => `${kind} ${variant}`).sort()).toEqual(all.sort());
});

describe('under', () => {
  const controls = new Map<FabricName, EvidenceIndex>();
  const controlOf = async (fabric: FabricName): Promise<EvidenceIndex> => {
    const known = controls.get(fabric) ?? new EvidenceIndex(await evidenceOf(fabric, undefined));
    controls.set(fabric, known);
    return known;
  };

  it.each(CASES.map((one) => [`${one.kind} ${one.variant}`, one] as const))('%s', async (_, one) => {
    const fabric = one.fabric ?? 'rails';
    const control = await controlOf(fabric);
    const evidence = await evidenceOf(fabric, one);
    const kind = faultKind(one.kind);
    const promised = kind
      .symptoms(kind.parameters.parse(one.params) as never)
      .flatMap(({ metrics }) => metrics);
    const visible = new Set(
      evidence.series
        .filter((series) => changedAtNs(series, AT_NS, END_NS) !== null)
        .map(({ metric }) => metric),
    );
    const differs = new Set(
      evidence.series
        .filter((series) => !same(series, control.get(series.metric, series.element)!))
        .map(({ metric }) => metric),
    );
    expect(promised.filter((metric) => !visible.has(metric))).toEqual([]);
    const table = new Set<string>([...promised, ...one.also]);
    const inOrder = (names: ReadonlySet<string>) =>
      METRICS.map(({ name }) => name).filter((name) => names.has(name));
    expect(inOrder(differs)).toEqual(inOrder(table));
  });
});
