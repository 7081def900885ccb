/** Failback: bytes, next hops and pace on their own, hosts that ranks have left, and how long is long enough. */
import { describe, expect, it } from '@jest/globals';
import { deviceId, portId } from '../../core/elements.js';
import { EvidenceIndex } from '../../model/telemetry/series.js';
import { faultElements } from '../measures/fault-elements.js';
import { jobPace } from '../measures/step-pace.js';
import {
  END_S,
  evidenceOf,
  EvidenceWriter,
  INJECTED_S,
  jobs,
  LEAF_PORT,
  LINK,
  REVERTED_S,
  STORY,
  topology,
  truth,
} from '../testing/synthetic-drill.js';
import { failback } from './failback.js';

const S = 1e9;
const calm = new EvidenceIndex(evidenceOf({ ...STORY, exposedStallS: 0 }));
const pace = jobPace(calm, jobs[0], INJECTED_S * S, END_S * S)!;

/** Of a job that never lost pace, so that what is written alone decides. */
function after(write: (writer: EvidenceWriter) => void, id = LINK, endS = END_S, paces = [pace]) {
  const writer = new EvidenceWriter();
  write(writer);
  const index = new EvidenceIndex(writer.build());
  const elements = faultElements(topology, [{ ...truth, elements: [{ type: 'link', id }] }]);
  const { failedBack, afterNs } = failback(index, topology, elements, paces, {
    fromNs: 0,
    injectedNs: INJECTED_S * S,
    revertedNs: REVERTED_S * S,
    endNs: endS * S,
  });
  return afterNs === null ? failedBack : afterNs / S;
}

const log =
  (...samples: [number, number][]) =>
  (writer: EvidenceWriter) => {
    for (const [timeS, hops] of samples) writer.add('route_next_hops', deviceId('leaf-1'), timeS, hops);
  };

/** Bytes per ns at one end of a link, a poll a second. */
const count = (writer: EvidenceWriter, port: string, rate: (timeS: number) => number): void => {
  let bytes = 0;
  for (let timeS = 0; timeS <= END_S; timeS++) {
    writer.add('port_tx_bytes', portId(port), timeS, bytes);
    writer.add('port_rx_bytes', portId(port), timeS, 0);
    bytes += rate(timeS) * S;
  }
};

describe('next hops', () => {
  it('are back when their number is what it was, for good', () => {
    expect(after(log([0, 16], [21, 12], [43, 16]))).toBe(3);
    expect(after(log([0, 16], [21, 12], [43, 16], [45, 12], [50, 16]))).toBe(10);
    expect(after(log([0, 16], [21, 12]))).toBe(false);
    expect(after(log([0, 16], [21, 12], [43, 17]))).toBe(false);
  });

  it('are back with the repair where they never changed, or came back sooner', () => {
    expect(after(log([0, 16]))).toBe(0);
    expect(after(log([0, 16], [21, 12], [30, 16]))).toBe(0);
    // what moved before the fault is how it was
    expect(after(log([0, 12], [5, 16]))).toBe(0);
  });

  it('say nothing where they are first told after the fault, or not told at all', () => {
    expect(after(log([25, 16]))).toBeNull();
    expect(after(() => {})).toBeNull();
  });
});

const host = topology.links.find(
  ({ tier, portA, portB }) =>
    [portA, portB].some((port) => topology.devices[topology.ports[port].device].name === 'host-1') &&
    tier === 'host-leaf',
)!;
const hostPort = [host.portA, host.portB]
  .map((port) => topology.ports[port].name)
  .find((name) => name.startsWith('host-'))!;

describe('bytes of a link without siblings', () => {
  const bytes = (backS: number, level = 10) =>
    after((writer) => count(writer, hostPort, (t) => (t < INJECTED_S ? 10 : t < backS ? 0 : level)), host.id);

  it('are back from the first poll that holds the level of before', () => {
    expect([bytes(40), bytes(43)]).toEqual([0, 3]);
    expect(bytes(100)).toBe(false);
  });

  it('may be a tenth below it, and no more', () => {
    expect([bytes(40, 9.05), bytes(40, 8.95)]).toEqual([0, false]);
  });

  it('are not asked for on a link that had none', () => {
    expect(after((writer) => count(writer, hostPort, () => 0), host.id)).toBeNull();
  });

  it('must stay: one good poll, or one that is lost again, is not back', () => {
    const only = (good: (timeS: number) => boolean) =>
      after((writer) => count(writer, hostPort, (t) => (t < INJECTED_S || good(t) ? 10 : 0)), host.id);
    expect(only((t) => t === 45)).toBe(false);
    expect(only((t) => t >= 42 && t < 46)).toBe(false);
    expect(only((t) => t >= 46)).toBe(6);
  });

  it('are not asked for once ranks have left the host', () => {
    const gone = (allocated: [number, number][]) =>
      after((writer) => {
        count(writer, hostPort, (t) => (t < INJECTED_S ? 10 : 0));
        log([0, 16])(writer);
        for (const [timeS, gpus] of allocated)
          writer.add('host_allocated_gpus', deviceId('host-1'), timeS, gpus);
      }, host.id);
    expect(
      gone([
        [0, 2],
        [30, 0],
      ]),
    ).toBe(0);
    expect(
      gone([
        [0, 2],
        [30, 1],
      ]),
    ).toBe(0);
    for (const stayed of [
      [[0, 2]],
      [
        [0, 1],
        [30, 2],
      ],
      [[30, 0]],
      [],
    ] as [number, number][][])
      expect(gone(stayed)).toBe(false);
  });
});

describe('bytes of a link with siblings', () => {
  const leafPort = (spine: number): string =>
    topology.ports.find(({ device, link }) => {
      const { portA, portB } = topology.links[link];
      const ends = [portA, portB].map((port) => topology.devices[topology.ports[port].device].name);
      return topology.devices[device].name === 'leaf-1' && ends.includes(`spine-${spine}`);
    })!.name;
  const share = (own: (timeS: number) => number, others: (timeS: number) => number) =>
    after((writer) => {
      count(writer, LEAF_PORT, (t) => (t < INJECTED_S ? 10 : own(t)));
      for (const spine of [1, 3]) count(writer, leafPort(spine), (t) => (t < INJECTED_S ? 10 : others(t)));
    });

  it('are a share of the group’s, whatever the pace of the jobs', () => {
    expect(
      share(
        (t) => (t < REVERTED_S ? 0 : 2),
        () => 2,
      ),
    ).toBe(0);
    expect(
      share(
        (t) => (t < REVERTED_S ? 0 : 2),
        () => 10,
      ),
    ).toBe(false);
  });

  it('are not told by intervals in which nobody sends', () => {
    expect(
      share(
        (t) => (t < 44 ? 0 : 10),
        (t) => (t >= REVERTED_S && t < 44 ? 0 : 10),
      ),
    ).toBe(4);
  });
});

describe('failback', () => {
  it('is not known without jobs, nor when the watch is shorter than a job must hold its pace', () => {
    expect(after(log([0, 16]), LINK, END_S, [])).toBeNull();
    expect(after(log([0, 16]), LINK, REVERTED_S + 1.9)).toBeNull();
    expect(after(log([0, 16]), LINK, REVERTED_S + 2)).toBe(0);
  });

  it('comes with the last of all that must be back', () => {
    const both = (hopsS: number, bytesS: number) =>
      after((writer) => {
        log([0, 16], [21, 12], [hopsS, 16])(writer);
        count(writer, hostPort, (t) => (t >= INJECTED_S && t < bytesS ? 0 : 10));
      }, host.id);
    expect([both(43, 47), both(48, 42)]).toEqual([7, 8]);
  });
});
