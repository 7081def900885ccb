import { describe, expect, it } from '@jest/globals';
import { buildTopology, topologySchema } from '../../model/topology/topology-spec.js';
import type { Series } from '../../model/telemetry/series.js';
import { diagnose } from '../index.js';
import type { Verdict } from '../index.js';
import { evidenceOf, polled } from '../testing/polled.js';

const SECONDS = 60;
const DOWN_S = 15;
const UP_S = 25;
const PREFIXES = 4;
const topology = buildTopology(
  topologySchema.parse({ builder: 'leaf-spine', leaves: 3, spines: 2, hostsPerLeaf: 1, gpusPerHost: 1 }),
);
const leaf = topology.devices.find(({ name }) => name === 'leaf-2')!;
const port = leaf.ports.find((one) => topology.links[topology.ports[one].link].tier === 'leaf-spine')!;
const ends = [
  topology.links[topology.ports[port].link].portA,
  topology.links[topology.ports[port].link].portB,
];

/** A link that flapped; afterwards the leaf has `after` prefixes over it, and its peers all of theirs. */
function verdictOn(after: number, { upAgainS = UP_S, untilS = SECONDS, onChange = false } = {}): Verdict {
  const away = (second: number): boolean => second >= DOWN_S && second < upAgainS;
  const series = topology.ports.flatMap(({ index, name }) => {
    const id = `port:${name}`;
    const flapped = ends.includes(index);
    const prefixes = (second: number): number => {
      if (index !== port || second < DOWN_S) return flapped && away(second) ? 0 : PREFIXES;
      return away(second) ? 0 : after;
    };
    const sends = (second: number): number => {
      const idle = index === port && after === 0 ? second - DOWN_S : Math.min(second, upAgainS) - DOWN_S;
      return 1e9 * (flapped ? second - Math.max(0, idle) : second);
    };
    return [
      polled('port_oper_status', id, untilS, (second) => (flapped && away(second) ? 0 : 1)),
      polled('route_port_prefixes', id, untilS, prefixes),
      polled('port_tx_bytes', id, untilS, sends),
    ];
  });
  const hops = topology.devices
    .filter(({ role }) => role === 'switch')
    .map(({ name }) =>
      polled('route_next_hops', `device:${name}`, untilS, (second) =>
        name === 'leaf-2' && second >= DOWN_S && (away(second) || after < PREFIXES) ? 4 : 8,
      ),
    );
  const told = [...series, ...hops].map((one) =>
    onChange && one.metric.startsWith('route_') ? changesOf(one) : one,
  );
  return diagnose({ topology, jobs: [], evidence: evidenceOf(told, untilS) });
}

/** Only the samples that differ from the one before. */
function changesOf(series: Series): Series {
  const kept = [...series.values.keys()].filter(
    (at) => at === 0 || series.values[at] !== series.values[at - 1],
  );
  return {
    ...series,
    timesNs: Float64Array.from(kept, (at) => series.timesNs[at]),
    values: Float64Array.from(kept, (at) => series.values[at]),
    quality: new Uint8Array(kept.length),
  };
}

const stale = ({ culprits }: Verdict) => culprits.find(({ kind }) => kind === 'stale-route');

const ownPort = `port:${topology.ports[port].name}`;

/** By series: what is said of it. */
const citedBy = (verdict: Verdict): Record<string, string> =>
  Object.fromEntries(
    stale(verdict)!.evidence.map(({ metric, element, change }) => [`${metric} ${element}`, change]),
  );

describe('a next-hop group that a repair did not fill again', () => {
  it.each([0, 1, PREFIXES - 1])('is named when %s of its four prefixes came back', (after) => {
    expect(stale(verdictOn(after))).toMatchObject({
      element: { type: 'device', id: 'device:leaf-2' },
      side: 'switch',
      onset_s: UP_S,
    });
  });

  it('is told by the next hops of the switch, beside those of its peers, which kept theirs', () => {
    const verdict = verdictOn(0);
    expect(verdict.answer).toContain('4 next hops in use, where its peers have 8');
    expect(citedBy(verdict)).toEqual({
      'route_next_hops device:leaf-2': '8 → 4 next hops',
      [`route_port_prefixes ${ownPort}`]: '4 → 0 prefixes',
      [`port_tx_bytes ${ownPort}`]: '1 → 0 GB/s',
    });
  });

  it('is told by the same where routes are told only when they change, and the last word holds', () => {
    const verdict = verdictOn(0, { onChange: true });
    expect(citedBy(verdict)).toEqual(citedBy(verdictOn(0)));
    const routes = stale(verdict)!.evidence.find(({ metric }) => metric === 'route_next_hops');
    expect(routes?.window).toEqual([DOWN_S, SECONDS]);
  });

  it('is nowhere when all came back', () => {
    expect(stale(verdictOn(PREFIXES))).toBeUndefined();
  });

  it('is not claimed while a port is down, nor before routing had time', () => {
    expect(stale(verdictOn(0, { upAgainS: SECONDS + 1 }))).toBeUndefined();
    expect(stale(verdictOn(0, { untilS: UP_S + 5 }))).toBeUndefined();
  });
});
