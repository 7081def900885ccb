/** The judgement of a drill: what it takes from plan, course and fabric, and what it says beside the scores. */
import { describe, expect, it } from '@jest/globals';
import type { FabricDescription } from '../fabric-api/fabric.js';
import { scoreExplainability } from '../scoring/explainability/explainability.js';
import { scoringProfileSchema } from '../scoring/profile.js';
import {
  drill,
  END_S,
  evidenceOf,
  INJECTED_S,
  jobs,
  REVERTED_S,
  STEP_S,
  STORY,
  topology,
  truth,
  type Story,
} from '../scoring/testing/synthetic-drill.js';
import { judgeCutShort, judgeDrill, scoreDiagnosis, type JudgementInput } from './judge.js';
import { LINKS, planOfCuts } from './testing/fake-fabric.js';

const S = 1e9;
const compute = { type: 'compute' as const, name: 'forward', durationNs: STEP_S * S, after: [] };
const description = {
  name: 'hand-made',
  driver: 'simulated',
  topology,
  jobs: jobs.map((job) => ({ ...job, program: { operations: [compute] } })),
  transport: { mtuBytes: 4096, headerBytes: 58, ackBytes: 64 },
  capabilities: new Map(),
} as unknown as FabricDescription;

const input = (story: Partial<Story> = {}, more: Partial<JudgementInput> = {}): JudgementInput => ({
  plan: planOfCuts([{ link: LINKS[0], fromS: INJECTED_S, toS: REVERTED_S }]),
  objectives: ['recovery.recovered == true'],
  description,
  evidence: evidenceOf({ ...STORY, ...story }),
  verdict: null,
  record: {
    injectedNs: INJECTED_S * S,
    revertedNs: REVERTED_S * S,
    endNs: END_S * S,
    truth: [truth],
    exposedJobs: ['exposed'],
    alignments: [],
  },
  ...more,
});
const judge = (story?: Partial<Story>, more?: Partial<JudgementInput>) => judgeDrill(input(story, more));

describe('a drill that ran its course', () => {
  it('passes with its objectives, and publishes scores and truth', () => {
    const judgement = judge();
    expect(judgement).toMatchObject({ state: 'passed', reasons: [], doubts: [], notes: [], alignments: [] });
    expect(judgement.objectives).toEqual([
      { expression: 'recovery.recovered == true', value: true, passed: true },
    ]);
    expect(judgement.truth).toMatchObject([{ kind: 'link-down', from_s: INJECTED_S, to_s: REVERTED_S }]);
    expect(judgement.scores.isolation.metrics.exposed_jobs).toBe(1);
    expect(judgement.scores.explainability.score).toBeNull();
  });

  it('fails where an objective is missed', () => {
    const { state, objectives } = judge({ slowdown: 2 });
    expect(state).toBe('failed');
    expect(objectives[0].passed).toBe(false);
  });

  it('proves nothing on a target that carried nothing, and is in doubt then', () => {
    const base = input();
    const series = base.evidence.series.filter(({ metric }) => !/^port_.x_bytes$/.test(metric));
    const { state, doubts } = judgeDrill({ ...base, evidence: { ...base.evidence, series } });
    expect(state).toBe('inconclusive');
    expect(doubts).toEqual([expect.stringMatching(/not known whether the target carried/)]);
  });

  it('of a control is healthy or not over all of it, and asks for no target', () => {
    const record = { ...input().record, injectedNs: null, revertedNs: null, truth: [], exposedJobs: null };
    const objectives = ['recovery.redone_steps >= 0'];
    const whole = (downS: number) => {
      const evidence = evidenceOf({ ...STORY, exposedStallS: 0 }, (writer) =>
        writer.add('port_oper_status', 'port:leaf-2/p1', downS, 0),
      );
      const series = evidence.series.filter(({ metric }) => !metric.startsWith('route_'));
      return judge({}, { record, objectives, evidence: { ...evidence, series } });
    };
    expect(whole(END_S)).toMatchObject({ doubts: [], truth: [] });
    expect(whole(50).doubts.join()).toMatch(/already down/);
  });

  it('is measured against the ideal step of its jobs, by the limits of its profile or its fabric', () => {
    const faster = {
      ...description,
      jobs: jobs.map((job) => ({ ...job, program: { operations: [{ ...compute, durationNs: 0.2e9 }] } })),
    };
    const slow = { description: faster as FabricDescription };
    expect(judge({}, slow).doubts.join()).toMatch(/0.5 s a step before the fault, where 0.2 s is ideal/);
    const lenient = scoringProfileSchema.parse({ baseline: { idealStepRatio: 3 } });
    const plan = { ...input().plan, scoring: lenient };
    expect(judge({}, { ...slow, plan }).doubts).toEqual([]);
    const scatters = { jitter: 0.05 };
    expect(judge(scatters).doubts.join()).toMatch(/scattered by 5 %/);
    expect(judge(scatters, { description: { ...description, paceNoise: 0.1 } }).doubts).toEqual([]);
    // who states a profile knows the fabric
    expect(judge(scatters, { description: { ...description, paceNoise: 0.1 }, plan }).doubts.join()).toMatch(
      /scattered/,
    );
  });

  it('is scored by its profile', () => {
    const profile = scoringProfileSchema.parse({
      recovery: { weights: { recover: 0, failback: 0, pace: 1, ettr: 0 } },
    });
    const { scores } = judge({}, { plan: { ...input().plan, scoring: profile } });
    expect(scores.recovery.score).toBeCloseTo(100 * (1 - 1.5 / 40), 6);
  });

  it('tells how well injections met their boundaries', () => {
    const met = {
      fault: 'cut',
      job: 'exposed',
      kind: 'step' as const,
      beganNs: 19.5e9,
      injectedNs: 19.5e9 + 40,
    };
    const record = { ...input().record, alignments: [met, { ...met, number: 7 }] };
    const told = { fault: 'cut', job: 'exposed', boundary: 'step', began_s: 19.5, error_ns: 40 };
    expect(judge({}, { record }).alignments).toEqual([
      { ...told, number: null },
      { ...told, number: 7 },
    ]);
  });
});

describe('beside the scores it is told', () => {
  it('that no job felt the fault, up to a ten-thousandth of its time', () => {
    // of two jobs of one size, 40 s each, the tenth part of a thousandth is 8 ms of one
    expect(judge({ exposedStallS: 0.009 }).notes).toEqual([]);
    expect(judge({ exposedStallS: 0.007 }).notes).toEqual([
      expect.stringMatching(/^no job felt the fault: all kept the pace that they had before;/),
    ]);
    const counterfactual = { twin: null, lostNs: 0, shares: null, missing: null };
    expect(judge({ exposedStallS: 0 }, { counterfactual }).notes).toEqual([
      expect.stringMatching(/^no job felt the fault: without it the same seed ends the same steps/),
    ]);
    const record = { ...input().record, truth: [] };
    expect(judge({ exposedStallS: 0 }, { record }).notes).toEqual([]);
  });

  it('what the twin could not tell, how far clocks are off, and where the simulation was not exact', () => {
    const counterfactual = { twin: null, lostNs: null, shares: null, missing: 'no twin' };
    const search = { searches: 10, stopped: 2, worstResidual: 0.5, worstNs: 3e9 };
    const record = { ...input().record, searches: search };
    const { notes } = judge({}, { counterfactual, clockErrorNs: 2.5e6, record, twinSearches: [search] });
    expect(notes).toEqual([
      'no twin',
      expect.stringMatching(/to within 2.5 ms of/),
      expect.stringMatching(/4 of 20 searches/),
    ]);
    expect(judge({}, { clockErrorNs: 0 }).notes).toEqual([]);
  });
});

it('a diagnosis from elsewhere is scored by the same code, with the time that it took', () => {
  const scored = drill();
  const of = input({}, { verdict: scored.verdict });
  expect(scoreDiagnosis(of, 12).metrics.time_to_explain_s).toBe(12);
  expect(scoreDiagnosis(of, null).score).toBe(scoreExplainability(scored).score);
  const counterfactual = {
    twin: evidenceOf({ ...STORY, exposedStallS: 0 }),
    lostNs: 1,
    shares: [0.4],
    missing: null,
  };
  expect(scoreDiagnosis({ ...of, counterfactual }, null).metrics.share_error).toBeCloseTo(0.6, 9);
});

describe('a drill that was cut short', () => {
  const stated = ['recovery.score >= 80'];

  it('has no scores, objectives that are not known, and says why', () => {
    const aborted = judgeCutShort({ aborted: 'a real outage' }, stated);
    expect(aborted).toMatchObject({
      state: 'aborted',
      reasons: ['a real outage'],
      doubts: ['a real outage'],
    });
    expect(aborted.objectives).toEqual([{ expression: stated[0], value: null, passed: null }]);
    expect(aborted).toMatchObject({ verdict: null, truth: [], notes: [], alignments: [] });
    expect(aborted.scores.recovery.score).toBeNull();
  });

  it('ends by what cut it short', () => {
    const two = ['cut/0: stays down', 'cut/1: stays down'];
    expect(judgeCutShort({ rollbackFailures: two }, stated)).toMatchObject({
      ...{ state: 'rollback-failed', reasons: two, doubts: two },
    });
    expect(judgeCutShort({ inconclusive: ['undone late'] }, stated)).toMatchObject({
      ...{ state: 'inconclusive', reasons: ['undone late'], doubts: ['undone late'] },
    });
  });
});
