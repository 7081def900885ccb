/**
 * Many senders to one receiver: more comes for the last link than it can carry, and nothing is broken.
 *
 * The queue of the switch port that faces the receiver grows and marks, the receiver answers with notifications, and the
 * switch pauses upstream where that comes too late (Zhu et al., SIGCOMM 2015). Found by bytes that no job accounts for:
 * they name the receiver and, over all of the time, the senders. A slow receiver looks the same from upstream, but there
 * the NIC pauses its switch; one flow that shares a link by bad luck has one sender and another hot link.
 * Not modelled: an incast that a job makes by its own collectives.
 */
import { elementName, elementRef, nicId, portId, queueId } from '../../core/elements.js';
import type { ElementRef } from '../../model/telemetry/vocabulary.js';
import { peerPort } from '../../model/topology/model.js';
import type { Series } from '../../model/telemetry/series.js';
import { number, seconds } from '../series/change.js';
import type { Context } from '../series/context.js';
import { observeForeignLoads } from '../features/bytes/foreign-load.js';
import type { ForeignLoad } from '../features/bytes/foreign-load.js';
import { pausesItsSwitch } from '../features/jobs/host-side.js';
import { allQueues, busiestClass, deepest, isContended, marked } from '../features/queues/queues.js';
import type { Explanation } from '../explanation.js';
import { listed, percent, since, until } from '../wording.js';
import { outcome } from './hypothesis.js';
import type { Candidate, Finding } from '../candidate.js';
import type { Family } from './hypothesis.js';
import { foreignGroups } from './foreign-account.js';
import type { ForeignGroup } from './foreign-account.js';
import type { ChainStep, RuledOut } from '../verdict.js';

export const incast: Family = {
  hypotheses: ['incast/unknown'],
  hypothesise: (context) =>
    foreignGroups(context).flatMap((group) => group.loads.map((load) => candidateOf(context, group, load))),
  cause,
  reason: (context, culprit) => {
    const link = elementName(context.topology.links[culprit.links[0]].id);
    return `Nothing is broken: link ${link} carried what it can, and jobs that share it or its senders got less. Pace the senders, or move them.`;
  },
  series,
  steps,
  rivals,
  aggressors: (context, culprit) => sendersOf(context, culprit).map(({ nic }) => nicRef(context, nic)),
};

const nicRef = (context: Context, nic: number): ElementRef =>
  elementRef(nicId(context.topology.nics[nic].name));

function candidateOf(context: Context, group: ForeignGroup, load: ForeignLoad): Candidate {
  const { topology } = context;
  const port = feedingPort(context, load);
  const priority = busiestClass(context, port, load.during);
  const name = context.portName(port);
  const nics = [load.nic, ...load.senders.map(({ nic }) => nic)];
  return {
    hypothesis: 'incast/unknown',
    element: elementRef(priority === null ? portId(name) : queueId(name, priority)),
    direction: 'both',
    covers: [`load ${load.nic}`],
    links: [topology.ports[port].link],
    reach: nics.flatMap((nic) => topology.nics[nic].ports),
    findings: loadFindings(context, group, load),
    during: load.during,
    onsetNs: load.onsetNs,
  };
}

/** What speaks for and against a meeting of many at one receiver. */
export function loadFindings(context: Context, group: ForeignGroup, load: ForeignLoad): Finding[] {
  const receiver = context.topology.nics[load.nic];
  const port = feedingPort(context, load);
  return [
    { signature: 'foreign-bytes-arrive', outcome: 'present' },
    {
      signature: 'several-senders',
      outcome: outcome(group.senders.length === 0 ? null : group.senders.length >= 2 * group.loads.length),
    },
    { signature: 'receiver-link-full', outcome: outcome(isContended(context, port, load.during)) },
    { signature: 'nic-pauses', outcome: outcome(pausesItsSwitch(context, receiver, load.during)) },
  ];
}

/** The switch port that sends most of it to the receiver. */
function feedingPort(context: Context, { nic, during }: ForeignLoad): number {
  const { topology } = context;
  const ports = topology.nics[nic].ports.map((port) => peerPort(topology, port));
  const weight = (port: number): number =>
    (marked(context, port, during) ?? 0) + (deepest(context, port, during) ?? 0);
  return ports.reduce((one, other) => (weight(other) > weight(one) ? other : one));
}

const loadOf = (context: Context, culprit: Explanation): ForeignLoad | undefined =>
  context.once(observeForeignLoads).find(({ nic }) => `load ${nic}` === culprit.covers[0]);

const sendersOf = (context: Context, culprit: Explanation): ForeignLoad['senders'] =>
  loadOf(context, culprit)?.senders ?? [];

function cause(context: Context, culprit: Explanation): string {
  const load = loadOf(context, culprit);
  const receiver = load === undefined ? '' : ` to ${context.topology.nics[load.nic].name}`;
  const names = listed(sendersOf(context, culprit).map(({ nic }) => context.topology.nics[nic].name));
  const count = sendersOf(context, culprit).length;
  return `was overloaded by an incast from ${since(culprit)} ${until(context, culprit)}: ${count} senders outside the jobs (${names}) sent${receiver}${others(context, load)} at once and took ${percent(load?.share ?? 0)} of its speed`;
}

/** Bytes alone do not tell which of the senders sent to whom, where others receive at the same time. */
function others(context: Context, load: ForeignLoad | undefined): string {
  const group = foreignGroups(context).find(({ loads }) => load !== undefined && loads.includes(load));
  const names = (group?.loads ?? []).flatMap(({ nic }) =>
    nic === load?.nic ? [] : [context.topology.nics[nic].name],
  );
  return names.length === 0 ? '' : ` (or to ${listed(names)}: which of them to whom is not told)`;
}

function series(context: Context, culprit: Explanation): (Series | undefined)[] {
  const { topology } = context;
  const load = loadOf(context, culprit);
  if (load === undefined) return [];
  const receiver = topology.nics[load.nic];
  return [
    ...receiver.ports.flatMap((port) => {
      const feeding = peerPort(topology, port);
      return [
        context.readPort('port_tx_bytes', feeding),
        ...allQueues(context, 'queue_tx_bytes', feeding),
        ...allQueues(context, 'queue_depth_max_bytes', feeding),
        ...allQueues(context, 'queue_ecn_marked_packets', feeding),
        context.readPort('port_rx_bytes', port),
      ];
    }),
    context.read('nic_ecn_marked_packets', nicId(receiver.name)),
    context.read('nic_cnp_sent', nicId(receiver.name)),
    ...load.senders
      .slice(0, MOST_SENDERS)
      .flatMap(({ nic }) => [
        context.read('nic_cnp_handled', nicId(topology.nics[nic].name)),
        ...topology.nics[nic].ports.map((port) => context.readPort('port_tx_bytes', port)),
      ]),
  ];
}

const MOST_SENDERS = 4;

function steps(context: Context, culprit: Explanation): ChainStep[] {
  const { topology } = context;
  const [link] = culprit.links;
  const [, port] = context.endsOf(topology.links[link]);
  const onset_s = seconds(culprit.during.fromNs);
  const depth = deepest(context, port, culprit.during);
  const marks = marked(context, port, culprit.during);
  const queue: ChainStep[] =
    depth === null && marks === null
      ? []
      : [
          {
            element: culprit.element,
            claim: `held up to ${number((depth ?? 0) / 1e6)} MB and marked ${number(marks ?? 0)} packets`,
            onset_s,
          },
        ];
  const load = loadOf(context, culprit);
  const toReceiver: ChainStep = {
    element: elementRef(portId(context.portName(port))),
    claim: `sent ${number((load?.bytes ?? 0) / 1e9)} GB to its host that no job accounts for`,
    onset_s,
  };
  const senders = sendersOf(context, culprit)
    .slice(0, MOST_SENDERS)
    .map(({ nic, bytes }) => ({
      element: nicRef(context, nic),
      claim: `sent ${number(bytes / 1e9)} GB beside its jobs`,
      onset_s,
    }));
  return [...queue, toReceiver, ...senders];
}

function rivals(context: Context, _: unknown, culprit: Explanation): RuledOut[] {
  const load = loadOf(context, culprit);
  const out: RuledOut[] = [];
  if (load === undefined) return out;
  const receiver = context.topology.nics[load.nic];
  if (pausesItsSwitch(context, receiver, load.during) === false) {
    const why = 'it sent no pause: it took all that came, and the switch port before it was the limit';
    out.push({ kind: 'slow-receiver', element: nicRef(context, load.nic), why });
  }
  if (load.senders.length > 1) {
    const why = `${load.senders.length} senders met at the last link to one host, not on an uplink with idle siblings`;
    out.push({ kind: 'ecmp-collision', element: elementRef('pattern:ecmp-collision'), why });
  }
  return out;
}
