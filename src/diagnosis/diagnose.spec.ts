import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Prng } from '../core/prng.js';
import { QUALITY } from '../model/telemetry/series.js';
import { buildTopology, topologySchema } from '../model/topology/topology-spec.js';
import type { Topology } from '../model/topology/model.js';
import { peerPort } from '../model/topology/model.js';
import type { Job } from '../model/workload/job.js';
import { diagnose } from './index.js';
import type { DiagnosisInput } from './index.js';
import { renameDevices } from './testing/rename.js';
import { Scenario, toldOf, withoutSamples } from './testing/scenario.js';
import type { Slowdown, Trouble } from './testing/scenario.js';

const topology: Topology = buildTopology(
  topologySchema.parse({ builder: 'leaf-spine', leaves: 3, spines: 3, hostsPerLeaf: 2, gpusPerHost: 2 }),
);

function jobNamed(name: string, gpus: readonly number[]): Job {
  const ranks = gpus.map((_, rank) => rank);
  return {
    name,
    placement: Int32Array.from(gpus),
    program: {
      operations: [
        {
          type: 'collective',
          name: 'gradients',
          collective: 'all-reduce',
          algorithm: 'ring',
          bytes: 1e9,
          groups: [ranks],
          parallelism: 'data',
          after: [],
        },
      ],
    },
    startNs: 0,
    queuePairs: 1,
    priority: 3,
  };
}

const jobs = [jobNamed('llm-a', [0, 1, 4, 5, 8, 9]), jobNamed('llm-b', [2, 3])];
const slow: Slowdown[] = [{ from: 20, to: 40, factor: 2 }];

const scene = (troubles: Trouble[], slowdowns = slow, seed = 1, skewNs = 0): DiagnosisInput =>
  new Scenario(topology, jobs, troubles, slowdowns, seed, skewNs).input();

const device = (name: string): number => topology.devices.find((one) => one.name === name)?.index ?? -1;
const port = (name: string): number => topology.ports.find((one) => one.name === name)?.index ?? -1;
const linkAt = (portName: string): number => topology.ports[port(portName)].link;
const uplink = linkAt('spine-2/p1');
const nicLink = linkAt('host-3/nic-1');
const idOf = (link: number): string => topology.links[link].id;

describe('a dead link', () => {
  it.each([
    ['between leaf and spine', uplink],
    ['between NIC and leaf', nicLink],
  ])('that was cut %s is the cable', (_, link) => {
    const verdict = diagnose(scene([{ type: 'cut', at: link, from: 20, to: 40 }]));
    expect(verdict.faultFound).toBe(true);
    expect(verdict.culprits).toHaveLength(1);
    expect(verdict.culprits[0]).toMatchObject({
      rank: 1,
      kind: 'link-down',
      element: { type: 'link', id: idOf(link) },
      side: 'cable',
      direction: 'both',
      onset_s: 20,
    });
    expect(verdict.culprits[0].probability).toBeGreaterThan(0.98);
    expect(verdict.answer).toMatch(/went down at 20 s and stayed down until 40 s.*No light arrived/);
  });

  it.each([0, 1])('that was shut down at end %d is the configuration', (end) => {
    for (const link of [uplink, nicLink]) {
      const { portA, portB } = topology.links[link];
      const verdict = diagnose(
        scene([{ type: 'shut-down', at: end === 0 ? portA : portB, from: 20, to: 40 }]),
      );
      expect(verdict.culprits).toHaveLength(1);
      expect(verdict.culprits[0]).toMatchObject({
        kind: 'link-down',
        element: { id: idOf(link) },
        side: 'configuration',
        onset_s: 20,
      });
    }
  });

  it('that goes down again and again is a flap', () => {
    const times = [20, 23.4, 27.1, 31.2];
    const verdict = diagnose(scene(times.map((from) => ({ type: 'cut', at: uplink, from, to: from + 0.8 }))));
    expect(verdict.culprits).toHaveLength(1);
    expect(verdict.culprits[0]).toMatchObject({
      kind: 'link-flap',
      element: { id: idOf(uplink) },
      side: 'cable',
      onset_s: 20,
    });
    expect(verdict.answer).toMatch(/went down 4 times, for 3[.]\d s in all, from 20 s until/);
  });

  it('is named even when it was down before the window opened, without an onset', () => {
    const verdict = diagnose(scene([{ type: 'cut', at: uplink, from: 0, to: 60 }], []));
    expect(verdict.culprits[0]).toMatchObject({ element: { id: idOf(uplink) }, onset_s: null });
  });

  it('that was out of service by configuration all along is no suspect', () => {
    const verdict = diagnose(
      scene([{ type: 'shut-down', at: topology.links[uplink].portA, from: 0, to: 61 }], []),
    );
    expect(verdict.culprits).toEqual([]);
  });
});

describe('one-way loss', () => {
  it.each([
    ['what the leaf sends to the spine', 'leaf-1/p6'],
    ['what the spine sends to the leaf', 'spine-2/p1'],
    ['what the NIC sends', 'host-3/nic-1'],
    ['what the NIC should receive', 'leaf-2/p2'],
  ])('names the link and the sender: %s', (_, sender) => {
    const at = port(sender);
    const verdict = diagnose(scene([{ type: 'one-way', at, from: 20.3, to: 40 }]));
    expect(verdict.culprits).toHaveLength(1);
    expect(verdict.culprits[0]).toMatchObject({
      kind: 'one-way-loss',
      element: { id: idOf(topology.ports[at].link) },
      direction: `port:${sender}`,
    });
    expect(Math.abs((verdict.culprits[0].onset_s ?? NaN) - 20.3)).toBeLessThanOrEqual(1);
  });

  it('is not seen in honest counters that are polled at different instants', () => {
    for (let seed = 1; seed <= 10; seed++) {
      expect(diagnose(scene([], [], seed, 0.3e9)).culprits).toEqual([]);
    }
  });

  it('under unevenly timed polls is found by its session, and the wrong direction is never claimed', () => {
    for (let seed = 1; seed <= 10; seed++) {
      const trouble: Trouble = { type: 'one-way', at: port('leaf-1/p6'), from: 20.3, to: 40 };
      const [culprit, ...others] = diagnose(scene([trouble], slow, seed, 0.3e9)).culprits;
      expect(others).toEqual([]);
      expect(culprit).toMatchObject({ kind: 'one-way-loss', element: { id: idOf(uplink) } });
      expect(['both', 'port:leaf-1/p6']).toContain(culprit.direction);
    }
  });
});

describe('a dead node', () => {
  it.each(['leaf-2', 'spine-3', 'host-5'])('%s is named instead of its links', (name) => {
    const verdict = diagnose(scene([{ type: 'dead', at: device(name), from: 20, to: 40 }]));
    expect(verdict.culprits).toHaveLength(1);
    expect(verdict.culprits[0]).toMatchObject({
      kind: 'node-down',
      element: { type: 'device', id: `device:${name}` },
      side: 'device',
      onset_s: 20,
    });
    expect(verdict.culprits[0].evidence).toContainEqual(
      expect.objectContaining({ metric: 'device_reachable', element: `device:${name}`, change: '1 → 0' }),
    );
  });

  it('is not inferred from a lost management connection', () => {
    const verdict = diagnose(scene([{ type: 'no-management', at: device('spine-3'), from: 20, to: 40 }], []));
    expect(verdict.culprits).toEqual([]);
  });

  it('is still named when nobody polled the devices', () => {
    const input = scene([{ type: 'dead', at: device('leaf-2'), from: 20, to: 40 }]);
    const blind = withoutSamples(input, (series) => series.metric !== 'device_reachable');
    expect(diagnose(blind).culprits.map((culprit) => culprit.element.id)).toEqual(['device:leaf-2']);
  });
});

describe('several faults at once', () => {
  it('are each named with a probability of their own', () => {
    const verdict = diagnose(
      scene([
        { type: 'cut', at: uplink, from: 20, to: 40 },
        { type: 'one-way', at: port('host-5/nic-0'), from: 30, to: 45 },
        { type: 'dead', at: device('spine-3'), from: 25, to: 50 },
      ]),
    );
    const found = new Map(verdict.culprits.map((culprit) => [culprit.element.id, culprit]));
    expect([...found.keys()].sort()).toEqual(
      [idOf(uplink), idOf(linkAt('host-5/nic-0')), 'device:spine-3'].sort(),
    );
    for (const culprit of verdict.culprits) expect(culprit.probability).toBeGreaterThan(0.9);
    expect(verdict.culprits.map((culprit) => culprit.rank)).toEqual([1, 2, 3]);
  });
});

describe('lost time', () => {
  it('is explained by the culprit at work, and jobs that lost none are not affected', () => {
    const verdict = diagnose(scene([{ type: 'cut', at: uplink, from: 20, to: 40 }]));
    expect(verdict.culprits[0].lostTimeShare).toBe(1);
    expect(verdict.affectedJobs).toEqual(['llm-a', 'llm-b']);
    expect(verdict.chain[0].element.id).toBe('job:llm-a');
    expect(verdict.chain.at(-1)?.element.id).toBe(idOf(uplink));
  });

  it('that was lost at another time is not blamed on what stands out, and nobody is found', () => {
    const verdict = diagnose(
      scene([{ type: 'cut', at: uplink, from: 20, to: 40 }], [{ from: 2, to: 12, factor: 2 }]),
    );
    expect(verdict).toMatchObject({ faultFound: null, culprits: [], firstLine: { area: 'unknown' } });
    expect(verdict.remarks).toMatchObject([
      { kind: 'link-down', element: { id: idOf(uplink) }, side: 'cable', from_s: 20, to_s: 40 },
    ]);
  });
});

describe('no fault', () => {
  it('is said when every link was watched and none failed', () => {
    const verdict = diagnose(scene([], []));
    expect(verdict).toMatchObject({ faultFound: false, culprits: [], affectedJobs: [] });
  });

  it('is not said when the jobs lost time that nothing explains', () => {
    expect(diagnose(scene([])).faultFound).toBeNull();
  });
});

describe('missing data', () => {
  it.each(['port_oper_status', 'port_tx_bytes', 'port_link_down_events', 'job_steps'])(
    'never counts as healthy: %s is gone',
    (metric) => {
      const input = withoutSamples(scene([], []), (series) => series.metric !== metric);
      expect(diagnose(input).faultFound).toBeNull();
    },
  );

  it('never counts as healthy: a third of the devices is silent', () => {
    const silent = ['leaf-1', 'spine-1', 'host-4', 'host-5'];
    const input = withoutSamples(scene([], []), ({ element }) =>
      silent.every((name) => !element.includes(name)),
    );
    const verdict = diagnose(input);
    expect(verdict.faultFound).toBeNull();
    expect(verdict.answer).toMatch(/nothing came from/);
  });

  it('never counts as healthy: everything is N/A', () => {
    const input = scene([], []);
    for (const series of input.evidence.series) {
      series.values.fill(NaN);
      series.quality.fill(QUALITY.notAvailable);
    }
    expect(diagnose(input).faultFound).toBeNull();
  });

  it('never counts as healthy: nothing was observed at all', () => {
    const input = scene([], []);
    const empty = { ...input, evidence: { ...input.evidence, series: [] } };
    expect(diagnose(empty)).toMatchObject({ faultFound: null, culprits: [] });
  });

  it('an N/A answer during an outage does not make it healthy', () => {
    const input = scene([{ type: 'cut', at: uplink, from: 20, to: 40 }]);
    for (const series of input.evidence.series) {
      if (series.metric !== 'port_oper_status') continue;
      series.timesNs.forEach((timeNs, index) => {
        if (timeNs !== 20e9) return;
        series.values[index] = NaN;
        series.quality[index] = QUALITY.notAvailable;
      });
    }
    expect(diagnose(input).culprits.map((culprit) => culprit.element.id)).toEqual([idOf(uplink)]);
  });

  it('claims nothing of what nobody told: the configuration of a dead port, the light, the steps of jobs', () => {
    const input = scene([{ type: 'cut', at: uplink, from: 20, to: 40 }]);
    const { answer } = diagnose(withoutSamples(input, ({ metric }) => metric === 'port_oper_status'));
    expect(answer).toContain('Neither optics nor the configuration of its ports were read');
    expect(answer).toContain('What it cost the jobs is not known');
  });

  it('leaves a dead link found when one end of it is mute', () => {
    const input = scene([{ type: 'cut', at: uplink, from: 20, to: 40 }]);
    const mute = withoutSamples(input, ({ element }) => !element.includes('spine-2'));
    expect(diagnose(mute).culprits.map((culprit) => culprit.element.id)).toEqual([idOf(uplink)]);
  });
});

const anyTrouble = fc.record({
  type: fc.constantFrom('cut' as const, 'shut-down' as const, 'one-way' as const, 'dead' as const),
  pick: fc.nat(),
  from: fc.integer({ min: 15, max: 30 }),
  last: fc.integer({ min: 5, max: 15 }),
});

type AnyTrouble = typeof anyTrouble extends fc.Arbitrary<infer Value> ? Value : never;

function troubleOf({ type, pick, from, last }: AnyTrouble): Trouble {
  const count = {
    cut: topology.links,
    dead: topology.devices,
    'shut-down': topology.ports,
    'one-way': topology.ports,
  }[type].length;
  return { type, at: pick % count, from, to: from + last };
}

function truthOf({ type, at }: Trouble): string {
  if (type === 'dead') return `device:${topology.devices[at].name}`;
  return idOf(type === 'cut' ? at : topology.ports[at].link);
}

describe('laws', () => {
  it('any single fault at any place is found, and nothing else', () => {
    fc.assert(
      fc.property(anyTrouble, fc.integer({ min: 1, max: 1000 }), (any, seed) => {
        const trouble = troubleOf(any);
        const verdict = diagnose(scene([trouble], slow, seed));
        expect(toldOf(verdict)).toEqual([truthOf(trouble)]);
      }),
      { numRuns: 60 },
    );
  });

  it('a fault is found with a third of all samples lost', () => {
    fc.assert(
      fc.property(fc.nat(topology.links.length - 1), fc.integer({ min: 1, max: 1e6 }), (link, seed) => {
        const input = scene([{ type: 'cut', at: link, from: 20, to: 40 }]);
        const random = new Prng(seed);
        const kept = withoutSamples(input, () => random.uniform() >= 1 / 3);
        expect(toldOf(diagnose(kept))).toEqual([idOf(link)]);
      }),
      { numRuns: 30 },
    );
  });

  it('renaming the devices renames the verdict and changes nothing else', () => {
    const names = topology.devices.map((one) => one.name);
    fc.assert(
      fc.property(
        fc.array(anyTrouble, { maxLength: 3 }),
        fc.shuffledSubarray(names, { minLength: names.length }),
        (troubles, shuffled) => {
          const input = scene(troubles.map(troubleOf));
          const renamed = renameDevices(input, shuffled);
          const was = diagnose(input);
          const is = diagnose(renamed.input);
          expect(is.faultFound).toBe(was.faultFound);
          expect(is.shareExplained).toBe(was.shareExplained);
          expect(is.affectedJobs).toEqual(was.affectedJobs);
          expect(is.culprits).toEqual(
            was.culprits.map((culprit) => ({
              ...culprit,
              element: { ...culprit.element, id: renamed.rename(culprit.element.id) },
              direction: culprit.direction === 'both' ? 'both' : renamed.rename(culprit.direction),
              evidence: culprit.evidence.map((one) => ({ ...one, element: renamed.rename(one.element) })),
            })),
          );
          expect(is.chain.map((step) => step.element.id)).toEqual(
            was.chain.map((step) => renamed.rename(step.element.id)),
          );
        },
      ),
      { numRuns: 40 },
    );
  });

  it('the same evidence twice gives the same bytes', () => {
    const input = scene([{ type: 'cut', at: uplink, from: 20, to: 40 }]);
    expect(JSON.stringify(diagnose(input))).toBe(JSON.stringify(diagnose(input)));
  });

  it('the order of series in the evidence does not matter', () => {
    const input = scene([{ type: 'dead', at: device('leaf-2'), from: 20, to: 40 }]);
    const reversed = { ...input.evidence, series: [...input.evidence.series].reverse() };
    expect(JSON.stringify(diagnose({ ...input, evidence: reversed }))).toBe(JSON.stringify(diagnose(input)));
  });

  it('every series cited is in the evidence', () => {
    const input = scene([{ type: 'dead', at: device('spine-1'), from: 20, to: 40 }]);
    const known = new Set(input.evidence.series.map(({ metric, element }) => `${metric} ${element}`));
    const cited = diagnose(input).culprits.flatMap((culprit) => culprit.evidence);
    expect(cited.length).toBeGreaterThan(3);
    for (const { metric, element } of cited) expect(known).toContain(`${metric} ${element}`);
  });
});

it('the far end of a port in the fixtures is what the specs think it is', () => {
  expect(topology.ports[peerPort(topology, port('host-3/nic-1'))].name).toBe('leaf-2/p2');
  expect(topology.ports[peerPort(topology, port('leaf-1/p6'))].name).toBe('spine-2/p1');
});
