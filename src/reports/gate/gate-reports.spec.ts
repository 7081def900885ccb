import { describe, expect, it } from '@jest/globals';
import type { CellResult, GateResult } from '../../comparison/result.js';
import { GATE_FORMATS, gateFormat } from '../catalog.js';
import type { GateReportOptions } from './format.js';

const cell = (experiment: string, verdict: CellResult['verdict'], reason = 'why'): CellResult => ({
  experiment,
  verdict,
  reason,
  seeds: 8,
  known: 8,
  meanBaseline: 0.5,
  meanCandidate: verdict === 'regression' ? 0.7 : 0.5,
  worseBy: { mean: 0.2, low: 0.19, high: 0.21 },
  pRegression: 0.00390625,
  pNone: 1,
  worstSeed: 3,
});

const passed: GateResult = {
  gate: {
    suite: 'pre-upgrade',
    baseline: 'today',
    candidate: 'next',
    version: '0.1.0',
    seeds: 16,
    firstSeed: 1,
    alpha: 0.05,
    looks: [{ seeds: 16, level: 0.05 }],
    samples: 'paired',
  },
  verdict: 'none',
  objectives: [
    {
      name: 'training.step_time_s within 2 %',
      type: 'relative',
      metric: 'training.step_time_s',
      unit: 's',
      verdict: 'none',
      reason: 'cut: no difference',
      file: 'suites/pre upgrade.yaml',
      line: 12,
      experiments: [cell('cut', 'none'), cell('incast', 'none')],
    },
  ],
  differences: ['settings.bfd: true → false'],
  notes: [],
  run: { runs: 32, fromCache: 0 },
};

const HOSTILE = 'a <b> & "c" | 100% \u001b[31m\n::error::x';
const failed: GateResult = {
  ...passed,
  verdict: 'regression',
  objectives: [
    {
      ...passed.objectives[0],
      verdict: 'regression',
      experiments: [
        cell('cut', 'inconclusive'),
        cell('incast', 'regression', HOSTILE),
        cell('storm', 'none'),
      ],
    },
  ],
};
const options: GateReportOptions = {
  file: 'suites/pre upgrade.yaml',
  command: 'drill gate suites/x.yaml',
  replay: (experiment, seed) => `drill gate suites/x.yaml --only ${experiment} --seed ${seed}`,
};
const render = (name: string, result = failed): string => gateFormat(name).render(result, options);

describe('reports of a gate', () => {
  it.each(GATE_FORMATS.map(({ name }) => name))(
    '%s names verdict, seed and the command that shows it again',
    (name) => {
      const text = render(name).replaceAll(/\s+/g, ' ');
      expect(text).toContain('regression');
      expect(text).toMatch(/--only incast --seed 3/);
      expect(render(name)).toBe(render(name));
    },
  );

  it('text keeps a command on one line of its own, which can be copied, however long it is', () => {
    const long = `drill gate ${'a-long-folder/'.repeat(20)}suite.yaml`;
    const text = gateFormat('text').render(failed, {
      command: long,
      replay: (_, seed) => `${long} --seed ${seed}`,
    });
    const lines = text.split('\n').map((line) => line.trim());
    expect(lines).toContain(long);
    expect(lines).toContain(`${long} --seed 3`);
  });

  it.each(['junit', 'markdown', 'sarif', 'github'])(
    '%s tells metric and raw figures of both sides',
    (name) => {
      const text = render(name, {
        ...failed,
        objectives: [{ ...failed.objectives[0], experiments: [cell('cut', 'regression', 'worse')] }],
      });
      expect(text.replaceAll(/&#?\w+;|%25/g, '')).toContain('training.step_time_s 0.5 s → 0.7 s: worse');
    },
  );

  it('junit gives every objective on every experiment a case of its own, and no skipped one', () => {
    const text = render('junit');
    const cases = [...text.matchAll(/<testcase classname="([^"]*)" name="([^"]*)"/g)].map((match) =>
      match.slice(1).join('/'),
    );
    expect(cases).toHaveLength(3);
    expect(new Set(cases).size).toBe(3);
    // readers that go by Jenkins' schema know `skipped` of a suite, not of the root
    expect(text).toContain('<testsuites name="fabricdrill" tests="3" failures="1" errors="1">');
    expect(text).toMatch(/<testsuite name="[^"]*" tests="3" failures="1" errors="1" skipped="0">/);
    expect(text).toContain('<failure type="regression"');
    expect(text).toContain('a &lt;b&gt; &amp; &quot;c&quot;');
    expect(text).not.toContain('\u001b');
    expect(render('junit', passed)).toContain('tests="2" failures="0" errors="0"');
  });

  it.each(['text', 'junit'])('%s says better, not worse by less than nothing', (name) => {
    const better = cell('cut', 'inconclusive');
    better.worseBy = { mean: -0.2, low: -0.21, high: -0.19 };
    const same = { ...cell('incast', 'inconclusive'), worseBy: { mean: 0, low: 0, high: 0 } };
    const [objective] = passed.objectives;
    const text = render(name, { ...passed, objectives: [{ ...objective, experiments: [better, same] }] });
    expect(text).toContain('better by 0.2 s (0.19 s to 0.21 s)');
    expect(text).toContain('no difference');
    expect(text).not.toContain('worse by');
  });

  it('markdown tells the verdict before anything else', () => {
    expect(render('markdown').split('\n')[0]).toBe(
      '## fabricdrill gate failed: pre-upgrade, next beside today',
    );
    expect(render('markdown')).not.toContain('<b>');
  });

  it('sarif points at the line of the objective, worst first, with fingerprints that stay', () => {
    const { runs, version } = JSON.parse(render('sarif')) as {
      version: string;
      runs: { results: Record<string, never>[]; tool: { driver: { rules: { id: string }[] } } }[];
    };
    expect(version).toBe('2.1.0');
    expect(runs[0].results).toMatchObject([
      {
        level: 'error',
        ruleId: 'training.step_time_s-within-2',
        locations: [
          {
            physicalLocation: {
              artifactLocation: { uri: 'suites/pre%20upgrade.yaml' },
              region: { startLine: 12 },
            },
          },
        ],
        partialFingerprints: { 'fabricdrill/v1': 'pre-upgrade/incast/training.step_time_s within 2 %' },
      },
      { level: 'warning' },
    ]);
    expect(runs[0].tool.driver.rules[0].id).toBe('training.step_time_s-within-2');
    expect(
      (JSON.parse(render('sarif', passed)) as { runs: { results: unknown[] }[] }).runs[0].results,
    ).toEqual([]);
  });

  it('sarif tells objectives apart whose names differ in signs only', () => {
    const [one] = failed.objectives;
    const objectives = ['>=', '<='].map((sign) => ({
      ...one,
      name: `recovery.score ${sign} 80`,
      experiments: [cell('cut', 'regression')],
    }));
    const [{ results, tool }] = (
      JSON.parse(render('sarif', { ...failed, objectives })) as {
        runs: {
          results: { ruleId: string; ruleIndex: number }[];
          tool: { driver: { rules: { id: string }[] } };
        }[];
      }
    ).runs;
    const ids = tool.driver.rules.map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
    expect(results.map(({ ruleId, ruleIndex }) => [ruleIndex, ruleId])).toEqual([...ids.entries()]);
  });

  it('annotations are one line each, however hostile a text is', () => {
    const lines = render('github').trimEnd().split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/^::error file=suites\/pre upgrade.yaml,line=12,title=regression%3A /);
    expect(lines[0]).toContain('100%25');
    expect(lines[1]).toMatch(/^::warning /);
    expect(render('github', passed)).toMatch(/^::notice title=fabricdrill gate::passed/);
  });

  it('json has everything, and nothing else in another order', () => {
    const document = JSON.parse(render('json')) as GateResult & { command: string };
    expect(document).toMatchObject({ verdict: 'regression', gate: { seeds: 16 }, command: options.command });
    expect(document.objectives[0].experiments[1]).toMatchObject({ worstSeed: 3, pRegression: 0.00390625 });
  });

  it('an unknown format is refused with those there are', () => {
    expect(() => gateFormat('junits', '--output')).toThrow(/known: text.*did you mean "junit"/);
  });
});
