/** docs/scoring.md: its worked example is what the code computes, and it leaves no published metric out. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { scoreMetricDefinition } from './metric-catalog.js';
import { scoreRun } from './score.js';
import { SCORE_METRICS, SCORE_NAMES } from './scorecard.js';
import { ANSWER_PROBABILITY, CONTROL_SCORES } from './explainability/explainability.js';
import { VICTIM_DEVIATIONS } from './isolation/isolation.js';
import { DEFAULT_PROFILE, scoringProfileSchema } from './profile.js';
import { drill } from './testing/synthetic-drill.js';

const text = readFileSync(new URL('../../docs/scoring.md', import.meta.url), 'utf8');
const example = text.slice(text.indexOf('## Worked example'));

/** The last number on the example's line that starts with a name. */
function printed(name: string): number {
  const line = example.split('\n').find((candidate) => candidate.trim().startsWith(`${name} `));
  const number = /= ([\d.]+)(?: +\w+ = true)?$/.exec(line ?? '')?.[1];
  if (number === undefined) throw new Error(`no figure for ${name} in the worked example`);
  return Number(number);
}

describe('docs/scoring.md', () => {
  const scores = scoreRun(drill());

  it.each(['time_to_recover_s', 'failback_s', 'resilience_loss', 'lost_gpu_hours', 'ettr'])(
    'prints the %s that the code computes',
    (name) => {
      expect(scores.recovery.metrics[name] as number).toBeCloseTo(printed(name), 5);
    },
  );

  it('prints the three scores that the code computes', () => {
    for (const name of SCORE_NAMES) expect(scores[name].score!).toBeCloseTo(printed(name), 2);
    expect(example).toContain('blast_ratio = 0, victim_flow_share = 0');
    expect(scores.isolation.metrics).toMatchObject({ blast_ratio: 0, victim_flow_share: 0 });
  });

  it('defines every published metric', () => {
    for (const name of SCORE_NAMES) {
      for (const metric of SCORE_METRICS[name]) {
        expect(text).toContain(`\`${metric}\``);
        expect(scoreMetricDefinition(`${name}.${metric}`)?.description).toMatch(/\w/);
      }
    }
  });

  it('states the weights and limits of the code', () => {
    const { recovery, isolation, explainability, baseline } = DEFAULT_PROFILE;
    const { recover, failback, pace, ettr } = recovery.weights;
    expect(text).toContain(`( ${recover} · back(time_to_recover_s) + ${failback} · back(failback_s)`);
    expect(text).toContain(`+ ${pace} · (1 − resilience_loss) + ${ettr} · ettr )`);
    expect(text).toContain(`2^(−t / ${recovery.halfLife / 1e9} s)`);
    const { jobs, flows, pauses } = isolation.weights;
    expect(text).toContain(`( 1 − ${jobs} · blast_ratio − ${flows} · victim_flow_share )`);
    expect(pauses).toBe(0);
    expect(text).toContain(`d = max(${isolation.slowdown}, ${VICTIM_DEVIATIONS} σ)`);
    expect(text).toContain(`2^(−onset_error_s / ${explainability.onsetHalfLife / 1e9} s)`);
    const { kind, element } = explainability.weights;
    expect(text).toContain(`100 × ( ${kind} · kind + ${element} · element match`);
    expect(new Set(Object.values(explainability.details))).toEqual(new Set([1]));
    expect(text).toContain(`culprits of probability ${ANSWER_PROBABILITY} and more`);
    expect(text).toContain(`abstains scores ${explainability.abstained}`);
    expect(text).toContain(
      `${CONTROL_SCORES.quiet} for "no fault", ${CONTROL_SCORES.abstained} for abstaining`,
    );
    expect(text).toContain(`${CONTROL_SCORES.alarmMost} · (1 − highest probability)`);
    expect(text).toContain(`at most ${baseline.idealStepRatio} times the closed form`);
    expect(text).toContain(`scatters by at most ${baseline.paceNoise * 100} %`);
  });

  it('shows a profile that is read as it stands, and what it makes of the example', () => {
    const block = /```yaml\nscoring:\n([\s\S]*?)```/.exec(text)![1];
    const { profile, ...written } = parse(block) as Record<string, unknown>;
    expect(profile).toBe('strict.yaml');
    const given = scoringProfileSchema.parse(written);
    const shown = /profiled recovery = .* = ([\d.]+)$/m.exec(text)![1];
    expect(scoreRun(drill({}, { profile: given })).recovery.score!).toBeCloseTo(Number(shown), 2);
  });

  it('computes the same figures twice', () => {
    expect(JSON.stringify(scoreRun(drill()))).toBe(JSON.stringify(scores));
  });
});
