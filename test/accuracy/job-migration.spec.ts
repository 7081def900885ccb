/**
 * Drills in which a job leaves a host: what they cost to the second, what is said about them, and what they don't tell.
 */
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Judgement } from '../../src/drill/judge.js';
import { planDrill } from '../../src/drill/plan/plan.js';
import { runDrill } from '../../src/drill/walk.js';
import { loadDefinitions } from '../../src/documents/load.js';
import { openFabric } from '../../src/drivers/catalog.js';
import type { Evidence } from '../../src/model/telemetry/series.js';
import { DEFAULT_RESTART } from '../../src/model/workload/job.js';
import { readSource } from '../support/source-tree.js';

interface Drill {
  judgement: Judgement;
  evidence: Evidence;
}

const beside = (path: string): string => readSource(`experiments/${path}`);

async function drill(experimentText: string, fabricText: string): Promise<Drill> {
  const { spec } = loadDefinitions(experimentText, beside).experiments[0].value;
  const document = loadDefinitions(fabricText, beside).fabrics[0].value;
  const fabric = await openFabric(document, spec.seed);
  const plan = await planDrill({ name: 'drill', spec, fabric, seed: spec.seed });
  const done = () => Promise.resolve();
  let evidence: Evidence | undefined;
  const judgement = await runDrill({
    plan,
    fabric,
    objectives: [],
    signal: new AbortController().signal,
    openTwin: () => openFabric(document, spec.seed),
    journal: { intend: done, applied: done, verified: done, failed: done },
    hooks: {
      state: done,
      progress: () => undefined,
      evidence: async (observed) => {
        evidence = observed;
      },
      verdict: done,
      truth: done,
    },
  });
  return { judgement, evidence: evidence! };
}

const experiment = readSource('experiments/job-migration.yaml');
const withVariant = (variant: string): string =>
  experiment.replace('variant: planned', `variant: ${variant}`);
const spare = readSource('experiments/fabrics/rail-64-spare.yaml');

const S = 1e9;
const { detectNs, rescheduleNs, loadNs } = DEFAULT_RESTART;
const RESTART_S = (rescheduleNs + loadNs) / S;
const DETECT_S = detectNs / S;
const CHECKPOINT_S = 0.5;

const metricsOf = ({ judgement }: Drill) => judgement.scores.recovery.metrics;
const namedBy = ({ judgement }: Drill): string[] =>
  judgement.verdict!.culprits.map(({ kind, element }) => `${kind} ${element.id}`);
const gpus = 64;

describe('a job that leaves a host', () => {
  const drills = new Map<string, Drill>();
  const of = (variant: string): Drill => drills.get(variant)!;

  beforeAll(async () => {
    for (const variant of ['planned', 'after-host-loss', 'no-spare', 'one-of-n']) {
      drills.set(variant, await drill(withVariant(variant), spare));
    }
    drills.set('none', await drill(readSource('experiments/none.yaml'), spare));
  }, 300_000);

  it('as planned loses its checkpoint and its restart, and no step', () => {
    const { resilience_loss, redone_steps, lost_gpu_hours, ettr, recovered, failed_back } = metricsOf(
      of('planned'),
    );
    const lostS = CHECKPOINT_S + RESTART_S;
    expect(resilience_loss).toBeCloseTo(lostS / 40, 3);
    expect(lost_gpu_hours).toBeCloseTo((32 * lostS) / 3600, 3);
    expect(ettr).toBeCloseTo(1 - (32 * lostS) / (gpus * 40), 3);
    expect({ redone_steps, recovered, failed_back }).toEqual({
      redone_steps: 0,
      recovered: true,
      failed_back: true,
    });
  });

  it.each(['after-host-loss', 'one-of-n'])(
    'by %s loses detection, restart and the steps since the checkpoint',
    (variant) => {
      const { resilience_loss, redone_steps, lost_gpu_hours } = metricsOf(of(variant));
      const standsS = DETECT_S + RESTART_S;
      expect(redone_steps).toBeGreaterThan(0);
      expect(redone_steps).toBeLessThan(20);
      // It also loses what it had done of a step when it was hit, less than one step.
      expect(resilience_loss).toBeGreaterThanOrEqual(standsS / 40 - 1e-9);
      expect(resilience_loss).toBeLessThan((standsS + 0.7) / 40);
      const redoneS = (redone_steps as number) * 0.599;
      expect(lost_gpu_hours).toBeGreaterThan((32 * (standsS + redoneS - 0.2)) / 3600);
      expect(lost_gpu_hours).toBeLessThan((32 * (standsS + redoneS + 0.7)) / 3600);
    },
  );

  it('without a spare stands still until its host is back, and the other job goes on', () => {
    const { resilience_loss, redone_steps } = metricsOf(of('no-spare'));
    expect(redone_steps).toBeGreaterThan(0);
    expect(resilience_loss).toBeGreaterThan((20 + RESTART_S) / 40 - 0.01);
    expect(of('no-spare').judgement.scores.isolation.metrics.blast_ratio).toBe(0);
  });

  it('is found with its host, as a move where the host lives and as a dead host where it does not', () => {
    const [host] = of('planned').judgement.truth[0].elements;
    expect(namedBy(of('planned'))).toEqual([`job-migration ${host.id}`]);
    expect(namedBy(of('one-of-n'))).toEqual([`job-migration ${host.id}`]);
    expect(namedBy(of('after-host-loss'))).toEqual([`node-down ${host.id}`]);
    expect(namedBy(of('no-spare'))).toEqual([`node-down ${host.id}`]);
    for (const variant of ['planned', 'one-of-n', 'after-host-loss', 'no-spare']) {
      const { metrics } = of(variant).judgement.scores.explainability;
      expect(metrics).toMatchObject({
        top1: 1,
        kind_correct: true,
        side_correct: true,
        evidence_precision: 1,
      });
      expect(metrics.onset_error_s).toBeLessThan(0.05);
      expect(metrics.share_error).toBeLessThan(0.05);
    }
    expect(of('after-host-loss').judgement.verdict!.answer).toMatch(/restarted at .* steps to do again/);
  });

  it('adds no series and takes none away: their set says nothing of it', () => {
    const names = ({ evidence }: Drill): string[] =>
      evidence.series.map(({ metric, element }) => `${metric} ${element}`);
    for (const one of drills.values()) expect(names(one)).toEqual(names(of('none')));
  });

  it('is no reason to suspect anybody when nothing happens but checkpoints', async () => {
    expect(of('none').judgement.verdict).toMatchObject({ faultFound: false, culprits: [] });
    const storing = spare.replace(
      '{ every: 20, duration: 500ms }',
      '{ every: 10, bytesPerRank: 10GB, to: "host-[10,15,20]" }',
    );
    const { judgement } = await drill(readSource('experiments/none.yaml'), storing);
    expect(judgement.verdict).toMatchObject({ faultFound: false, culprits: [] });
  }, 120_000);

  it('is refused on a fabric where every host has ranks', async () => {
    const full = readSource('experiments/fabrics/rail-64.yaml');
    await expect(drill(experiment, full)).rejects.toThrow(/nowhere are their GPUs free/);
  });
});
