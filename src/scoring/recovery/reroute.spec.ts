/** Time to reroute: who stands in for whom, what counts as settled, and what a log of routes adds. */
import { describe, expect, it } from '@jest/globals';
import { portId } from '../../core/elements.js';
import { EvidenceIndex } from '../../model/telemetry/series.js';
import { faultElements } from '../measures/fault-elements.js';
import { EvidenceWriter, LEAF_PORT, LINK, topology, truth } from '../testing/synthetic-drill.js';
import { firstSteadyNs, timeToRerouteNs } from './reroute.js';

const S = 1e9;
const INJECTED_S = 10;
const UNTIL_S = 20;

const uplinks = topology.links.filter(({ id }) => /leaf-1\/p\d+--spine/.test(id));
const leafPort = (link: (typeof uplinks)[number]): string =>
  [link.portA, link.portB].map((port) => topology.ports[port].name).find((name) => name.startsWith('leaf-'))!;
const siblings = uplinks.filter(({ id }) => id !== LINK).map(leafPort);

/** Rates in bytes per ns, a poll a second; before the fault each uplink carries 10. */
interface Traffic {
  dead: (timeS: number) => number;
  healthy: (timeS: number, sibling: number) => number;
  routes?: readonly (readonly [number, number])[];
}

function rerouteS({ dead, healthy, routes = [] }: Traffic, untilS = UNTIL_S): number | null {
  const writer = new EvidenceWriter();
  const count = (port: string, rate: (timeS: number) => number): void => {
    let bytes = 0;
    for (let timeS = 0; timeS <= UNTIL_S; timeS++) {
      writer.add('port_tx_bytes', portId(port), timeS, bytes);
      writer.add('port_rx_bytes', portId(port), timeS, 0);
      bytes += rate(timeS) * S;
    }
  };
  const from = (rate: (timeS: number) => number) => (timeS: number) =>
    timeS < INJECTED_S ? 10 : rate(timeS);
  count(LEAF_PORT, from(dead));
  siblings.forEach((port, at) =>
    count(
      port,
      from((timeS) => healthy(timeS, at)),
    ),
  );
  for (const [timeS, prefixes] of routes)
    writer.add('route_port_prefixes', portId(LEAF_PORT), timeS, prefixes);
  const index = new EvidenceIndex(writer.build(UNTIL_S));
  const elements = faultElements(topology, [truth]);
  const ns = timeToRerouteNs(index, topology, elements, INJECTED_S * S, untilS * S);
  return ns === null ? null : ns / S;
}

describe('traffic has moved', () => {
  it('once the dead link carries a hundredth at most', () => {
    const left = (share: number) => rerouteS({ dead: (t) => (t < 13 ? share * 10 : 0), healthy: () => 10 });
    expect([left(0.0099), left(0.011)]).toEqual([0, 3]);
  });

  it('once nine tenths of what the members left can carry are carried', () => {
    // three members carried 30, two are left
    const carried = (both: number) => rerouteS({ dead: () => 0, healthy: (t) => (t < 14 ? both / 2 : 10) });
    expect([carried(18.1), carried(17.9)]).toEqual([0, 4]);
  });

  it('once each member carries nine tenths of what it does when settled', () => {
    const uneven = (first: number) =>
      rerouteS({ dead: () => 0, healthy: (t, at) => (at === 1 ? 14 : t < 12 ? first : 10) });
    expect([uneven(9.1), uneven(8.9)]).toEqual([0, 2]);
  });

  it('only where it stays so for one poll more', () => {
    expect(rerouteS({ dead: (t) => (t === 11 ? 5 : 0), healthy: () => 10 })).toBe(2);
  });

  it('never where the members do not take it over, nor where nothing crossed the link before', () => {
    expect(rerouteS({ dead: () => 0, healthy: () => 1 })).toBeNull();
    expect(rerouteS({ dead: () => 10, healthy: () => 10 })).toBeNull();
  });
});

describe('the log of routes', () => {
  const moved = { dead: () => 0, healthy: () => 10 };
  const logged = (...routes: [number, number][]) => rerouteS({ ...moved, routes });

  it('tells the moment at which the last prefix left the dead link', () => {
    expect(logged([0, 4], [10.3, 0])).toBeCloseTo(0.3, 9);
    expect(logged([0, 4], [10.2, 1], [10.7, 0])).toBeCloseTo(0.7, 9);
  });

  it('adds nothing where no route led over the link, or none has left it', () => {
    expect(logged()).toBe(0);
    expect(logged([0, 0], [10.3, 0])).toBe(0);
    expect(logged([10.3, 0])).toBe(0);
    expect(logged([0, 4], [10.3, 2])).toBe(0);
  });

  it('is read from the injection to the revert, both of them apart and included', () => {
    expect(logged([0, 4], [5, 0], [6, 4], [10.4, 0])).toBeCloseTo(0.4, 9);
    expect(logged([0, 4], [UNTIL_S, 0])).toBe(UNTIL_S - INJECTED_S);
    expect(
      rerouteS(
        {
          ...moved,
          routes: [
            [0, 4],
            [16, 0],
          ],
        },
        15,
      ),
    ).toBe(0);
  });
});

describe('the first steady interval', () => {
  const spans = [0, 1, 2, 3].map((at) => ({ fromNs: at, toNs: at + 1 }));
  const steady = (...good: boolean[]) => firstSteadyNs(spans, ({ fromNs }) => good[fromNs]);

  it('is good together with the next, or the last of all', () => {
    expect(steady(true, true, false, false)).toBe(0);
    expect(steady(true, false, true, true)).toBe(2);
    expect(steady(true, false, false, true)).toBe(3);
    expect(steady(false, true, false, false)).toBeNull();
    expect(firstSteadyNs([], () => true)).toBeNull();
  });
});
