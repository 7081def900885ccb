/**
 * Counters of a fabric that lives: values from before, a packet repeated now and then, protocols that talk.
 *
 * Real NICs show thousands of timeouts from before a test (byteps #179); BFD, BGP, LACP and LLDP send some 350 bytes a
 * second over every port that is up; with DCQCN on, marks and notifications come with every collective.
 */
import { nicId, portId } from '../../../src/core/elements.js';
import { editedOf, edited, isCounter, withEvents, withValues } from './edits.js';
import { logUniform, pickOne, uniform, type Perturbation } from './perturbation.js';

const MINUTE_NS = 60e9;
const CONTROL_BYTES_PER_S = 350;
/** Counters of the jobs' own software start with the jobs. */
const isOfDevice = (element: string): boolean => /^(port|nic|queue|device):/.test(element);
const OF_TIME = new Set(['port_pause_rx_s', 'port_pause_tx_s']);

export const COUNTERS: readonly Perturbation[] = [
  {
    name: 'retransmissions',
    what: 'one retransmission a NIC a minute',
    apply: ({ evidence }, seed) => ({
      evidence: editedOf(evidence, ['nic_adaptive_retransmissions'], (series) => {
        const firstNs = MINUTE_NS * uniform(seed, 'repeat', series.element);
        return withValues(
          series,
          (old, timeNs) => old + Math.max(0, Math.floor((timeNs - firstNs) / MINUTE_NS) + 1),
        );
      }),
    }),
  },
  {
    name: 'loss-burst',
    what: 'one NIC loses a burst of 1 to 50 packets, sent again at once',
    apply: ({ topology, jobs, evidence }, seed) => {
      const used = jobs.flatMap(({ placement }) => [...placement].map((gpu) => topology.gpus[gpu].nic));
      const [receiver, sender] = ['receiver', 'sender'].map((end) => pickOne(used, seed, end));
      if (receiver === undefined || sender === undefined) return null;
      const timeNs = evidence.fromNs + (evidence.toNs - evidence.fromNs) * uniform(seed, 'when');
      const count = Math.round(logUniform(1, 50, uniform(seed, 'packets')));
      const burst = (nic: number, metric: string, events: number) => (known: typeof evidence) =>
        edited(known, (series) =>
          series.metric === metric && series.element === nicId(topology.nics[nic].name)
            ? withEvents(series, [{ timeNs, count: events }])
            : series,
        );
      const steps = [
        burst(receiver, 'nic_out_of_sequence', count),
        burst(sender, 'nic_packet_sequence_errors', 1),
        burst(sender, 'nic_adaptive_retransmissions', 1),
      ];
      return { evidence: steps.reduce((known, step) => step(known), evidence) };
    },
  },
  {
    name: 'lifetime-counters',
    what: 'counters have counted since long before the window',
    apply: ({ evidence }, seed) => ({
      evidence: edited(evidence, (series) => {
        if (!isCounter(series) || !isOfDevice(series.element)) return series;
        const [least, most] = /bytes|codewords|symbol/.test(series.metric) ? [1e9, 1e13] : [1, 1e4];
        const isZero = uniform(seed, `${series.metric} zero`, series.element) < 0.4;
        const at = uniform(seed, series.metric, series.element);
        const start = isZero ? 0 : logUniform(least, most, at);
        return withValues(series, (old) => old + (OF_TIME.has(series.metric) ? start : Math.round(start)));
      }),
    }),
  },
  {
    name: 'control-plane',
    what: 'protocols send 350 bytes a second over every port that is up',
    apply: ({ evidence }) => {
      const downs = new Set(
        evidence.series.flatMap(({ metric, element, values }) =>
          metric === 'port_oper_status' && values.includes(0) ? [element] : [],
        ),
      );
      return {
        evidence: editedOf(evidence, ['port_tx_bytes', 'port_rx_bytes'], (series) =>
          downs.has(series.element)
            ? series
            : withValues(series, (old, timeNs) => old + Math.floor((timeNs / 1e9) * CONTROL_BYTES_PER_S)),
        ),
      };
    },
  },
  {
    name: 'damaged-frames',
    what: 'one link damages one frame, which is sent again',
    apply: ({ topology, evidence }, seed) => {
      const port = pickOne(topology.ports, seed, 'port');
      const nic = pickOne(topology.nics, seed, 'nic');
      const timeNs = evidence.fromNs + (evidence.toNs - evidence.fromNs) * uniform(seed, 'when');
      return {
        evidence: edited(evidence, (series) => {
          const damaged = series.metric === 'port_rx_errors' && series.element === portId(port?.name ?? '');
          const repeated =
            series.metric === 'nic_adaptive_retransmissions' && series.element === nicId(nic?.name ?? '');
          return damaged || repeated ? withEvents(series, [{ timeNs, count: 1 }]) : series;
        }),
      };
    },
  },
  {
    name: 'marks',
    what: 'marks, notifications and short pauses come with traffic',
    apply: ({ evidence }, seed) => {
      const rates = { nic_ecn_marked_packets: 300, nic_cnp_sent: 100, nic_cnp_handled: 100 };
      return {
        evidence: edited(evidence, (series) => {
          const rate = rates[series.metric as keyof typeof rates];
          if (rate === undefined) return series;
          const own = rate * logUniform(0.1, 3, uniform(seed, series.metric, series.element));
          return withValues(series, (old, timeNs) => old + Math.floor((own * timeNs) / 1e9));
        }),
      };
    },
  },
];
