/**
 * Ports, sessions and devices that blink where no job is hurt.
 *
 * Half of all flaps come from one link in a hundred, last some seconds and often hit ports that nothing crosses; BFD in
 * software misses three packets now and then; a planned warm restart silences the management of a switch and no port.
 */
import { portId } from '../../../src/core/elements.js';
import type { DiagnosisInput } from '../../../src/diagnosis/index.js';
import type { Link } from '../../../src/model/topology/model.js';
import type { Evidence } from '../../../src/model/telemetry/series.js';
import {
  edited,
  isPolled,
  notAvailable,
  tellerOf,
  withEvents,
  withSamples,
  withState,
  withValues,
} from './edits.js';
import { pickOne, uniform, type Perturbation } from './perturbation.js';

const LEAST_NS = 5e9;

/** A time within the window from which some seconds are left. */
const timeWithin = ({ fromNs, toNs }: Evidence, seed: number): number =>
  fromNs + LEAST_NS + (toNs - fromNs - 4 * LEAST_NS) * uniform(seed, 'when');

/** Links that carry nothing at all in the window, and that go down for no other reason. */
function idleLinks({ topology, evidence }: DiagnosisInput): Link[] {
  const used = new Set(
    evidence.series.flatMap(({ metric, element, values }) => {
      const moved = /^port_[rt]x_bytes$/.test(metric) && values.some((value) => value !== values[0]);
      return moved || (metric === 'port_oper_status' && values.includes(0)) ? [element] : [];
    }),
  );
  return topology.links.filter(({ portA, portB }) =>
    [portA, portB].every((port) => !used.has(portId(topology.ports[port].name))),
  );
}

function flapped({ topology, evidence }: DiagnosisInput, link: Link, fromNs: number, toNs: number): Evidence {
  const ends = new Set([link.portA, link.portB].map((port) => portId(topology.ports[port].name)));
  return edited(evidence, (series) => {
    if (!ends.has(series.element)) return series;
    switch (series.metric) {
      case 'port_oper_status':
      case 'bfd_session_status':
        return withState(series, 0, fromNs, toNs);
      case 'port_link_down_events':
        return withEvents(series, [{ timeNs: fromNs, count: 1 }]);
      case 'port_rate_gbps':
      case 'port_fec_pre_ber':
        return notAvailable(series, fromNs, toNs);
      default:
        return series;
    }
  });
}

export const PORTS: readonly Perturbation[] = [
  {
    name: 'idle-flap',
    what: 'a port that no job uses flaps once',
    apply: (world, seed) => {
      const link = pickOne(idleLinks(world), seed, 'link');
      if (link === undefined) return null;
      const fromNs = timeWithin(world.evidence, seed);
      return { evidence: flapped(world, link, fromNs, fromNs + 2e9 + 6e9 * uniform(seed, 'length')) };
    },
  },
  {
    name: 'bfd-bounce',
    what: 'a BFD session bounces for a second; no port goes down, no traffic is lost',
    apply: ({ topology, evidence }, seed) => {
      const sessions = evidence.series.flatMap(({ metric, element }) =>
        metric === 'bfd_session_status' ? [element] : [],
      );
      const one = pickOne(sessions, seed, 'session');
      if (one === undefined) return null;
      const fromNs = timeWithin(evidence, seed);
      const link = topology.links.find(({ portA, portB }) =>
        [portA, portB].some((port) => portId(topology.ports[port].name) === one),
      );
      const ends = [link?.portA, link?.portB].flatMap((port) =>
        port === undefined ? [] : [portId(topology.ports[port].name)],
      );
      return {
        evidence: edited(evidence, (series) =>
          series.metric === 'bfd_session_status' && ends.includes(series.element)
            ? withState(series, 0, fromNs, fromNs + 1e9)
            : series,
        ),
      };
    },
  },
  {
    name: 'management-gone',
    what: 'the management of a switch is gone for 15 s (a planned warm restart)',
    apply: ({ topology, evidence }, seed) => {
      const device = pickOne(
        topology.devices.filter(({ role }) => role === 'switch'),
        seed,
        'device',
      );
      const fromNs = timeWithin(evidence, seed);
      const toNs = fromNs + 15e9;
      return {
        evidence: edited(evidence, (series) => {
          if (tellerOf(series) !== device?.name) return series;
          if (series.metric === 'device_reachable') {
            return withValues(series, (old, timeNs) => (timeNs < fromNs || timeNs > toNs ? old : 0));
          }
          return isPolled(series)
            ? withSamples(series, (timeNs) => timeNs < fromNs || timeNs > toNs)
            : series;
        }),
      };
    },
  },
];
