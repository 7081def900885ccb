import { beforeAll, describe, expect, it } from '@jest/globals';
import { refuseFiles, type FabricDocument } from '../documents/fabric-document.js';
import { loadFabric } from '../documents/load.js';
import { openFabric } from '../drivers/catalog.js';
import { advancesTime, runsWorkload } from '../fabric-api/fabric.js';
import { InputError } from '../core/problem.js';
import type { Evidence } from '../model/telemetry/series.js';
import { fabricDocument } from '../../test/support/definitions.js';
import { examineEvidence, examineFabric } from './examine.js';

const load = (document: unknown): FabricDocument => loadFabric(document, refuseFiles).value;
const fabric = load(fabricDocument('small'));

/** What was seen while a link between a leaf and a spine was cut from 8 to 11 of 16 seconds. */
async function recordCut(): Promise<{ evidence: Evidence; link: string }> {
  const opened = await openFabric(fabric, 5);
  if (!advancesTime(opened) || !runsWorkload(opened)) throw new Error('the small fabric is a simulated one');
  const link = opened.describe().topology.links.find(({ tier }) => tier === 'leaf-spine')!.id;
  await opened.startJobs();
  await opened.advance(8e9);
  await opened.apply('cut', { type: 'link-cut', link });
  await opened.advance(11e9);
  await opened.revert('cut', { type: 'link-cut', link }, {});
  await opened.advance(16e9);
  return { evidence: await opened.observe({ fromNs: 0, toNs: 16e9 }), link };
}

async function issuesOf(work: () => unknown): Promise<InputError['issues']> {
  try {
    await work();
  } catch (error) {
    if (error instanceof InputError) return error.issues;
    throw error;
  }
  return [];
}

describe('the question without a drill', () => {
  let cut: { evidence: Evidence; link: string };

  beforeAll(async () => {
    cut = await recordCut();
  });

  it('names the cut link in recorded evidence', () => {
    const { faultFound, culprits } = examineEvidence(fabric, cut.evidence);
    expect(faultFound).toBe(true);
    expect(culprits[0]).toMatchObject({ kind: 'link-down', element: { id: cut.link } });
  });

  it('finds nothing in the window before the cut', () => {
    expect(examineEvidence(fabric, cut.evidence, { toNs: 7.9e9 })).toMatchObject({
      faultFound: false,
      culprits: [],
    });
  });

  it('finds a link dead that went down before the window opened', () => {
    const { culprits } = examineEvidence(fabric, cut.evidence, { fromNs: 8.5e9, toNs: 10.9e9 });
    expect(culprits[0]).toMatchObject({ element: { id: cut.link }, onset_s: null });
  });

  it('finds nothing on a healthy fabric that it watches, and gives the same answer twice', async () => {
    const verdict = await examineFabric(fabric, 5, { fromNs: 0, toNs: 5e9 });
    expect(verdict.faultFound).toBe(false);
    expect(await examineFabric(fabric, 5, { fromNs: 0, toNs: 5e9 })).toEqual(verdict);
  });

  it('stops watching when asked to', async () => {
    const stop = AbortSignal.abort(new Error('enough'));
    await expect(examineFabric(fabric, 5, { fromNs: 0, toNs: 5e9 }, stop)).rejects.toThrow('enough');
  });

  it('refuses evidence of another fabric, naming what is not there', async () => {
    const smaller = load(
      fabricDocument('smaller', {
        topology: { builder: 'leaf-spine', leaves: 2, spines: 1, hostsPerLeaf: 3, gpusPerHost: 2 },
      }),
    );
    const [issue] = await issuesOf(() => examineEvidence(smaller, cut.evidence));
    expect(issue.message).toMatch(/elements in the evidence are not in the fabric "smaller": .*spine-2/);
  });

  it('refuses evidence of jobs that the fabric does not have', async () => {
    const idle = load(fabricDocument('idle', { jobs: [] }));
    const [issue] = await issuesOf(() => examineEvidence(idle, cut.evidence));
    expect(issue.message).toMatch(/job:exposed|rank:exposed|edge:exposed/);
    expect(issue.hint).toMatch(/jobs included/);
  });

  it.each([
    [
      'empty evidence',
      () => examineEvidence(fabric, { fromNs: 0, toNs: 1, series: [] }),
      /evidence is empty/,
    ],
    [
      'a window behind the evidence',
      () => examineEvidence(fabric, cut.evidence, { fromNs: 20e9 }),
      /covers 0 ns to 16 s/,
    ],
    [
      'a window that ends first',
      () => examineEvidence(fabric, cut.evidence, { fromNs: 5e9, toNs: 5e9 }),
      /not after it begins/,
    ],
    [
      'a fabric without jobs',
      () => examineFabric(load(fabricDocument('idle', { jobs: [] })), 1, { fromNs: 0, toNs: 1e9 }),
      /no job/,
    ],
  ])('refuses %s', async (_, work, message) => {
    const [issue] = await issuesOf(work);
    expect(issue?.message).toMatch(message);
  });

  it('says which metrics are known when it knows none of those given', async () => {
    const series = cut.evidence.series.slice(0, 2).map((one) => ({ ...one, metric: `vendor_${one.metric}` }));
    const [issue] = await issuesOf(() => examineEvidence(fabric, { ...cut.evidence, series }));
    expect(issue.message).toMatch(/no metric that is known: vendor_/);
  });
});
