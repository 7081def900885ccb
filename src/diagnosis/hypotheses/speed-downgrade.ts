/**
 * A link, or all links of a device, that run below their speed: renegotiated, or with lanes lost.
 *
 * The speed gauge steps at both ends while nothing goes down and nothing is damaged. A speed that no two ports could have
 * agreed on is lost lanes, so the module or cable; an Ethernet speed may be either. A downgrade of every link of a device
 * at once is the device's (a profile, a line card), by Occam. A slow host side leaves the gauge alone: slow-host-side.ts.
 * Not modelled: a link that was meant to run slower than its topology says.
 */
import { deviceId, elementRef, portId } from '../../core/elements.js';
import type { MetricName } from '../../model/telemetry/catalog.js';
import { number, seconds } from '../series/change.js';
import type { Context, Interval } from '../series/context.js';
import {
  bothEndsSlow,
  isOddSpeed,
  lowestGbps,
  observeSpeeds,
  slowSinceNs,
  slowSpells,
  slowTime,
} from '../features/links/speed.js';
import type { SpeedObservation } from '../features/links/speed.js';
import { median } from '../series/statistics.js';
import { countPresent, outcomeOf } from '../explanation.js';
import type { Explanation } from '../explanation.js';
import type { ChainStep, RuledOut } from '../verdict.js';
import { listed, since, time, until } from '../wording.js';
import { outcome } from './hypothesis.js';
import type { Candidate, Finding, Unit } from '../candidate.js';
import type { Family, Observations } from './hypothesis.js';
import { linkSeries } from './link-account.js';

export const speedDowngrade: Family = {
  hypotheses: ['speed-downgrade/cable', 'speed-downgrade/unknown', 'speed-downgrade/device'],
  hypothesise: (context) => {
    const speeds = context.once(observeSpeeds);
    return [...slowLinks(speeds), ...slowDevices(context, speeds)];
  },
  cause,
  reason,
  series: (context, culprit) => linkSeries(context, { ...culprit, links: shownLinks(culprit) }, PORT_METRICS),
  steps,
  rivals,
};

const PORT_METRICS: readonly MetricName[] = ['port_rate_gbps', 'port_tx_bytes', 'port_rx_bytes'];
/** A slow switch has many links that all say the same. */
const MOST_LINKS = 4;

const shownLinks = ({ links }: Explanation): readonly number[] => links.slice(0, MOST_LINKS);

function slowLinks(speeds: readonly SpeedObservation[]): Candidate[] {
  return speeds.flatMap((speed) => {
    const during = slowTime(speed);
    if (during === null) return [];
    return (['speed-downgrade/cable', 'speed-downgrade/unknown'] as const).map((hypothesis): Candidate => ({
      hypothesis,
      element: elementRef(speed.link.id),
      direction: 'both',
      covers: [`speed ${speed.link.index}`],
      links: [speed.link.index],
      findings: speedFindings(speed),
      during,
      onsetNs: slowSinceNs(speed),
    }));
  });
}

function speedFindings(speed: SpeedObservation): Finding[] {
  const slow = slowTime(speed) !== null;
  return [
    { signature: 'speed-below-rated', outcome: outcome(speed.known ? slow : null) },
    { signature: 'both-ends-slow', outcome: outcome(slow ? bothEndsSlow(speed) : null) },
    { signature: 'odd-speed', outcome: outcome(slow ? isOddSpeed(lowestGbps(speed)) : null) },
  ];
}

/** Share of a device's links that must be slow before the device itself is suspected. */
const SUSPECT_SHARE = 0.5;

function slowDevices(context: Context, speeds: readonly SpeedObservation[]): Candidate[] {
  return context.topology.devices.flatMap((device) => {
    const own = device.ports.map((port) => speeds[context.topology.ports[port].link]);
    const slow = own.filter((speed) => slowTime(speed) !== null);
    if (slow.length < 2 || slow.length < SUSPECT_SHARE * own.length) return [];
    const spans = slow.map((speed) => slowTime(speed)) as Interval[];
    const onsets = slow.flatMap((speed) => slowSinceNs(speed) ?? []);
    const candidate: Candidate = {
      hypothesis: 'speed-downgrade/device',
      element: elementRef(deviceId(device.name)),
      direction: 'both',
      covers: own.map(({ link }): Unit => `speed ${link.index}`),
      links: slow.map(({ link }) => link.index),
      device: device.index,
      findings: own.flatMap((speed) =>
        speedFindings(speed).map((finding): Finding => ({ ...finding, unit: `speed ${speed.link.index}` })),
      ),
      during: {
        fromNs: median(spans.map(({ fromNs }) => fromNs)),
        toNs: median(spans.map(({ toNs }) => toNs)),
      },
      onsetNs: onsets.length < slow.length / 2 ? null : median(onsets),
    };
    return [candidate];
  });
}

/** `100 instead of 400 Gbit/s` */
function speedsOf(context: Context, link: number): string {
  const speed = context.once(observeSpeeds)[link];
  return `${number(lowestGbps(speed))} instead of ${number(speed.link.rateGbps)} Gbit/s`;
}

function cause(context: Context, culprit: Explanation): string {
  const speeds = speedsOf(context, culprit.links[0]);
  const what =
    culprit.element.type === 'device'
      ? `had ${culprit.links.length} links run at ${speeds}`
      : `ran at ${speeds}`;
  return `${what} from ${since(culprit)} ${spells(context, culprit)}`;
}

/** `until 20 s`, and when it was so again. */
function spells(context: Context, culprit: Explanation): string {
  const { element, during, links } = culprit;
  const all = element.type === 'device' ? [during] : slowSpells(context.once(observeSpeeds)[links[0]]);
  const [first, ...later] = all;
  const again = later.map((spell) => `from ${time(spell.fromNs)} s ${until(context, { during: spell })}`);
  const end = until(context, { during: first });
  return again.length === 0 ? end : `${end} and again ${listed(again)}`;
}

function reason(_: Context, culprit: Explanation): string {
  if (culprit.element.type === 'device') {
    const slow = countPresent(culprit, 'speed-below-rated');
    return `All ${slow} of its links that told their speed were slow together, so look at the device rather than at cables.`;
  }
  if (outcomeOf(culprit, 'odd-speed') === 'present') {
    return 'No two ports agree on such a speed: lanes of the module or cable are lost.';
  }
  return 'It may have lost lanes, or been renegotiated; the speed alone does not tell which.';
}

function steps(context: Context, culprit: Explanation): ChainStep[] {
  const { topology } = context;
  return shownLinks(culprit).flatMap((link) => {
    const { ends } = context.once(observeSpeeds)[link];
    return context.endsOf(topology.links[link]).flatMap((port, end) => {
      const stretch = ends[end]?.[0];
      if (stretch === undefined) return [];
      const claim = `its speed fell to ${number(stretch.lowestGbps)} Gbit/s`;
      return [
        { element: elementRef(portId(context.portName(port))), claim, onset_s: seconds(stretch.firstSlowNs) },
      ];
    });
  });
}

/** Nothing went down or missing while it was slow. */
function rivals(context: Context, observations: Observations, culprit: Explanation): RuledOut[] {
  const { topology } = context;
  const link = observations.links[culprit.links[0]];
  const element = elementRef(topology.links[culprit.links[0]].id);
  const out: RuledOut[] = [];
  if (link.episodes.length === 0 && link.ends.some((end) => end.statusKnown)) {
    out.push({ kind: 'link-down', element, why: 'both ends kept reporting the port up' });
  }
  if (link.sentBy.every(({ intact }) => intact)) {
    out.push({ kind: 'one-way-loss', element, why: 'all bytes that were sent over it arrived' });
  }
  return out;
}
