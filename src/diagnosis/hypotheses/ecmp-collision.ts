/**
 * Flows that meet on one of several equal ways while others have room: a polarised hash, or too few flows to spread.
 *
 * Nothing is down, slow or damaged; one uplink is full and marks while its siblings idle (Gangidi et al., SIGCOMM 2024,
 * on RoCE at Meta). A hash that depends on the choice of the tier below leaves whole uplinks unused at several switches at
 * once; few large flows from under one switch, each to a host of its own, fill the uplink on which two of them meet. An
 * incast meets at the last link before one host instead.
 * Not modelled: collisions among the flows of the jobs themselves, which come and go with every run.
 */
import { deviceId, elementName, elementRef, jobId, nicId, portId } from '../../core/elements.js';
import { peerPort } from '../../model/topology/model.js';
import type { Series } from '../../model/telemetry/series.js';
import { number, seconds } from '../series/change.js';
import { overlaps } from '../series/context.js';
import type { Context, Interval } from '../series/context.js';
import { observeForeignLoads } from '../features/bytes/foreign-load.js';
import { atManySwitches, observeIdleSiblings } from '../features/links/idle-siblings.js';
import { observeNicPauses } from '../features/queues/nic-pause.js';
import { allQueues, busiest, deepest, marked } from '../features/queues/queues.js';
import { hostPortsBelow } from '../features/links/reach.js';
import { observeRestarts } from '../features/jobs/restarts.js';
import { freshSamples, gainWithin } from '../series/samples.js';
import { median } from '../series/statistics.js';
import { observeSwitchSettings } from '../features/queues/switch-settings.js';
import type { Explanation } from '../explanation.js';
import type { ChainStep, RuledOut } from '../verdict.js';
import { listed, since, until } from '../wording.js';
import { foreignGroups } from './foreign-account.js';
import type { ForeignGroup } from './foreign-account.js';
import { outcome } from './hypothesis.js';
import type { Candidate, Finding, Unit } from '../candidate.js';
import type { Family, Observations } from './hypothesis.js';
import { loadFindings } from './incast.js';

const DISTURBED_NS = 2e9;
const PATTERN = elementRef('pattern:ecmp-collision');

export const ecmpCollision: Family = {
  hypotheses: ['ecmp-collision/configuration', 'ecmp-collision/unknown'],
  hypothesise: (context) => [...polarised(context), ...meeting(context)],
  cause,
  reason: (context, culprit) =>
    isPolarised(culprit)
      ? 'No port went down and no route left: the hash of these switches follows that of the tier below; give the tiers different seeds.'
      : `Nothing is broken: few large flows from under ${context.deviceName(culprit.device ?? 0)} hashed to the same uplink; more queue pairs, or another place for them, would spread.`,
  series,
  steps,
  rivals,
  aggressors: (context, culprit) =>
    isPolarised(culprit)
      ? []
      : (groupOf(context, culprit)?.senders ?? []).map((nic) =>
          elementRef(nicId(context.topology.nics[nic].name)),
        ),
};

const isPolarised = ({ hypothesis }: Explanation): boolean => hypothesis === 'ecmp-collision/configuration';

function polarised(context: Context): Candidate[] {
  const { topology } = context;
  const switches = context.once(observeIdleSiblings);
  if (switches.length === 0) return [];
  const onsetNs = median(switches.map(({ began }) => (began.fromNs + began.toNs) / 2));
  const links = switches.flatMap(({ busy }) => busy.map((port) => topology.ports[port].link));
  return [
    {
      hypothesis: 'ecmp-collision/configuration',
      element: PATTERN,
      direction: 'both',
      covers: ['hash 0'],
      links,
      reach: switches.flatMap(({ device }) => [...hostPortsBelow(topology, device)]),
      findings: [
        { signature: 'siblings-fell-idle', outcome: 'present' },
        { signature: 'many-switches-together', outcome: outcome(atManySwitches(context, switches)) },
        { signature: 'undisturbed-meanwhile', outcome: outcome(!isDisturbed(context, onsetNs)) },
      ],
      during: { fromNs: onsetNs, toNs: median(switches.map(({ during }) => during.toNs)) },
      onsetNs,
    },
  ];
}

/** Other congestion, drops or a job's standstill began near an instant: uplinks may have lost their traffic to it. */
function isDisturbed(context: Context, atNs: number): boolean {
  const around = { fromNs: atNs - DISTURBED_NS, toNs: atNs + DISTURBED_NS };
  const drops = context
    .once(observeSwitchSettings)
    .flatMap(({ discards, overflows }) => discards ?? overflows ?? []);
  const others = [...context.once(observeNicPauses), ...context.once(observeForeignLoads)];
  return [...others.map(({ during }) => during), ...drops, ...context.once(standstills)].some((one) =>
    overlaps(one, around),
  );
}

/** Of jobs that were started again, each from the last step that its old processes ended. */
const standstills = (context: Context): Interval[] =>
  context.once(observeRestarts).map(({ job, stopped }) => {
    const steps = freshSamples(context.read('job_steps', jobId(job.name)));
    const last = steps.findLast(({ timeNs }) => timeNs < stopped.toNs);
    return { fromNs: Math.min(stopped.fromNs, last?.timeNs ?? stopped.fromNs), toNs: stopped.toNs };
  });

/** Foreign flows from under one switch, each to a receiver of its own. */
function meeting(context: Context): Candidate[] {
  const { topology } = context;
  return foreignGroups(context).flatMap((group): Candidate[] => {
    const leaf = leafOf(context, group);
    if (leaf === null || group.loads.length < 2) return [];
    const during = {
      fromNs: median(group.loads.map((load) => load.during.fromNs)),
      toNs: median(group.loads.map((load) => load.during.toNs)),
    };
    const hot = hotUplinks(context, leaf, during);
    const onsets = group.loads.flatMap(({ onsetNs }) => onsetNs ?? []);
    return [
      {
        hypothesis: 'ecmp-collision/unknown',
        element: PATTERN,
        direction: 'both',
        covers: group.loads.map(({ nic }): Unit => `load ${nic}`),
        links: (hot ?? []).map((port) => topology.ports[port].link),
        device: leaf,
        findings: [
          { signature: 'uplink-full-siblings-not', outcome: outcome(hot === null ? null : hot.length > 0) },
          ...group.loads.flatMap((load) =>
            loadFindings(context, group, load).map((finding): Finding => ({
              ...finding,
              unit: `load ${load.nic}`,
            })),
          ),
        ],
        during,
        onsetNs: onsets.length === 0 ? null : median(onsets),
      },
    ];
  });
}

/** The switch under which all senders of a group sit; null without one. */
function leafOf({ topology }: Context, { senders }: ForeignGroup): number | null {
  const leaves = new Set(
    senders.flatMap((nic) =>
      topology.nics[nic].ports.map((port) => topology.ports[peerPort(topology, port)].device),
    ),
  );
  return leaves.size === 1 ? [...leaves][0] : null;
}

/** An uplink that sends at so much of its speed over some poll is full; a sibling with so much less has room. */
const FULL = 0.85;
const LESS = 0.12;

/** Full uplinks of a switch while others have room; empty without any, null when they were not read. */
function hotUplinks(context: Context, device: number, during: Interval): number[] | null {
  const { topology } = context;
  const { ports, tierLevel } = topology.devices[device];
  const loads = ports
    .filter((port) => topology.devices[topology.ports[peerPort(topology, port)].device].tierLevel > tierLevel)
    .map((port) => ({ port, load: busiest(context, port, during) }));
  const known = loads.flatMap(({ load }) => load ?? []);
  if (known.length < 2) return null;
  const least = Math.min(...known);
  return loads
    .filter(({ load }) => load !== null && load >= FULL && load - least >= LESS)
    .map(({ port }) => port);
}

const groupOf = (context: Context, culprit: Explanation): ForeignGroup | undefined =>
  foreignGroups(context).find(({ loads }) => loads.some(({ nic }) => culprit.covers.includes(`load ${nic}`)));

const linkNames = (context: Context, links: readonly number[]): string =>
  listed(links.map((link) => elementName(context.topology.links[link].id)));

function cause(context: Context, culprit: Explanation): string {
  const times = `from ${since(culprit)} ${until(context, culprit)}`;
  if (isPolarised(culprit)) {
    const switches = context.once(observeIdleSiblings);
    const idle = switches.reduce((sum, one) => sum + one.idle.length, 0);
    const names = listed(switches.map(({ device }) => context.deviceName(device)));
    return `left ${idle} uplinks of ${names} idle ${times} while their siblings (${linkNames(context, culprit.links)}) took over what they carried`;
  }
  const senders = (groupOf(context, culprit)?.senders ?? []).map((nic) => context.topology.nics[nic].name);
  const hot = culprit.links.length === 0 ? '' : ` on ${linkNames(context, culprit.links)}`;
  return `made flows of ${listed(senders)} meet${hot} ${times} while other uplinks of ${context.deviceName(culprit.device ?? 0)} had room`;
}

const MOST_LINKS = 6;

function portsOf(context: Context, culprit: Explanation): number[] {
  const switches = isPolarised(culprit) ? context.once(observeIdleSiblings) : [];
  const hot = culprit.links.map((link) => context.endsOf(context.topology.links[link])[0]);
  return [...hot.slice(0, MOST_LINKS), ...switches.flatMap(({ idle }) => idle).slice(0, MOST_LINKS)];
}

function series(context: Context, culprit: Explanation): (Series | undefined)[] {
  return portsOf(context, culprit).flatMap((port) => [
    context.readPort('port_tx_bytes', port),
    ...allQueues(context, 'queue_tx_bytes', port),
    ...allQueues(context, 'queue_depth_max_bytes', port),
    ...allQueues(context, 'queue_ecn_marked_packets', port),
  ]);
}

const MOST_STEPS = 4;

function steps(context: Context, culprit: Explanation): ChainStep[] {
  return portsOf(context, culprit)
    .slice(0, MOST_STEPS)
    .map((port) => {
      const depth = deepest(context, port, culprit.during) ?? 0;
      const marks = marked(context, port, culprit.during) ?? 0;
      const queue =
        marks > 0
          ? `, its queue held up to ${number(depth / 1e6)} MB and marked ${number(marks)} packets`
          : '';
      const sent = gainWithin(context.readPort('port_tx_bytes', port), culprit.during);
      return {
        element: elementRef(portId(context.portName(port))),
        claim: `sent ${number(sent / 1e9)} GB${queue}`,
        onset_s: seconds(culprit.during.fromNs),
      };
    });
}

function rivals(context: Context, observations: Observations, culprit: Explanation): RuledOut[] {
  const up = culprit.links.filter((link) => observations.links[link].episodes.length === 0);
  const out = up.slice(0, 1).map((link): RuledOut => ({
    kind: 'link-down',
    element: elementRef(context.topology.links[link].id),
    why: 'all ways stayed up; traffic chose among them badly',
  }));
  if (isPolarised(culprit)) return out;
  const device = elementRef(deviceId(context.deviceName(culprit.device ?? 0)));
  const why = 'every receiver had one sender; they met on the way, not at a host';
  return [...out, { kind: 'incast', element: device, why }];
}
