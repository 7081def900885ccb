import { describe, expect, it } from '@jest/globals';
import { portId } from '../../core/elements.js';
import { EvidenceIndex } from '../../model/telemetry/series.js';
import { peerPort } from '../../model/topology/model.js';
import { pauseSpread } from './pause-spread.js';
import { EvidenceWriter, topology } from '../testing/synthetic-drill.js';

const S = 1e9;
const portTo = (from: string, to: string): string => {
  const port = topology.ports.find(
    ({ index, device }) =>
      topology.devices[device].name === from &&
      topology.devices[topology.ports[peerPort(topology, index)].device].name === to,
  );
  return port!.name;
};

/** Pause time of ports, in seconds a second; ports not named are never paused. */
function evidence(paused: Record<string, number>, before: Record<string, number> = {}) {
  const writer = new EvidenceWriter();
  for (const { name } of topology.ports) {
    let seconds = 0;
    for (let timeS = 0; timeS <= 60; timeS++) {
      writer.add('port_pause_rx_s', portId(name), timeS, seconds);
      seconds += (timeS >= 20 ? paused : before)[name] ?? 0;
    }
  }
  return new EvidenceIndex(writer.build());
}

const spread = (paused: Record<string, number>, before?: Record<string, number>) =>
  pauseSpread(evidence(paused, before), topology, 20 * S, 40 * S);

describe('spread of pauses', () => {
  it('is not known where no port tells of pauses', () => {
    expect(pauseSpread(new EvidenceIndex(new EvidenceWriter().build()), topology, 20 * S, 40 * S)).toBeNull();
  });

  it('is nothing where nothing is paused', () => {
    expect(spread({})).toEqual({ depthHops: 0, spreadRatio: 0 });
  });

  it('asks one of the counters that are known never to move for all that were polled with it', () => {
    const paused = portTo('leaf-1', 'spine-1');
    const { evidence: whole } = evidence({ [paused]: 1 });
    const read: string[] = [];
    const still = whole.series.map((series) =>
      series.element === portId(paused)
        ? series
        : {
            ...series,
            ...{ timesNs: whole.series[0].timesNs, constant: true },
            get values() {
              read.push(series.element);
              return series.values;
            },
          },
    );
    const seen = pauseSpread(new EvidenceIndex({ ...whole, series: still }), topology, 20 * S, 40 * S);
    expect(seen).toEqual(spread({ [paused]: 1 }));
    expect(new Set(read).size).toBe(1);
  });

  it('follows the chain of waiting devices from the root to the senders', () => {
    const links = topology.links.length;
    // host-3 takes nothing: leaf-2 waits, so do the spine before it and the leaf before that
    const chain = {
      [portTo('leaf-2', 'host-3')]: 1,
      [portTo('spine-1', 'leaf-2')]: 0.9,
      [portTo('leaf-1', 'spine-1')]: 0.5,
      [portTo('host-1', 'leaf-1')]: 0.2,
    };
    expect(spread(chain)).toEqual({ depthHops: 4, spreadRatio: 4 / links });
    const { [portTo('spine-1', 'leaf-2')]: _, ...broken } = chain;
    expect(spread(broken)).toEqual({ depthHops: 2, spreadRatio: 3 / links });
  });

  it('counts a link once that is paused both ways, and comes to an end in a loop', () => {
    const [there, back] = [portTo('leaf-1', 'spine-1'), portTo('spine-1', 'leaf-1')];
    const { depthHops, spreadRatio } = spread({ [there]: 1, [back]: 1 })!;
    expect(spreadRatio).toBe(1 / topology.links.length);
    expect(depthHops).toBe(2);
  });

  it('leaves out what was paused just as long before, and what is paused for a moment', () => {
    const port = portTo('leaf-1', 'spine-1');
    expect(spread({ [port]: 0.3 }, { [port]: 0.3 })).toEqual({ depthHops: 0, spreadRatio: 0 });
    expect(spread({ [port]: 0.005 })).toEqual({ depthHops: 0, spreadRatio: 0 });
  });
});
