/**
 * Scorecards for the report specs: one that passed, one that did not, one in which nothing could be known, and an
 * arbitrary one whose every text is hostile. Figures are made up but fit together.
 */
import fc from 'fast-check';
import { CULPRIT_KINDS, SIDES } from '../../model/telemetry/vocabulary.js';
import { RUN_STATES, SCORE_METRICS, SCORE_NAMES } from '../../scoring/scorecard.js';
import type { MetricValue, Scorecard, Scores } from '../../scoring/scorecard.js';

const LINK = { type: 'link', id: 'link:leaf-1/p9--spine-2/p1' } as const;

const scores = (values: Record<string, MetricValue>): Scores =>
  Object.fromEntries(
    SCORE_NAMES.map((name) => [
      name,
      {
        score: (values[`${name}.score`] ?? null) as number | null,
        metrics: Object.fromEntries(
          SCORE_METRICS[name].map((metric) => [metric, values[`${name}.${metric}`] ?? null]),
        ),
      },
    ]),
  ) as unknown as Scores;

export const passedScorecard: Scorecard = {
  run: {
    id: '0b5c7f0e-0000-4000-8000-000000000001',
    experiment: 'link-down',
    fabric: 'demo',
    driver: 'simulated',
    seed: 42,
    state: 'passed',
    version: '0.1.0',
    startedAt: '2026-11-29T18:00:00.000Z',
    endedAt: '2026-11-29T18:00:03.250Z',
  },
  scores: scores({
    'recovery.score': 96.27,
    'recovery.time_to_detect_s': 0.01,
    'recovery.time_to_reroute_s': 1,
    'recovery.time_to_recover_s': 0.8213,
    'recovery.recovered': true,
    'recovery.failback_s': 1,
    'recovery.failed_back': true,
    'recovery.resilience_loss': 0.02512,
    'recovery.lost_gpu_hours': 0.00893,
    'recovery.redone_steps': 0,
    'recovery.ettr': 0.9799,
    'isolation.score': 100,
    'isolation.exposed_jobs': 1,
    'isolation.bystander_jobs': 1,
    'isolation.blast_ratio': 0,
    'isolation.victim_flow_share': 0,
    'explainability.score': 93.4,
    'explainability.top1': 1,
    'explainability.top3': 1,
    'explainability.reciprocal_rank': 1,
    'explainability.set_f1': 1,
    'explainability.kind_correct': true,
    'explainability.side_correct': true,
    'explainability.onset_error_s': 0.01,
    'explainability.evidence_coverage': 0.6,
    'explainability.evidence_precision': 1,
    'explainability.brier': 0.0004,
    'explainability.abstained': false,
  }),
  objectives: [
    { expression: 'recovery.score >= 80', value: 96.27, passed: true },
    { expression: 'isolation.blast_ratio <= 0.05', value: 0, passed: true },
    { expression: 'recovery.recovered == true', value: true, passed: true },
  ],
  verdict: {
    faultFound: true,
    answer:
      'The cable between leaf-1 port 9 and spine-2 port 1 went dark at 20.0 s: both ends lost light and went down. ' +
      'Job llm-a stood still for 0.8 s until its traffic took the other uplinks; nothing else changed.',
    shareExplained: 0.97,
    affectedJobs: ['llm-a'],
    aggressors: [],
    chain: [
      { element: LINK, claim: 'the link went down', onset_s: 20 },
      { element: { type: 'job', id: 'job:llm-a' }, claim: 'its steps became slower', onset_s: 20.1 },
    ],
    ruledOut: [
      {
        kind: 'node-down',
        element: { type: 'device', id: 'device:spine-2' },
        why: 'its other ports stayed up',
      },
    ],
    culprits: [
      {
        rank: 1,
        kind: 'link-down',
        element: LINK,
        side: 'cable',
        direction: 'both',
        onset_s: 20.01,
        lostTimeShare: 0.97,
        probability: 0.98,
        evidence: [
          {
            metric: 'port_oper_status',
            element: 'port:leaf-1/p9',
            change: '1 → 0',
            window: [20.01, 40.01],
          },
          {
            metric: 'optic_rx_power_dbm',
            element: 'port:spine-2/p1',
            change: '-2.1 dBm → -40 dBm',
            window: [20, 40],
          },
        ],
      },
    ],
  },
  truth: [
    {
      kind: 'link-down',
      elements: [LINK, { type: 'port', id: 'port:leaf-1/p9' }, { type: 'port', id: 'port:spine-2/p1' }],
      side: 'cable',
      direction: 'both',
      from_s: 20,
      to_s: 40,
    },
  ],
  reasons: [],
};

export const failedScorecard: Scorecard = {
  ...passedScorecard,
  run: { ...passedScorecard.run, state: 'failed' },
  objectives: [
    { expression: 'recovery.score >= 98', value: 96.27, passed: false },
    { expression: 'isolation.pause_spread_ratio < 0.1', value: null, passed: null },
    { expression: 'explainability.top1 == 1', value: 1, passed: true },
  ],
  reasons: [
    'recovery.score >= 98 was missed: measured 96.27',
    'isolation.pause_spread_ratio < 0.1 could not be known',
  ],
};

export const inconclusiveScorecard: Scorecard = {
  ...passedScorecard,
  run: { ...passedScorecard.run, state: 'inconclusive', startedAt: null, endedAt: null },
  scores: scores({}),
  objectives: [{ expression: 'recovery.score >= 80', value: null, passed: null }],
  verdict: null,
  truth: [],
  reasons: ['the target carried no bytes of any job before the fault, so the drill tried nothing'],
};

/** Any text, control characters, markup, surrogates and very long words included. */
export const hostileText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({ maxLength: 40 }),
  fc.constantFrom(
    '<b>&"\'</b>',
    ']]>',
    '| a | b',
    '`',
    '\u001b[31mred',
    '\r\n',
    '\ud800',
    '\uffff',
    '</details>',
    '-->',
  ),
  fc.string({ minLength: 101, maxLength: 130, unit: fc.constantFrom('a', 'b', '-', '/') }),
);

const element = hostileText.map((id) => ({ type: 'link' as const, id }));
const seconds = fc.double({ min: 0, max: 1e6, noNaN: true });

/** A scorecard whose every text is arbitrary. */
export const hostileScorecard: fc.Arbitrary<Scorecard> = fc
  .record({
    texts: fc.tuple(hostileText, hostileText, hostileText, hostileText, hostileText),
    state: fc.constantFrom(...RUN_STATES),
    reasons: fc.array(hostileText, { maxLength: 3 }),
    objectives: fc.array(
      fc.record({
        expression: hostileText,
        value: fc.oneof(fc.constant(null), fc.boolean(), seconds),
        passed: fc.constantFrom(true, false, null),
      }),
      { maxLength: 4 },
    ),
    values: fc.array(fc.oneof(fc.constant(null), fc.double(), fc.boolean()), {
      minLength: 33,
      maxLength: 33,
    }),
    element,
    change: hostileText,
    kind: fc.constantFrom(...CULPRIT_KINDS),
    side: fc.constantFrom(...SIDES),
  })
  .map((random) => {
    let next = 0;
    const [experiment, fabric, driver, version, answer] = random.texts;
    const culprit = {
      ...passedScorecard.verdict!.culprits[0],
      kind: random.kind,
      element: random.element,
      side: random.side,
      direction: `port:${random.change}` as const,
      evidence: [
        {
          metric: random.change,
          element: random.element.id,
          change: random.change,
          window: [1, 2] as [number, number],
        },
      ],
    };
    return {
      ...passedScorecard,
      run: { ...passedScorecard.run, experiment, fabric, driver, version, state: random.state },
      scores: Object.fromEntries(
        SCORE_NAMES.map((name) => [
          name,
          {
            score:
              typeof random.values[next] === 'number' ? Math.abs(random.values[next] as number) % 100 : null,
            metrics: Object.fromEntries(SCORE_METRICS[name].map((metric) => [metric, random.values[next++]])),
          },
        ]),
      ) as unknown as Scores,
      objectives: random.objectives,
      verdict: { ...passedScorecard.verdict!, answer, culprits: [culprit, { ...culprit, rank: 2 }] },
      truth: [{ ...passedScorecard.truth[0], elements: [random.element] }],
      reasons: random.reasons,
      alignments: [
        { fault: experiment, job: fabric, boundary: 'step', number: null, began_s: 1, error_ns: 5 },
      ],
    };
  });
