/** Explainability: the ladder, ranking, evidence, abstaining and controls, by id and never by a similar name. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { deviceId, portId } from '../../core/elements.js';
import type { ElementRef } from '../../core/elements.js';
import type { Culprit } from '../../diagnosis/verdict.js';
import { elementCredit } from './element-match.js';
import { explainabilityScore, scoreExplainability } from './explainability.js';
import type { ExplainabilityFigures } from './explainability.js';
import { DEFAULT_PROFILE, scoringProfileSchema } from '../profile.js';
import { SCORE_METRICS } from '../scorecard.js';
import {
  LEAF_PORT,
  LINK,
  SIBLING_LINK,
  SPINE_PORT,
  drill,
  rightCulprit,
  topology,
  truth,
} from '../testing/synthetic-drill.js';
import { plainVerdict } from '../../diagnosis/verdict.js';

const link = (id: string): ElementRef => ({ type: 'link', id });
const device = (name: string): ElementRef => ({ type: 'device', id: deviceId(name) });
const wrong: Culprit = { ...rightCulprit, element: link(SIBLING_LINK), evidence: [] };
const ranked = (...culprits: Culprit[]) => culprits.map((culprit, at) => ({ ...culprit, rank: at + 1 }));
const scored = (culprits: Culprit[], faultFound?: boolean | null) =>
  scoreExplainability(drill({}, { verdict: plainVerdict(ranked(...culprits), faultFound) }));

describe('a right verdict', () => {
  const { score, metrics } = scored([rightCulprit]);

  it('publishes exactly the metrics of the interface', () => {
    expect(Object.keys(metrics)).toEqual([...SCORE_METRICS.explainability]);
  });

  it('is right in every slot', () => {
    expect(metrics).toMatchObject({
      top1: 1,
      top3: 1,
      reciprocal_rank: 1,
      set_f1: 1,
      kind_correct: true,
      side_correct: true,
      evidence_precision: 1,
      share_error: null,
      time_to_explain_s: null,
      abstained: false,
    });
    expect(metrics.onset_error_s).toBeCloseTo(0.01, 9);
    expect(metrics.brier).toBeCloseTo(0.05 ** 2, 12);
    // status was cited; bytes both ways, routes, next hops, steps and the job's own bytes moved too and were not
    expect(metrics.evidence_coverage).toBeCloseTo(1 / 8, 9);
  });

  it('scores by the published formula', () => {
    const details = (1 + 2 ** (-0.01 / 5) + 1 / 8 + 1 + 1 + (1 - 0.0025)) / 6;
    expect(score).toBeCloseTo(100 * (0.1 + 0.9 * (0.5 + 0.5 * details)), 6);
  });

  it('takes what was measured besides: a live explanation and the counterfactual share', () => {
    const measured = scoreExplainability(drill({}, { timeToExplainS: 12, lostTimeShares: [0.75] })).metrics;
    expect(measured).toMatchObject({ time_to_explain_s: 12, share_error: 0.25 });
  });
});

describe('the element ladder', () => {
  const credit = (named: ElementRef) => elementCredit(named, truth, topology);
  const host = topology.links.find(({ tier }) => tier === 'host-leaf')!;
  const deadLeaf = { ...truth, kind: 'node-down' as const, elements: [device('leaf-1')] };

  it('knows equivalent names, near misses and strangers of a link', () => {
    expect(credit(link(LINK))).toBe(1);
    expect(credit({ type: 'port', id: portId(LEAF_PORT) })).toBe(1);
    expect(credit({ type: 'queue', id: `queue:${LEAF_PORT}/3` })).toBe(0.8);
    expect(credit(device('leaf-1'))).toBe(0.5);
    expect(credit(device('leaf-2'))).toBe(0);
    expect(credit(link(SIBLING_LINK))).toBe(0);
    expect(credit({ type: 'job', id: 'job:exposed' })).toBe(0);
  });

  it('takes a listed device for what it is, not for a name of the link', () => {
    const listed = { ...truth, elements: [...truth.elements, device('spine-2')] };
    expect(elementCredit(device('spine-2'), listed, topology)).toBe(0.5);
  });

  it('gives a part of a dead device little, the device itself all, listed or not', () => {
    expect(elementCredit(device('leaf-1'), deadLeaf, topology)).toBe(1);
    const listed = { ...deadLeaf, elements: [...deadLeaf.elements, link(LINK), device('leaf-2')] };
    expect(elementCredit(link(LINK), listed, topology)).toBe(0.25);
    expect(elementCredit(device('leaf-2'), listed, topology)).toBe(1);
    expect(elementCredit(link(LINK), deadLeaf, topology)).toBe(0.25);
    expect(elementCredit(device('leaf-2'), deadLeaf, topology)).toBe(0);
  });

  it('knows the NIC at the end of a host link', () => {
    const entry = { ...truth, elements: [link(host.id)] };
    const nic =
      topology.nics[topology.ports[[host.portA, host.portB].find((p) => topology.ports[p].nic >= 0)!].nic];
    expect(elementCredit({ type: 'nic', id: `nic:${nic.name}` }, entry, topology)).toBe(0.8);
  });

  it('takes a pattern of traffic and the queue or link on which it meets for names of one fault', () => {
    const queue = { type: 'queue' as const, id: `queue:${LEAF_PORT}/3` };
    const pattern = { type: 'pattern' as const, id: 'pattern:incast' };
    const port = { type: 'port' as const, id: portId(LEAF_PORT) };
    for (const elements of [
      [queue, pattern, port],
      [pattern, queue, port],
    ]) {
      const entry = { ...truth, kind: 'incast' as const, elements };
      for (const named of elements) expect(elementCredit(named, entry, topology)).toBe(1);
      expect(elementCredit({ type: 'pattern', id: 'pattern:pause-storm' }, entry, topology)).toBe(0);
      expect(elementCredit(link(LINK), entry, topology)).toBe(0.8);
      expect(elementCredit(device('leaf-1'), entry, topology)).toBe(0.5);
      expect(elementCredit(device('leaf-2'), entry, topology)).toBe(0);
    }
  });

  it('gives nothing for an id that only begins like the right one', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 3 }), (tail) => {
        for (const element of truth.elements) {
          const longer = { type: element.type, id: element.id + tail };
          if (topology.ports.some(({ name }) => portId(name) === longer.id)) return;
          if (topology.links.some(({ id }) => id === longer.id)) return;
          expect(credit(longer)).toBe(0);
        }
      }),
    );
  });
});

describe('ranking', () => {
  it('finds the element further down the list', () => {
    const unsure = { ...rightCulprit, probability: 0.3 };
    const second = scored([{ ...wrong, probability: 0.6 }, unsure]).metrics;
    expect(second).toMatchObject({ top1: 0, top3: 1, reciprocal_rank: 0.5 });
    const fourth = scored([wrong, wrong, wrong, unsure]).metrics;
    expect(fourth).toMatchObject({ top1: 0, top3: 0, reciprocal_rank: 0.25 });
  });

  it('finds it behind a device at its end that is to blame for something else', () => {
    const { metrics } = scored([{ ...wrong, element: device('leaf-1') }, rightCulprit]);
    expect(metrics).toMatchObject({ top1: 0, top3: 1, reciprocal_rank: 0.5, kind_correct: true });
  });

  it('reads the stated ranks, not the order of the list', () => {
    const verdict = plainVerdict([
      { ...wrong, rank: 2, probability: 0.1 },
      { ...rightCulprit, rank: 1 },
    ]);
    expect(scoreExplainability(drill({}, { verdict })).metrics).toMatchObject({
      top1: 1,
      reciprocal_rank: 1,
    });
  });

  it('punishes a wide answer through F1, and forgives unlikely suspects', () => {
    expect(scored([rightCulprit, { ...wrong, probability: 0.02 }]).metrics.set_f1).toBe(1);
    expect(scored([rightCulprit, { ...wrong, probability: 0.5 }]).metrics.set_f1).toBeCloseTo(2 / 3, 9);
  });

  it('asks for all of several faults, each with a culprit of its own', () => {
    const second = { ...truth, elements: [link(SIBLING_LINK)] };
    const both = (...culprits: Culprit[]) =>
      scoreExplainability(drill({}, { truth: [truth, second], verdict: plainVerdict(ranked(...culprits)) }));
    expect(both(rightCulprit, wrong).metrics).toMatchObject({
      top1: 1,
      top3: 1,
      reciprocal_rank: 1,
      set_f1: 1,
    });
    expect(both(wrong, rightCulprit).metrics).toMatchObject({
      top1: 1,
      top3: 1,
      reciprocal_rank: 1,
      set_f1: 1,
    });
    const half = both(rightCulprit, rightCulprit).metrics;
    expect(half).toMatchObject({ top1: 1, top3: 0.5, reciprocal_rank: 0.5, kind_correct: true });
    expect(both(rightCulprit).score!).toBeLessThan(both(rightCulprit, wrong).score!);
  });
});

describe('kind and side', () => {
  it('are slots of their own', () => {
    const kind = scored([{ ...rightCulprit, kind: 'speed-downgrade' }]).metrics;
    expect(kind).toMatchObject({ top1: 1, kind_correct: false, side_correct: true });
    expect(scored([{ ...rightCulprit, side: 'configuration' }]).metrics).toMatchObject({
      side_correct: false,
    });
  });

  it('include the direction of a one-way loss, whose side nobody knows', () => {
    const oneWay = { ...truth, side: 'unknown' as const, direction: `port:${LEAF_PORT}` as const };
    const named = (direction: Culprit['direction']) =>
      scoreExplainability(
        drill({}, { truth: [oneWay], verdict: plainVerdict([{ ...rightCulprit, direction }]) }),
      ).metrics.side_correct;
    expect(named(`port:${LEAF_PORT}`)).toBe(true);
    expect(named(`port:${SPINE_PORT}`)).toBe(false);
    expect(named('both')).toBe(false);
  });
});

describe('cited evidence', () => {
  const cite = (metric: string, element: string) => ({
    metric,
    element,
    change: '',
    window: [20, 40] as [number, number],
  });

  it('counts only when the series exists and truly changed', () => {
    const evidence = [
      ...rightCulprit.evidence,
      cite('port_oper_status', 'port:leaf-2/p1'),
      cite('port_rx_errors', portId(LEAF_PORT)),
    ];
    expect(scored([{ ...rightCulprit, evidence }]).metrics.evidence_precision).toBeCloseTo(0.5, 9);
  });

  it('covers a metric with any changed series on the fault, and only there', () => {
    const covered = (evidence: Culprit['evidence']) =>
      scored([{ ...rightCulprit, evidence }]).metrics.evidence_coverage as number;
    const own = [cite('port_tx_bytes', portId(SPINE_PORT)), cite('route_port_prefixes', portId(LEAF_PORT))];
    expect(covered([...rightCulprit.evidence, ...own])).toBeCloseTo(3 / 8, 9);
    expect(covered([cite('port_tx_bytes', 'port:leaf-1/p5')])).toBe(0);
  });

  it('is not asked for what did not move', () => {
    const still = drill({}, { evidence: { ...drill().evidence, series: [] } });
    expect(scoreExplainability(still).metrics.evidence_coverage).toBeNull();
  });

  it('is judged by what the same seed shows without the fault, where that is known', () => {
    const twin = drill({ exposedStallS: 0 }).evidence;
    const calm = { ...twin, series: twin.series.filter(({ metric }) => metric === 'port_oper_status') };
    // the twin knows the status alone, and says that it did not change without the fault
    const up = {
      ...calm,
      series: calm.series.map((one) => {
        const { metric, element, timesNs, values, quality } = one;
        return { metric, element, timesNs, values: values.map(() => 1), quality };
      }),
    };
    const { metrics } = scoreExplainability(drill({}, { twin: up }));
    expect(metrics).toMatchObject({ evidence_coverage: 1, evidence_precision: 1 });
    // a change that comes without the fault as well is no evidence for it
    expect(scoreExplainability(drill({}, { twin: calm })).metrics).toMatchObject({
      evidence_coverage: null,
      evidence_precision: 0,
    });
  });

  it('of a culprit that answers no fault covers nothing, and counts where it is untrue', () => {
    const stray = { ...wrong, probability: 0.6, evidence: [cite('port_tx_bytes', portId(SPINE_PORT))] };
    const made = { ...wrong, probability: 0.6, evidence: [cite('port_rx_errors', portId(LEAF_PORT))] };
    const alone = scored([rightCulprit]).metrics;
    expect(scored([rightCulprit, stray]).metrics).toMatchObject({
      evidence_coverage: alone.evidence_coverage,
      evidence_precision: alone.evidence_precision,
    });
    expect(scored([rightCulprit, made]).metrics.evidence_precision).toBeCloseTo(2 / 3, 9);
  });
});

describe('not saying, and saying wrong', () => {
  it('is scored right > can not tell > confidently wrong', () => {
    const abstained = scored([], null);
    expect(abstained.metrics).toMatchObject({ abstained: true, top1: 0, brier: null });
    expect(abstained.score).toBe(DEFAULT_PROFILE.explainability.abstained);
    expect(scored([rightCulprit]).score!).toBeGreaterThan(abstained.score!);
    expect(scored([wrong]).score!).toBeLessThan(abstained.score!);
    expect(scored([], false).score!).toBeLessThan(abstained.score!);
  });

  it('gives no credit for suspects that an abstaining verdict still lists', () => {
    expect(scored([rightCulprit], null).metrics).toMatchObject({ top1: 0, set_f1: 0, abstained: true });
  });

  it('is null throughout when there was no diagnosis', () => {
    const { score, metrics } = scoreExplainability(drill({}, { verdict: null }));
    expect([score, ...Object.values(metrics)].every((value) => value === null)).toBe(true);
  });
});

describe('a wide answer', () => {
  const suspects = (count: number, probability: number): Culprit[] =>
    Array.from({ length: count }, () => ({ ...wrong, probability }));

  it('is worth less the more probability it spreads, even where each suspect is unlikely', () => {
    const alone = scored([rightCulprit]).score!;
    const few = scored([rightCulprit, ...suspects(2, 0.49)]).score!;
    const many = scored([rightCulprit, ...suspects(20, 0.49)]).score!;
    expect(alone).toBeGreaterThan(few);
    expect(few).toBeGreaterThan(many);
    expect(many).toBeLessThan(0.65 * alone);
  });

  it('loses nothing by suspects that it gives no chance', () => {
    expect(scored([rightCulprit, ...suspects(3, 0.01)]).score!).toBeCloseTo(scored([rightCulprit]).score!, 0);
  });

  it('never gains by one more culprit that is wrong', () => {
    const probability = fc.double({ min: 0, max: 1, noNaN: true });
    const kinds = fc.constantFrom('incast' as const, 'node-down' as const);
    fc.assert(
      fc.property(fc.array(probability, { maxLength: 4 }), probability, kinds, (earlier, added, kind) => {
        const list = [rightCulprit, ...earlier.map((one) => ({ ...wrong, kind, probability: one }))];
        const more = [...list, { ...wrong, kind, probability: added }];
        expect(scored(more).score!).toBeLessThanOrEqual(scored(list).score! + 1e-9);
      }),
    );
  });
});

describe('a control', () => {
  const control = (culprits: Culprit[], faultFound?: boolean | null) =>
    scoreExplainability(
      drill(
        {},
        { truth: [], injectedNs: null, revertedNs: null, verdict: plainVerdict(culprits, faultFound) },
      ),
    );

  it('is quiet, undecided or a false alarm, in this order', () => {
    expect(control([], false)).toMatchObject({ score: 100, metrics: { set_f1: 1, brier: 0, top1: null } });
    expect(control([], null)).toMatchObject({ score: 50, metrics: { abstained: true, brier: null } });
    const alarm = control([rightCulprit]);
    expect(alarm.score!).toBeCloseTo(20 * 0.05, 9);
    expect(alarm.metrics).toMatchObject({ set_f1: 0 });
    expect(control([{ ...rightCulprit, probability: 0.5 }]).score!).toBeGreaterThan(alarm.score!);
    expect(control([rightCulprit], false)).toMatchObject({ score: 100, metrics: { set_f1: 1, brier: 0 } });
  });
});

const figures: fc.Arbitrary<ExplainabilityFigures> = fc.record({
  elementMatch: fc.double({ min: 0, max: 1, noNaN: true }),
  focus: fc.double({ min: 0, max: 1, noNaN: true }),
  kind_correct: fc.boolean(),
  side_correct: fc.boolean(),
  onset_error_s: fc.option(fc.double({ min: 0, max: 1e4, noNaN: true })),
  evidence_coverage: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
  evidence_precision: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
  set_f1: fc.double({ min: 0, max: 1, noNaN: true }),
  brier: fc.double({ min: 0, max: 1, noNaN: true }),
});

describe('the explainability score', () => {
  it('stays within 0 and 100, also for figures out of their range', () => {
    const wild = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(figures, wild, wild, (one, elementMatch, brier) => {
        const scores = [one, { ...one, elementMatch, brier }].map((figure) => explainabilityScore(figure));
        expect(scores.every((score) => score >= 0 && score <= 100)).toBe(true);
      }),
    );
  });

  it('never rises when any one figure gets worse', () => {
    fc.assert(
      fc.property(figures, fc.double({ min: 0, max: 1, noNaN: true }), (base, worse) => {
        const score = explainabilityScore(base);
        const lower = (value: number | null) => (value === null ? null : value * worse);
        const variants: ExplainabilityFigures[] = [
          { ...base, elementMatch: base.elementMatch * worse },
          { ...base, focus: base.focus * worse },
          { ...base, kind_correct: false },
          { ...base, side_correct: false },
          { ...base, onset_error_s: base.onset_error_s === null ? null : base.onset_error_s + worse },
          { ...base, onset_error_s: null },
          { ...base, evidence_coverage: lower(base.evidence_coverage) },
          { ...base, evidence_precision: lower(base.evidence_precision) },
          { ...base, set_f1: base.set_f1 * worse },
          { ...base, brier: Math.max(base.brier, worse) },
        ];
        for (const variant of variants)
          expect(explainabilityScore(variant)).toBeLessThanOrEqual(score + 1e-9);
      }),
    );
  });

  it('stays within 0 and 100 under any profile, and weighs what the profile weighs', () => {
    const weight = fc.double({ min: 0, max: 10, noNaN: true });
    fc.assert(
      fc.property(figures, weight, weight, (one, kind, element) => {
        fc.pre(kind + element > 0);
        const profile = scoringProfileSchema.parse({ explainability: { weights: { kind, element } } });
        const score = explainabilityScore(one, profile);
        expect(score >= 0 && score <= 100).toBe(true);
      }),
    );
    const kindAlone = scoringProfileSchema.parse({ explainability: { weights: { kind: 1, element: 0 } } });
    expect(scoreExplainability(drill({}, { profile: kindAlone })).score).toBe(100);
  });
});
