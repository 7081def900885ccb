/** The formats against golden files, and against texts that try to break them. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { InputError } from '../core/problem.js';
import { SCORE_METRICS, type Scorecard } from '../scoring/scorecard.js';
import { REPORT_FORMATS, reportFormat } from './catalog.js';
import { reproduceCommand } from './common/report.js';
import {
  failedScorecard,
  hostileScorecard,
  inconclusiveScorecard,
  passedScorecard,
} from './testing/sample-scorecards.js';

const golden = (name: string): string =>
  readFileSync(new URL(`testing/golden/${name}.golden`, import.meta.url), 'utf8');
const command = reproduceCommand({ file: 'experiments/link-down.yaml', seed: 42 });
const render = (format: string, scorecard = passedScorecard, options = {}) =>
  reportFormat(format).render(scorecard, { reproduceCommand: command, ...options });

describe('every format', () => {
  const samples = { passed: passedScorecard, failed: failedScorecard, inconclusive: inconclusiveScorecard };
  it.each(
    REPORT_FORMATS.flatMap((format) => Object.keys(samples).map((name) => [format.name, name] as const)),
  )('%s writes the %s run as its golden file has it', (format, name) => {
    const { extension } = reportFormat(format);
    expect(render(format, samples[name as keyof typeof samples])).toBe(golden(`${name}.${extension}`));
  });

  it('tells how well a fault met its trigger, and nothing of it where none had one', () => {
    const aligned = {
      ...failedScorecard,
      alignments: [
        {
          fault: 'cut',
          job: 'llm-a',
          boundary: 'collective' as const,
          number: 34,
          began_s: 20.18002901811063,
          error_ns: 250,
        },
      ],
    };
    for (const { name } of REPORT_FORMATS) {
      expect(render(name, failedScorecard)).not.toMatch(/align/i);
      const out = render(name, aligned).replaceAll(/\s+/g, ' ');
      if (name === 'json') expect(JSON.parse(out)).toMatchObject({ alignments: aligned.alignments });
      else expect(out).toContain('cut began 250 ns after llm-a began collective 34 (at 20.180029 s)');
    }
  });

  it('tells what an operator asks first, what was odd and cost nothing, and what the evidence has wrong', () => {
    const told = {
      ...failedScorecard,
      verdict: {
        ...passedScorecard.verdict!,
        firstLine: {
          area: 'network' as const,
          probability: 0.98,
          ongoing: false,
          next: 'look at the cable',
          text: 'Network (98 %): the cable went dark; slows llm-a; over since 40 s. Next: look at the cable.',
        },
        remarks: [
          {
            kind: 'optic-error' as const,
            element: { type: 'link', id: 'link:a--b' } as const,
            text: 'Link a--b corrects a thousand times more bits than it did.',
            evidence: [],
          },
        ],
        notes: ['port_rate_gbps of port:a/p1 read -1 once; it was taken as N/A.'],
      },
    };
    const { firstLine, remarks, notes } = told.verdict;
    for (const { name } of REPORT_FORMATS) {
      const out = render(name, told)
        .replaceAll(/\s+/g, ' ')
        .replaceAll(/\\([_-])/g, '$1');
      for (const line of [firstLine.text, remarks[0].text, notes[0]]) expect(out).toContain(line);
      if (name === 'json') expect(JSON.parse(out)).toMatchObject({ verdict: { firstLine, remarks, notes } });
      else expect(out).toContain('Odd, but cost nothing');
      expect(render(name)).not.toMatch(/Odd, but/);
    }
  });

  it('ends in one line end and gives the same bytes twice', () => {
    for (const format of REPORT_FORMATS) {
      expect(format.render(failedScorecard)).toMatch(/[^\n]\n$/);
      expect(format.render(failedScorecard)).toBe(format.render(failedScorecard));
    }
  });

  it('is found by name, and an unknown name gets the choices and the nearest', () => {
    expect(reportFormat('junit').mediaType).toBe('application/xml');
    expect(() => reportFormat('markdwon', '--output')).toThrow(InputError);
    expect(() => reportFormat('markdwon', '--output')).toThrow(
      '--output: unknown report format "markdwon"; known: text, json, junit, markdown (did you mean "markdown"?)',
    );
  });
});

describe('text', () => {
  it('says the same without colour as with it', () => {
    // eslint-disable-next-line no-control-regex -- colour is made of control characters
    const plain = render('text', failedScorecard, { colour: true }).replace(/\u001b\[\d+m/g, '');
    expect(plain).toBe(render('text', failedScorecard));
    expect(render('text', failedScorecard, { colour: true })).not.toBe(plain);
  });

  it('lets no control character through and keeps to its width, whatever the texts', () => {
    fc.assert(
      fc.property(hostileScorecard, fc.integer({ min: 60, max: 100 }), (scorecard, width) => {
        const out = reportFormat('text').render(scorecard, { width });
        expect(out).not.toMatch(/[^\P{Cc}\n]|\p{Zl}|\p{Zp}|\p{Cs}/u);
        for (const line of out.split('\n')) expect([...line].length).toBeLessThanOrEqual(width);
      }),
    );
  });
});

describe('json', () => {
  it('is the stable interface, key for key, whatever order the scorecard was built in', () => {
    const shuffled = Object.fromEntries(Object.entries(passedScorecard).reverse()) as typeof passedScorecard;
    const out = JSON.parse(render('json', shuffled)) as Record<string, Record<string, { metrics: object }>>;
    expect(Object.keys(out)).toEqual(['run', 'scores', 'objectives', 'verdict', 'truth', 'reasons']);
    expect(Object.keys(out.scores.recovery.metrics)).toEqual([...SCORE_METRICS.recovery]);
    expect(render('json', shuffled)).toBe(render('json'));
  });

  it('parses back to what went in, whatever the texts', () => {
    fc.assert(
      fc.property(hostileScorecard, (scorecard) => {
        const out = JSON.parse(reportFormat('json').render(scorecard)) as typeof scorecard;
        expect(out.run).toEqual(scorecard.run);
        expect(out.reasons).toEqual(scorecard.reasons);
        expect(out.objectives.map(({ expression }) => expression)).toEqual(
          scorecard.objectives.map(({ expression }) => expression),
        );
      }),
    );
  });
});

describe('markdown', () => {
  it('keeps tables whole and lets no markup in, whatever the texts', () => {
    fc.assert(
      fc.property(hostileScorecard, (scorecard) => {
        const out = reportFormat('markdown').render(scorecard);
        const tags = out.match(/<[^>]*>/g) ?? [];
        for (const tag of tags) expect(tag).toMatch(/^<\/?(details|summary|code)>$/);
        expect(tags.filter((tag) => tag === '<details>')).toHaveLength(
          tags.filter((tag) => tag === '</details>').length,
        );
        let columns = 0;
        for (const line of out.split('\n')) {
          const pipes = (line.match(/\|/g) ?? []).length;
          if (!line.startsWith('|')) columns = 0;
          if (columns > 0 || !line.startsWith('|')) expect(pipes).toBe(columns);
          else columns = pipes;
        }
      }),
    );
  });
});

describe('a replay command', () => {
  it('quotes what a shell would take apart', () => {
    expect(reproduceCommand({ file: "my drills/it's.yaml", fabric: 'lab.yaml#a', seed: 7 })).toBe(
      "fabricdrill run 'my drills/it'\\''s.yaml' --fabric lab.yaml#a --seed 7",
    );
  });
});

describe('a run that was cut short', () => {
  const [text, markdown, json] = ['text', 'markdown', 'json'].map((name) => reportFormat(name));
  const cut: Scorecard = {
    ...passedScorecard,
    run: { ...passedScorecard.run, state: 'aborted' },
    verdict: null,
    truth: [],
    reasons: ['interrupted'],
  };

  it('has no truth on record, which is not the same as no fault', () => {
    for (const format of [text, markdown]) {
      expect(format.render(cut)).toMatch(/injected +not recorded|Injected: not recorded/);
      expect(format.render(cut)).not.toMatch(/no fault/);
    }
    const control = { ...passedScorecard, truth: [] };
    expect(text.render(control)).toMatch(/injected +no fault/);
  });

  it('shows what a reader should know beside the scores', () => {
    const notes = ['no job felt the fault'];
    for (const format of [text, markdown, json]) expect(format.render({ ...cut, notes })).toContain(notes[0]);
  });
});
