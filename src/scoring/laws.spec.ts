/** Laws of the scores as a whole: bounded, blind to names, null without data, the same twice. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { linkId } from '../core/elements.js';
import { scoringProfileSchema } from './profile.js';
import { scoreRun } from './score.js';
import { SCORE_METRICS, SCORE_NAMES } from './scorecard.js';
import { scoreMetricDefinition } from './metric-catalog.js';
import type { ScoringInput } from './input.js';
import { drill, rightCulprit, type Story } from './testing/synthetic-drill.js';
import { plainVerdict } from '../diagnosis/verdict.js';

const seconds = (max: number) => fc.double({ min: 0, max, noNaN: true });
const stories: fc.Arbitrary<Story> = fc.record({
  exposedStallS: seconds(25),
  bystanderStallS: seconds(25),
  slowdown: fc.double({ min: 1, max: 3, noNaN: true }),
  exposedDiesS: fc.option(fc.double({ min: 21, max: 55, noNaN: true })),
  failbackS: fc.option(seconds(15)),
  jitter: fc.double({ min: 0, max: 0.1, noNaN: true }),
  restart: fc.option(
    fc.record({
      atS: fc.double({ min: 25, max: 50, noNaN: true }),
      stepsBack: fc.integer({ min: 1, max: 20 }),
    }),
  ),
});

/** Names of another length and another order. */
const NAMES = ['zulu', 'a', 'mid-night', 'b-42', 'q', 'tor-west', 'c0', 'x', 'yy', 'k-9', 'n', 'last', 'o'];

function renamed(input: ScoringInput): ScoringInput {
  const { devices } = input.topology;
  const names = new Map(devices.map(({ name }, index) => [name, NAMES[index] ?? `more-${index}`]));
  const text = (whole: string): string =>
    whole.replace(/(leaf|spine|host)-\d+/g, (name) => names.get(name) ?? name);
  const id = (whole: string): string => {
    const ends = /^link:(.+)--(.+)$/.exec(whole);
    return ends === null ? text(whole) : linkId(text(ends[1]), text(ends[2]));
  };
  const { ports } = input.topology;
  const links = input.topology.links.map((link) => {
    const [a, b] = [link.portA, link.portB];
    const swapped = text(ports[b].name) < text(ports[a].name);
    return { ...link, id: id(link.id), portA: swapped ? b : a, portB: swapped ? a : b };
  });
  const named = <Thing extends { name: string }>(things: readonly Thing[]): Thing[] =>
    things.map((thing) => ({ ...thing, name: text(thing.name) }));
  const elements = <Thing extends { id: string }>(things: readonly Thing[]): Thing[] =>
    things.map((thing) => ({ ...thing, id: id(thing.id) }));
  return {
    ...input,
    topology: {
      ...input.topology,
      devices: named(devices),
      ports: named(ports),
      nics: named(input.topology.nics),
      links,
    },
    evidence: {
      ...input.evidence,
      series: input.evidence.series.map(({ metric, element, timesNs, values, quality }) => ({
        metric,
        element: id(element),
        timesNs,
        values,
        quality,
      })),
    },
    truth: input.truth.map((entry) => ({ ...entry, elements: elements(entry.elements) })),
    verdict: {
      ...input.verdict!,
      culprits: input.verdict!.culprits.map((culprit) => ({
        ...culprit,
        element: { ...culprit.element, id: id(culprit.element.id) },
        evidence: culprit.evidence.map((one) => ({ ...one, element: id(one.element) })),
      })),
    },
  };
}

describe('scores of any drill', () => {
  it('and all their figures stay within the published ranges', () => {
    fc.assert(
      fc.property(stories, (story) => {
        const scores = scoreRun(drill(story));
        for (const name of SCORE_NAMES) {
          const { score, metrics } = scores[name];
          if (score !== null) expect(score >= 0 && score <= 100).toBe(true);
          for (const metric of SCORE_METRICS[name]) {
            const value = metrics[metric];
            if (value === null) continue;
            const [low, high] = scoreMetricDefinition(`${name}.${metric}`)!.range;
            expect([metric, Number(value) >= low && Number(value) <= high]).toEqual([metric, true]);
          }
        }
      }),
      { numRuns: 40 },
    );
  });

  it('do not depend on the names of things, nor on the order of those names', () => {
    fc.assert(
      fc.property(stories, (story) => {
        const input = drill(story);
        expect(scoreRun(renamed(input))).toEqual(scoreRun(input));
      }),
      { numRuns: 15 },
    );
  });

  it('never rise when the jobs stand still for longer', () => {
    fc.assert(
      fc.property(seconds(10), seconds(10), (stall, more) => {
        const [short, long] = [stall, stall + more].map((exposedStallS) =>
          scoreRun(drill({ exposedStallS })),
        );
        expect(long.recovery.score!).toBeLessThanOrEqual(short.recovery.score! + 0.5);
        const [calm, hurt] = [stall, stall + more].map((bystanderStallS) =>
          scoreRun(drill({ bystanderStallS })),
        );
        expect(hurt.isolation.score!).toBeLessThanOrEqual(calm.isolation.score!);
      }),
      { numRuns: 20 },
    );
  });

  it('are null, never 0 or 100, where there is no evidence', () => {
    const nothing = drill({}, { evidence: { fromNs: 0, toNs: 60e9, series: [] }, verdict: null });
    const scores = scoreRun(nothing);
    for (const name of SCORE_NAMES) expect([name, scores[name].score]).toEqual([name, null]);
    const known = SCORE_NAMES.flatMap((name) =>
      Object.entries(scores[name].metrics).filter(([, value]) => value !== null),
    );
    // how many jobs there are is known without any telemetry
    expect(Object.fromEntries(known)).toEqual({ exposed_jobs: 1, bystander_jobs: 1 });
  });

  it('weigh only the proportions of a profile’s weights', () => {
    const thrice = scoringProfileSchema.parse({
      recovery: { weights: { recover: 1.2, failback: 0.6, pace: 0.6, ettr: 0.6 } },
      isolation: { weights: { jobs: 2.1, flows: 0.9 } },
      explainability: { weights: { kind: 0.3, element: 2.7 } },
    });
    const input = drill({ bystanderStallS: 3 }, { verdict: plainVerdict([rightCulprit]) });
    const [usual, scaled] = [scoreRun(input), scoreRun({ ...input, profile: thrice })];
    for (const name of SCORE_NAMES) expect(scaled[name].score!).toBeCloseTo(usual[name].score!, 9);
  });

  it('follow the profile: with pace alone in it, recovery is the pace that was kept', () => {
    const pace = scoringProfileSchema.parse({
      recovery: { weights: { recover: 0, failback: 0, pace: 1, ettr: 0 } },
    });
    const { score, metrics } = scoreRun(drill({}, { profile: pace })).recovery;
    expect(score!).toBeCloseTo(100 * (1 - (metrics.resilience_loss as number)), 9);
  });

  it('refuse a profile in which nothing has weight', () => {
    const nothing = { recovery: { weights: { recover: 0, failback: 0, pace: 0, ettr: 0 } } };
    expect(() => scoringProfileSchema.parse(nothing)).toThrow(/above 0/);
  });
});
