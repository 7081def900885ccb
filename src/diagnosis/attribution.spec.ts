/** How lost time is split, of explanations and losses made by hand. */
import { describe, expect, it } from '@jest/globals';
import { buildTopology, topologySchema } from '../model/topology/topology-spec.js';
import { attribute } from './attribution.js';
import type { Explanation } from './explanation.js';
import type { JobLoss } from './features/jobs/job-loss.js';
import { Context } from './series/context.js';

const S = 1e9;
const topology = buildTopology(
  topologySchema.parse({ builder: 'leaf-spine', leaves: 2, spines: 2, hostsPerLeaf: 2, gpusPerHost: 1 }),
);
const job = (name: string, ...gpus: number[]) => ({
  ...{ name, placement: Int32Array.from(gpus), program: { operations: [] } },
  ...{ startNs: 0, queuePairs: 1, priority: 3 },
});
const [wide, near] = [job('wide', 0, 2), job('near', 0, 1)];
const context = new Context({
  topology,
  jobs: [wide, near],
  evidence: { fromNs: 0, toNs: 60 * S, series: [] },
});
const linkOf = (part: string) => topology.links.find(({ id }) => id.includes(part))!;

const suspect = (link: string, fromS: number | null, toS: number, rest = {}): Explanation => ({
  ...{
    kind: 'link-down',
    hypothesis: 'link-down/cable',
    side: 'cable',
    direction: 'both',
    probability: 0.99,
  },
  ...{
    element: { type: 'link', id: linkOf(link).id },
    covers: [],
    links: [linkOf(link).index],
    findings: [],
  },
  onsetNs: fromS === null ? null : fromS * S,
  during: { fromNs: (fromS ?? 0) * S, toNs: toS * S },
  ...rest,
});

/** Steps of a second, each of which lost so much, s. */
function losing(of: typeof wide, lostS: (second: number) => number): JobLoss {
  const losses = Array.from({ length: 60 }, (_, second) => ({
    ...{ fromNs: second * S, toNs: (second + 1) * S },
    lostNs: lostS(second) * S,
  })).filter(({ lostNs }) => lostNs !== 0);
  const lostNs = losses.reduce((sum, one) => sum + one.lostNs, 0);
  const rest = { gpus: 2, normalStepNs: 0.5 * S, isNormalProven: true, slowestStepNs: null, diedNs: null };
  return { job: of, losses, lostNs, restarts: [], ...rest };
}
const quiet = losing(near, () => 0);

describe('the share of a culprit', () => {
  const lossy = suspect('host-1', null, 60, { kind: 'one-way-loss', hypothesis: 'one-way-loss/unknown' });
  const cut = suspect('leaf-1/p3--spine-1', 20, 40);

  it('that was there before another keeps to what it costs alone', () => {
    const loss = losing(wide, (second) => (second >= 20 && second < 40 ? 0.6 : 0.05));
    const { shares } = attribute(context, [lossy, cut], [loss, quiet]);
    // alone it costs 0.05 s a second, of which half is lost anyway while the job stands still
    expect(shares[0]).toBeCloseTo((40 * 0.05 + 20 * 0.05 * 0.7) / 14, 1);
    expect((shares[0] ?? 0) + (shares[1] ?? 0)).toBeCloseTo(1, 5);
  });

  it('is nothing where the late job has no flow that may cross it', () => {
    const late = losing(near, (second) => (second >= 20 && second < 40 ? 0.6 : 0));
    const { shares, affected } = attribute(context, [cut], [losing(wide, () => 0), late]);
    expect(shares).toEqual([0]);
    expect(affected).toEqual([[]]);
  });

  it('is small where its flows only meet those of a late job that crosses it', () => {
    const loss = (of: typeof wide) => losing(of, (second) => (second >= 20 && second < 40 ? 0.6 : 0));
    const own = suspect('host-2', 20, 40);
    const { affected } = attribute(context, [cut, own], [loss(wide), loss(near)]);
    const ofNear = affected[0].find((part) => part.job === near);
    expect((ofNear?.lostNs ?? 0) / S).toBeCloseTo((12 * 0.1) / 1.1, 1);
  });

  it('is nothing where all errors were corrected, and goes to who else was there', () => {
    const loss = losing(wide, (second) => (second >= 20 && second < 40 ? 0.6 : 0));
    const counted = topology.ports.flatMap(({ name }) =>
      ['port_fec_uncorrected_codewords', 'port_rx_errors'].map((metric) => ({
        ...{ metric, element: `port:${name}`, timesNs: Float64Array.of(0, 60 * S) },
        ...{ values: Float64Array.of(0, 0), quality: Uint8Array.of(0, 0) },
      })),
    );
    const watched = new Context({
      ...{ topology, jobs: [wide, near] },
      evidence: { fromNs: 0, toNs: 60 * S, series: counted },
    });
    const errs = suspect('leaf-1/p3--spine-1', 20, 40, {
      ...{ kind: 'optic-error', hypothesis: 'optic-error/cable' },
    });
    expect(attribute(watched, [errs, cut], [loss, quiet]).shares).toEqual([0, 1]);
  });
});
