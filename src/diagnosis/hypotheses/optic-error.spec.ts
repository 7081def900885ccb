import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { portId } from '../../core/elements.js';
import { Prng } from '../../core/prng.js';
import { QUALITY, SeriesBuilder } from '../../model/telemetry/series.js';
import type { Series } from '../../model/telemetry/series.js';
import { buildTopology, topologySchema } from '../../model/topology/topology-spec.js';
import { peerPort } from '../../model/topology/model.js';
import type { Job } from '../../model/workload/job.js';
import { diagnose } from '../index.js';
import type { DiagnosisInput } from '../index.js';
import { Scenario, withoutSamples } from '../testing/scenario.js';
import type { Slowdown, Trouble } from '../testing/scenario.js';

const topology = buildTopology(
  topologySchema.parse({ builder: 'leaf-spine', leaves: 3, spines: 2, hostsPerLeaf: 2, gpusPerHost: 2 }),
);
const portNamed = (name: string): number => topology.ports.find((port) => port.name === name)!.index;

const job: Job = {
  name: 'job',
  placement: Int32Array.from({ length: 12 }, (_, gpu) => gpu),
  program: { operations: [{ type: 'compute', name: 'forward', durationNs: 4e8, after: [] }] },
  startNs: 0,
  queuePairs: 1,
  priority: 3,
};

interface Errors {
  sender: number;
  cause: 'connector' | 'laser' | 'serdes';
  ber: number;
  /** 20 and 40 when left out. */
  fromS?: number;
  toS?: number;
}

const FROM_S = 20;
const TO_S = 40;
const FALL_DB = 3;

/** A scenario with the signal of every port besides: errors arrive at the peers of the senders between 20 and 40 s. */
function scene(
  errors: readonly Errors[],
  troubles: Trouble[] = [],
  seed = 1,
  slowdowns: Slowdown[] = [],
): DiagnosisInput {
  const jobs = slowdowns.length === 0 ? [] : [job];
  const input = new Scenario(topology, jobs, troubles, slowdowns, seed).input();
  const random = new Prng(seed);
  const extra = topology.ports.flatMap((port) => signalOf(port.index, errors, random));
  const plain = input.evidence.series.filter(({ metric }) => metric !== 'optic_rx_power_dbm');
  return { ...input, evidence: { ...input.evidence, series: [...plain, ...extra] } };
}

function signalOf(port: number, errors: readonly Errors[], random: Prng): Series[] {
  const element = portId(topology.ports[port].name);
  const ber = new SeriesBuilder('port_fec_pre_ber', element);
  const lost = new SeriesBuilder('port_fec_uncorrected_codewords', element);
  const rx = new SeriesBuilder('optic_rx_power_dbm', element);
  const tx = new SeriesBuilder('optic_tx_power_dbm', element);
  const arriving = errors.find(({ sender }) => peerPort(topology, sender) === port);
  const leaving = errors.find(({ sender }) => sender === port);
  let codewords = 0;
  for (let second = 0; second <= 60; second++) {
    const isHeld = (one: Errors | undefined): boolean =>
      one !== undefined && second > (one.fromS ?? FROM_S) && second <= (one.toS ?? TO_S);
    const healthy = 1e-12 * 700 ** random.uniform();
    const hurt = isHeld(arriving) ? arriving : undefined;
    if (hurt !== undefined && hurt.ber > 5e-4) codewords += 1000;
    ber.push(second * 1e9, hurt?.ber ?? healthy);
    lost.push(second * 1e9, codewords);
    if (second % 5 > 0) continue;
    const weak = isHeld(leaving) && leaving?.cause === 'laser' ? FALL_DB : 0;
    const less = hurt !== undefined && hurt.cause !== 'serdes' ? FALL_DB : 0;
    tx.push(second * 1e9, 1 - weak + 0.01 * random.normal());
    rx.push(second * 1e9, -1 - less + 0.01 * random.normal());
  }
  return [ber, lost, rx, tx].map((builder) => builder.build());
}

const roleOf = (port: number): string => topology.devices[topology.ports[port].device].role;

describe('errors on a link', () => {
  it('are found at any port, from any cause, with side and direction, from the ratio on that the code is not made for', () => {
    fc.assert(
      fc.property(
        fc.nat(topology.ports.length - 1),
        fc.constantFrom('connector' as const, 'laser' as const, 'serdes' as const),
        fc.double({ min: -3.6, max: -2.9, noNaN: true }),
        fc.integer({ min: 1, max: 1e6 }),
        (sender, cause, exponent, seed) => {
          const { culprits } = diagnose(scene([{ sender, cause, ber: 10 ** exponent }], [], seed));
          expect(culprits).toHaveLength(1);
          expect(culprits[0]).toMatchObject({
            kind: 'optic-error',
            element: { type: 'link', id: topology.links[topology.ports[sender].link].id },
            side: cause === 'connector' ? 'cable' : roleOf(sender),
            direction: `port:${topology.ports[sender].name}`,
          });
          expect(Math.abs((culprits[0].onset_s ?? NaN) - FROM_S)).toBeLessThanOrEqual(1);
        },
      ),
      { numRuns: 12 },
    );
  });

  it('that are all corrected are nobody, however far they rose', () => {
    const sender = portNamed('leaf-1/p5');
    for (const ber of [1e-8, 1e-6, 1e-4]) {
      const { culprits, faultFound } = diagnose(
        scene([{ sender, cause: 'serdes', ber }], [], 1, [{ from: 0, to: 0, factor: 1 }]),
      );
      expect([ber, culprits, faultFound]).toEqual([ber, [], false]);
    }
  });

  it('in both directions are one fault in both directions', () => {
    const sender = portNamed('leaf-1/p5');
    const both = [sender, peerPort(topology, sender)].map((one) => ({
      sender: one,
      cause: 'connector' as const,
      ber: 1e-3,
    }));
    const { culprits } = diagnose(scene(both));
    expect(culprits).toHaveLength(1);
    expect(culprits[0]).toMatchObject({ kind: 'optic-error', side: 'cable', direction: 'both' });
  });

  it('in one direction and later in the other are two faults', () => {
    const sender = portNamed('leaf-1/p5');
    const { culprits } = diagnose(
      scene([
        { sender, cause: 'connector', ber: 1e-3, fromS: 12, toS: 22 },
        { sender: peerPort(topology, sender), cause: 'laser', ber: 1e-3, fromS: 36, toS: 48 },
      ]),
    );
    expect(culprits.map(({ kind, side, direction }) => [kind, side, direction])).toEqual([
      ['optic-error', 'cable', 'port:leaf-1/p5'],
      ['optic-error', 'switch', `port:${topology.ports[peerPort(topology, sender)].name}`],
    ]);
    const [first, second] = culprits.map(({ onset_s }) => onset_s!);
    expect(Math.abs(first - 12) <= 1 && Math.abs(second - 36) <= 1).toBe(true);
  });

  it('are told from a port that somebody shuts down afterwards, and from one that was shut down before', () => {
    const sender = portNamed('leaf-1/p5');
    const kindsOf = (downFrom: number, downTo: number): string[] => {
      const { culprits } = diagnose(
        scene(
          [{ sender, cause: 'connector', ber: 1e-3 }],
          [{ type: 'shut-down', at: sender, from: downFrom, to: downTo }],
        ),
      );
      return culprits.map(({ kind, side }) => `${kind} ${side}`).sort();
    };
    expect(kindsOf(48, 56)).toEqual(['link-down configuration', 'optic-error cable']);
    expect(kindsOf(6, 13)).toEqual(['link-down configuration', 'optic-error cable']);
    // within the errors it is one of their doings, or of somebody who saw them
    expect(kindsOf(30, 34)).toHaveLength(1);
  });

  it('so many that the link is down, and no ratio can be read, still have a direction', () => {
    const sender = portNamed('leaf-1/p5');
    const down: Trouble = { type: 'cut', at: topology.ports[sender].link, from: FROM_S, to: TO_S };
    const directionOf = (senders: readonly number[]) => {
      const errors = senders.map((one) => ({ sender: one, cause: 'serdes' as const, ber: 3e-3 }));
      const input = scene(errors, [down]);
      const bare = withoutSamples(
        input,
        ({ metric, timesNs }, index) =>
          metric !== 'port_fec_pre_ber' || timesNs[index] <= FROM_S * 1e9 || timesNs[index] > TO_S * 1e9,
      );
      const { culprits } = diagnose(bare);
      expect(culprits.map(({ kind }) => kind)).toEqual(['optic-error']);
      return culprits[0].direction;
    };
    expect(directionOf([sender])).toBe('port:leaf-1/p5');
    expect(directionOf([sender, peerPort(topology, sender)])).toBe('both');
  });

  it('that take the link down soon after the first poll last as long as it is down, and so does what they cost', () => {
    const sender = portNamed('leaf-1/p5');
    const down: Trouble = { type: 'cut', at: topology.ports[sender].link, from: FROM_S + 0.3, to: TO_S };
    const slow = { from: FROM_S, to: TO_S, factor: 1.12 };
    const input = scene([{ sender, cause: 'serdes', ber: 3e-3 }], [down], 1, [slow]);
    for (const { metric, timesNs, values, quality } of input.evidence.series) {
      if (!metric.startsWith('port_fec')) continue;
      timesNs.forEach((timeNs, index) => {
        const isDown = timeNs > FROM_S * 1e9 && timeNs <= TO_S * 1e9;
        // what the first poll had counted is all that there will be
        if (metric === 'port_fec_uncorrected_codewords') values[index] = Math.min(values[index], 1000);
        else if (isDown) [values[index], quality[index]] = [NaN, QUALITY.notAvailable];
      });
    }
    const { culprits, chain, answer } = diagnose(input);
    expect(culprits.map(({ kind }) => kind)).toEqual(['optic-error']);
    expect(culprits[0].onset_s).toBeCloseTo(FROM_S + 0.15, 1);
    expect(answer).toMatch(/until 40 s/);
    const lostS = Number(/job \(([\d.]+) s lost\)/.exec(answer)?.[1]);
    expect(lostS).toBeGreaterThan(0.8 * (TO_S - FROM_S) * (1 - 1 / slow.factor));
    expect(chain.length).toBeGreaterThan(0);
  });

  it('that take the link down before any poll are told by light that fell and was not lost', () => {
    const sender = portNamed('leaf-1/p5');
    const down: Trouble = { type: 'cut', at: topology.ports[sender].link, from: FROM_S, to: TO_S };
    const verdictOf = (cause: Errors['cause']) => {
      const input = scene([{ sender, cause, ber: NaN }], [down]);
      const { culprits } = diagnose(input);
      return culprits.map(({ kind, side, direction }) => `${kind} ${side} ${direction}`);
    };
    expect(verdictOf('connector')).toEqual(['optic-error cable port:leaf-1/p5']);
    expect(verdictOf('laser')).toEqual(['optic-error switch port:leaf-1/p5']);
    // full light, and nothing that was counted: a port that went down for reasons of its own
    expect(verdictOf('serdes')).toEqual(['link-down unknown both']);
  });

  it('that end in flaps are errors, and flaps without errors are flaps', () => {
    const sender = portNamed('leaf-1/p5');
    const at = topology.ports[sender].link;
    const flaps = [30, 33, 36].map((from): Trouble => ({ type: 'cut', at, from, to: from + 0.5 }));
    const kindOf = (errors: Errors[]) => diagnose(scene(errors, flaps)).culprits.map(({ kind }) => kind);
    expect(kindOf([{ sender, cause: 'connector', ber: 1.5e-3 }])).toEqual(['optic-error']);
    expect(kindOf([])).toEqual(['link-flap']);
  });

  it('are not what takes down a cut link that spoils some codewords as it goes', () => {
    const at = topology.ports[portNamed('leaf-1/p5')].link;
    const input = scene([], [{ type: 'cut', at, from: FROM_S, to: TO_S }]);
    for (const series of input.evidence.series) {
      const own = [topology.links[at].portA, topology.links[at].portB].map((one) =>
        portId(topology.ports[one].name),
      );
      if (series.metric !== 'port_fec_uncorrected_codewords' || !own.includes(series.element)) continue;
      series.timesNs.forEach((timeNs, index) => {
        series.values[index] = (timeNs > FROM_S * 1e9 ? 500 : 0) + (timeNs > TO_S * 1e9 ? 300 : 0);
      });
    }
    expect(diagnose(input).culprits.map(({ kind }) => kind)).toEqual(['link-down']);
  });

  it('do not tell the side where nobody read the optics', () => {
    const input = scene([{ sender: portNamed('leaf-1/p5'), cause: 'laser', ber: 1e-3 }]);
    const blind = withoutSamples(input, ({ metric }) => !metric.startsWith('optic_'));
    const { culprits, answer } = diagnose(blind);
    expect(culprits[0]).toMatchObject({ kind: 'optic-error', direction: 'port:leaf-1/p5' });
    expect(answer).toMatch(/is not shown/);
  });

  it('are found by damaged frames alone where no FEC is counted, and flaps are told from them there too', () => {
    const sender = portNamed('leaf-1/p5');
    const receiver = portId(topology.ports[peerPort(topology, sender)].name);
    const damaged = (rising: (second: number) => boolean, troubles: Trouble[] = []): string[] => {
      const input = withoutSamples(
        scene([], troubles),
        ({ metric }) => !/^(optic|port_fec|port_rx_errors)/.test(metric),
      );
      const series = topology.ports.map(({ name }) => {
        const counter = new SeriesBuilder('port_rx_errors', portId(name));
        for (let second = 0, frames = 0; second <= 60; second++) {
          if (portId(name) === receiver && rising(second)) frames += 15;
          counter.push(second * 1e9, frames);
        }
        return counter.build();
      });
      const evidence = { ...input.evidence, series: [...input.evidence.series, ...series] };
      return diagnose({ ...input, evidence }).culprits.map(({ kind, direction }) => `${kind} ${direction}`);
    };
    expect(damaged((second) => second > FROM_S && second <= TO_S)).toEqual(['optic-error port:leaf-1/p5']);
    expect(damaged((second) => second === FROM_S)).toEqual([]);
    const at = topology.ports[sender].link;
    const flaps = [30, 33, 36].map((from): Trouble => ({ type: 'cut', at, from, to: from + 0.5 }));
    expect(damaged((second) => [31, 34, 37].includes(second), flaps)).toEqual(['link-flap both']);
  });

  it('are no errors at the rates of healthy links', () => {
    expect(diagnose(scene([])).culprits).toEqual([]);
  });
});
