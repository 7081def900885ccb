/** Parity checks as people and pipelines read them. */
import { describe, expect, it } from '@jest/globals';
import {
  compareLayers,
  LAYERS,
  parityVerdict,
  trustIn,
  type LayerReadings,
  type ParityResult,
  type Reading,
} from '../../scoring/parity/parity.js';
import { parityFormat } from '../catalog.js';

const figure = (value: number): Reading => ({ is: 'measured', value, resolution: 0 });
const all = (changes: Partial<LayerReadings> = {}): LayerReadings => ({
  ...(Object.fromEntries(LAYERS.map(({ name }) => [name, figure(1)])) as LayerReadings),
  ...changes,
});

function resultOf(predicted: LayerReadings, measured: LayerReadings, doubts: string[] = []): ParityResult {
  const layers = compareLayers([predicted], [measured]);
  const run = (readings: LayerReadings, own: string[]) => [
    { id: 'id-1', seed: 7, state: own.length > 0 ? 'inconclusive' : 'passed', doubts: own, readings },
  ];
  return {
    ...{ experiment: 'cut', version: '1.2.3', targets: [{ seed: 7, elements: ['link:a--b'] }] },
    predicted: { fabric: 'lab-twin', driver: 'simulated', runs: run(predicted, []) },
    measured: { fabric: 'lab', driver: 'linux', runs: run(measured, doubts) },
    ...{ layers, trust: trustIn(layers), verdict: parityVerdict(layers, doubts.length > 0) },
  };
}

const render = (name: string, result: ParityResult): string =>
  parityFormat(name).render(result, { command: 'fabricdrill parity x' });

const good = resultOf(all(), all());
const mixed = resultOf(
  all({ reroute: figure(1.6), failback: { is: 'never' }, detect: { is: 'unknown' } }),
  all({ traffic_during: figure(0.9) }),
);
const doubted = resultOf(all(), all(), ['the baseline is <sick>']);

describe('a parity check as text', () => {
  it('has the grade first, then each layer with both sides, the difference and what is allowed', () => {
    const text = render('text', good);
    expect(text).toMatch(
      /^parity A: cut, lab-twin for lab\n {2}what is known of the twin is within its tolerances\n/,
    );
    expect(text).toMatch(/^ {2}reroute +1 s +1 s +0 s +± 0.25 s +agrees, A$/m);
    expect(text).toContain('seed 7: link:a--b');
    expect(text).toMatch(/^ {2}again:\n {4}fabricdrill parity x$/m);
  });

  it('says what differs, by how much and in kind, and what is not known', () => {
    const text = render('text', mixed);
    expect(text).toMatch(/^parity D: /);
    expect(text).toMatch(/the twin was off in reroute, failback; not known: detect$/m);
    expect(text).toMatch(/^ {2}reroute +1.6 s +1 s +\+0.6 s +± 0.25 s +differs, C$/m);
    expect(text).toMatch(/^ {2}failback +never +1 s +differs, D$/m);
    expect(text).toMatch(/^ {2}detect +not known +1 s +not known$/m);
    expect(text).toMatch(/^ {2}job traffic during +1 GB\/s +0.9 GB\/s +\+11.11 % +± 25 % +agrees, A$/m);
  });

  it('calls a grade the best that it can be while something is unknown', () => {
    const gap = resultOf(all({ detect: { is: 'unknown' } }), all());
    expect(render('text', gap)).toMatch(/^parity A at best: /);
    const blank = Object.fromEntries(LAYERS.map(({ name }) => [name, { is: 'unknown' }])) as LayerReadings;
    expect(render('text', resultOf(blank, all()))).toMatch(
      /^parity none: .*\n {2}nothing could be compared; /,
    );
  });

  it('shows runs that prove nothing', () => {
    const text = render('text', doubted);
    expect(text).toMatch(/so it proves nothing$/m);
    expect(text).toContain('- lab, seed 7: the baseline is <sick>');
  });
});

describe('a parity check for machines', () => {
  it('is JSON with the raw readings of every run', () => {
    const parsed = JSON.parse(render('json', mixed)) as ParityResult & { command: string };
    expect(parsed).toMatchObject({
      verdict: 'differs',
      trust: { grade: 'D' },
      command: 'fabricdrill parity x',
    });
    expect(parsed.predicted.runs[0].readings.failback).toEqual({ is: 'never' });
    expect(parsed.layers.map(({ layer }) => layer)).toEqual(LAYERS.map(({ name }) => name));
  });

  it('is a JUnit test case a layer, and one for the runs; what is not known is an error', () => {
    expect(render('junit', good)).toContain('tests="8" failures="0" errors="0"');
    const xml = render('junit', mixed);
    expect(xml).toContain('tests="8" failures="2" errors="1"');
    expect(xml).toMatch(
      /name="detect">\n {6}<error [^>]*>injection to the first true change[^<]*\npredicted not known\n/,
    );
    expect(render('junit', doubted)).toMatch(
      /name="runs">\n {6}<error [^>]*>lab, seed 7: the baseline is &lt;sick&gt;/,
    );
  });

  it('is a table in Markdown, with names escaped', () => {
    const text = render('markdown', mixed);
    expect(text).toContain('| reroute | 1.6 s | 1 s | +0.6 s | ± 0.25 s | ❌ differs, C |');
    expect(text).toContain('- seed 7: <code>link:a--b</code>');
    expect(render('markdown', doubted)).toContain('the baseline is &lt;sick&gt;');
  });
});
