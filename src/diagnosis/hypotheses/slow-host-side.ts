/**
 * A NIC whose host side is too slow for it: a PCIe slot that came up with an older generation or fewer lanes.
 *
 * The port keeps its speed, the NIC waits for its host, and it pauses the switch that feeds it. All NICs of a host at once
 * are the host's doing (a BIOS setting, a riser), by Occam; a NIC that moved nothing tells nothing. Congestion in the
 * network looks otherwise: there the switch pauses, and the NIC does not wait for its host. A receiver that is slow for
 * other reasons stalls on writes and never on reads: slow-receiver.ts. Not modelled: which lane or which generation it is.
 */
import { deviceId, elementRef, nicId } from '../../core/elements.js';
import { peerPort } from '../../model/topology/model.js';
import type { Series } from '../../model/telemetry/series.js';
import type { Context, Interval } from '../series/context.js';
import { STALL_METRICS, movedBytes, observeHostSides } from '../features/jobs/host-side.js';
import type { HostSideObservation } from '../features/jobs/host-side.js';
import { number, seconds } from '../series/change.js';
import { samplesWithin } from '../series/samples.js';
import { median } from '../series/statistics.js';
import { outcomeOf } from '../explanation.js';
import type { Explanation } from '../explanation.js';
import type { ChainStep, RuledOut } from '../verdict.js';
import { since, until } from '../wording.js';
import { outcome } from './hypothesis.js';
import { hostSideFindings } from './receiver-account.js';
import type { Candidate, Finding, Unit } from '../candidate.js';
import type { Family, Observations } from './hypothesis.js';

export const slowHostSide: Family = {
  hypotheses: ['speed-downgrade/host'],
  hypothesise: (context) => {
    const sides = context.once(observeHostSides);
    return [...slowNics(context, sides), ...slowHosts(context, sides)];
  },
  cause: (context, culprit) => {
    const many = culprit.element.type === 'device';
    return `${many ? 'kept its NICs waiting' : 'waited for its host'} from ${since(culprit)} ${until(context, culprit)}`;
  },
  reason,
  series,
  steps,
  rivals,
};

const unitOf = ({ nic }: HostSideObservation): Unit => `host-side ${nic.index}`;

function slowNics(context: Context, sides: readonly HostSideObservation[]): Candidate[] {
  return sides.flatMap((side) => {
    if (side.during === null) return [];
    const candidate: Candidate = {
      hypothesis: 'speed-downgrade/host',
      element: elementRef(nicId(side.nic.name)),
      direction: 'both',
      covers: [unitOf(side)],
      links: side.nic.ports.map((port) => context.topology.ports[port].link),
      nic: side.nic.index,
      findings: hostSideFindings(context, side.nic, side.during),
      during: side.during,
      onsetNs: onsetOf(context, [side]),
    };
    return [candidate];
  });
}

/** Share of a host's NICs that must wait before the host itself is suspected. */
const SUSPECT_SHARE = 0.5;

function slowHosts(context: Context, sides: readonly HostSideObservation[]): Candidate[] {
  const { topology } = context;
  const byHost: HostSideObservation[][] = topology.devices.map(() => []);
  for (const side of sides) byHost[side.nic.host].push(side);
  return topology.devices.flatMap((device) => {
    const own = byHost[device.index];
    const slow = own.filter(({ during }) => during !== null);
    if (slow.length < 2) return [];
    const spans = slow.map(({ during }) => during) as Interval[];
    const during = {
      fromNs: median(spans.map(({ fromNs }) => fromNs)),
      toNs: median(spans.map(({ toNs }) => toNs)),
    };
    const busy = own.filter((side) => slow.includes(side) || keepsUp(context, side, during));
    if (slow.length < SUSPECT_SHARE * busy.length) return [];
    const candidate: Candidate = {
      hypothesis: 'speed-downgrade/host',
      element: elementRef(deviceId(device.name)),
      direction: 'both',
      covers: own.map(unitOf),
      links: slow.flatMap(({ nic }) => nic.ports.map((port) => topology.ports[port].link)),
      device: device.index,
      findings: [
        { signature: 'all-nics-wait', outcome: outcome(slow.length === busy.length) },
        ...own.flatMap((side) =>
          hostSideFindings(context, side.nic, during).map((finding): Finding => ({
            ...finding,
            unit: unitOf(side),
          })),
        ),
      ],
      during,
      onsetNs: onsetOf(context, slow),
    };
    return [candidate];
  });
}

/** The NIC moved bytes, was asked, and did not wait. */
function keepsUp(context: Context, { nic, stalled }: HostSideObservation, during: Interval): boolean {
  const asked = STALL_METRICS.some((metric) => stalled[metric] !== null);
  return asked && movedBytes(context, nic, during) === true;
}

/** Within the first poll that shows it; null when that was the first of all. */
function onsetOf({ window }: Context, sides: readonly HostSideObservation[]): number | null {
  const firsts = sides.flatMap(({ stalled }) =>
    STALL_METRICS.flatMap((metric) => stalled[metric]?.slice(0, 1) ?? []),
  );
  const first = firsts.reduce((one, other) => (other.fromNs < one.fromNs ? other : one));
  return first.fromNs <= window.fromNs ? null : (first.fromNs + first.toNs) / 2;
}

function reason(_: Context, culprit: Explanation): string {
  const pauses =
    outcomeOf(culprit, 'nic-pauses') === 'present' ? ', and the switch was paused from the host side' : '';
  return `The ports kept their speed${pauses}: look at the PCIe slot (generation, width), not at the network.`;
}

function nicsOf(context: Context, { nic, device }: Explanation) {
  const { nics } = context.topology;
  return nic === undefined ? nics.filter(({ host }) => host === device) : [nics[nic]];
}

function series(context: Context, culprit: Explanation): (Series | undefined)[] {
  return nicsOf(context, culprit).flatMap((nic) => [
    ...STALL_METRICS.map((metric) => context.readNic(metric, nic.index)),
    ...nic.ports.flatMap((port) => [
      context.readPort('port_pause_tx_s', port),
      context.readPort('port_pause_rx_s', peerPort(context.topology, port)),
      context.readPort('port_tx_bytes', port),
    ]),
  ]);
}

const MOST_STEPS = 4;

function steps(context: Context, culprit: Explanation): ChainStep[] {
  const found = nicsOf(context, culprit).flatMap((nic) => {
    const stalls = STALL_METRICS.flatMap((metric) =>
      samplesWithin(context.readNic(metric, nic.index), culprit.during),
    );
    const most = Math.max(0, ...stalls.map(({ value }) => value));
    if (most === 0) return [];
    const claim = `the NIC waited for its host in up to ${number(100 * most)} % of the time`;
    return [{ element: elementRef(nicId(nic.name)), claim, onset_s: seconds(culprit.during.fromNs) }];
  });
  return found.slice(0, MOST_STEPS);
}

function rivals(context: Context, observations: Observations, culprit: Explanation): RuledOut[] {
  return culprit.links.slice(0, 1).flatMap((index): RuledOut[] => {
    const link = observations.links[index];
    const element = elementRef(link.link.id);
    const up = link.episodes.length === 0 && link.ends.some((end) => end.statusKnown);
    return up ? [{ kind: 'link-down', element, why: 'both ends kept reporting the port up' }] : [];
  });
}
