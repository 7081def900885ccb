/** Documents in their formats, and where moments lie in the picture of a day. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { documentHtml } from './html.js';
import { documentMarkdown } from './markdown.js';
import { placeOn, timeAxis, type Span } from './time-axis.js';
import { duration, timelineSvg, type TimelinePicture } from './timeline-svg.js';
import type { ReportDocument } from './document.js';

const NASTY = '<script>x</script> | "a" `b` & \n# c';

const PICTURE: TimelinePicture = {
  whole: { fromMs: 0, toMs: 7_300_000 },
  stages: [
    {
      name: NASTY,
      lanes: [
        {
          label: 'cut',
          run: { fromMs: 0, toMs: 60_000 },
          fault: { fromMs: 20_000, toMs: 40_000 },
          detectedMs: 20_100,
          committedMs: 7_260_000,
        },
      ],
    },
  ],
  notes: [{ atMs: 30_000, text: NASTY }],
};

const DOCUMENT: ReportDocument = {
  title: NASTY,
  sections: [
    {
      title: null,
      blocks: [
        { kind: 'text', text: NASTY },
        { kind: 'timeline', picture: PICTURE },
      ],
    },
    {
      title: 'Table',
      blocks: [
        { kind: 'table', head: ['one', 'two'], rows: [[NASTY, 'b']] },
        { kind: 'list', items: [NASTY] },
        {
          kind: 'tasks',
          items: [
            { text: 'open', done: false },
            { text: 'shut', done: true },
          ],
        },
      ],
    },
  ],
};

describe('a document', () => {
  it('is Markdown whose texts mark nothing up', () => {
    const lines = documentMarkdown.render(DOCUMENT).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining(['## Table', '| one | two |', '| --- | --- |', '- [ ] open', '- [x] shut']),
    );
    expect(lines.filter((line) => line.startsWith('#'))).toHaveLength(2);
    expect(lines.join('\n')).not.toMatch(/<script|`/);
    expect(lines.find((line) => line.endsWith(' b |'))!.split('|')).toHaveLength(4);
  });

  it('is one HTML file in which texts are texts', () => {
    const html = documentHtml.render(DOCUMENT);
    expect(html).not.toContain('<script');
    expect(html.match(/&lt;script&gt;/g)).toHaveLength(7);
    expect(html).toContain('<li class="done">shut</li>');
    for (const tag of ['table', 'tr', 'td', 'ul', 'svg', 'g', 'text', 'title', 'h2', 'p']) {
      const count = (pattern: string): number => html.match(new RegExp(pattern, 'g'))?.length ?? 0;
      expect([tag, count(`</${tag}>`)]).toEqual([tag, count(`<${tag}[ >]`)]);
    }
  });
});

describe('the picture of a day', () => {
  it('shows fault, detection, diagnosis and notes, and says how long a wait was that it cut', () => {
    const svg = timelineSvg(PICTURE);
    expect(svg).toContain('fault in place from 00:00:20 to 00:00:40');
    expect(svg).toContain('telemetry first showed it at 00:00:20');
    expect(svg).toContain('the team committed its diagnosis at 02:01:00');
    expect(svg).toContain('nothing ran for 2 h');
    expect(svg).not.toContain('NaN');
  });

  it('cuts off no time of day at its edge', () => {
    const svg = timelineSvg(PICTURE);
    const width = Number(/ width="(\d+)"/.exec(svg)![1]);
    const clocks = [...svg.matchAll(/<text x="([\d.]+)"[^>]*>\d\d:\d\d:\d\d</g)];
    expect(clocks.length).toBeGreaterThan(1);
    for (const [, x] of clocks) expect(Number(x)).toBeLessThanOrEqual(width - 27);
  });

  it('of a day on which nothing ran is an empty axis', () => {
    const svg = timelineSvg({ whole: { fromMs: 5, toMs: 5 }, stages: [{ name: 'a', lanes: [] }], notes: [] });
    expect(svg).not.toContain('NaN');
  });

  it.each([
    [0, '0 s'],
    [59_400, '59 s'],
    [60_000, '1 min'],
    [90_000, '1 min 30 s'],
    [3_599_000, '1 h'],
    [5_400_000, '1 h 30 min'],
  ])('calls %i ms %s', (ms, said) => expect(duration(ms)).toBe(said));

  const spans = fc
    .tuple(fc.nat(100_000), fc.nat(100_000))
    .map(([one, other]): Span => ({ fromMs: Math.min(one, other), toMs: Math.max(one, other) }));

  it('keeps the order of time, from its left end to its right end', () => {
    fc.assert(
      fc.property(spans, fc.array(spans), fc.array(fc.nat(100_000)), (whole, busy, moments) => {
        const axis = timeAxis(whole, busy);
        const places = [...moments, whole.fromMs, whole.toMs]
          .sort((a, b) => a - b)
          .map((ms) => placeOn(axis, ms));
        for (const [at, place] of places.entries()) {
          expect(place).toBeGreaterThanOrEqual(at === 0 ? 0 : places[at - 1] - 1e-12);
          expect(place).toBeLessThanOrEqual(1 + 1e-12);
        }
        if (whole.toMs === whole.fromMs) return;
        expect(placeOn(axis, whole.fromMs)).toBe(0);
        expect(placeOn(axis, whole.toMs)).toBeCloseTo(1, 9);
      }),
    );
  });
});
