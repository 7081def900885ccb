/** JUnit: what counts as failure or error, unique names, and XML that a strict reader accepts whatever the texts. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Scorecard } from '../scoring/scorecard.js';
import { junit } from './junit.js';
import {
  failedScorecard,
  hostileScorecard,
  inconclusiveScorecard,
  passedScorecard,
} from './testing/sample-scorecards.js';

interface XmlElement {
  name: string;
  attributes: Record<string, string>;
  children: XmlElement[];
  text: string;
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function decode(raw: string): string {
  return raw.replace(/&([^;]*);?/g, (whole, name: string) => {
    const code = /^#(\d+)$/.exec(name);
    const character = code === null ? ENTITIES[name] : String.fromCodePoint(Number(code[1]));
    if (character === undefined || !whole.endsWith(';'))
      throw new Error(`bad entity ${JSON.stringify(whole)}`);
    return character;
  });
}

/** A strict reader for the XML subset that a report may use: elements, attributes, text, the five entities. */
function parseXml(xml: string): XmlElement {
  // XML 1.0 section 2.2, production Char.
  for (const character of xml) {
    if (!/^[\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]$/u.test(character)) {
      throw new Error(`no XML character: U+${character.codePointAt(0)!.toString(16)}`);
    }
  }
  const document: XmlElement = { name: '', attributes: {}, children: [], text: '' };
  const open = [document];
  let at = /^<\?xml version="1\.0" encoding="UTF-8"\?>/.exec(xml)?.[0].length ?? 0;
  while (at < xml.length) {
    const parent = open[open.length - 1];
    if (xml[at] !== '<') {
      const end = xml.indexOf('<', at) === -1 ? xml.length : xml.indexOf('<', at);
      const raw = xml.slice(at, end);
      if (raw.includes(']]>')) throw new Error(']]> in text');
      parent.text += decode(raw);
      at = end;
      continue;
    }
    const close = /^<\/([a-z]+)>/.exec(xml.slice(at));
    if (close !== null) {
      if (open.pop()!.name !== close[1]) throw new Error(`unbalanced ${close[1]}`);
      at += close[0].length;
      continue;
    }
    const tag = /^<([a-z]+)((?: [a-z]+="[^"<]*")*)(\/?)>/.exec(xml.slice(at));
    if (tag === null) throw new Error(`no tag at ${xml.slice(at, at + 60)}`);
    const attributes: Record<string, string> = {};
    for (const [, key, value] of tag[2].matchAll(/ ([a-z]+)="([^"]*)"/g)) {
      if (key in attributes) throw new Error(`attribute twice: ${key}`);
      if (/[\n\r\t]/.test(value)) throw new Error('a parser would turn this blank into a space');
      attributes[key] = decode(value);
    }
    const element = { name: tag[1], attributes, children: [], text: '' };
    parent.children.push(element);
    if (tag[3] === '') open.push(element);
    at += tag[0].length;
  }
  if (open.length !== 1 || document.children.length !== 1 || document.text.trim() !== '')
    throw new Error('not one root');
  return document.children[0];
}

function casesOf(scorecard: Scorecard) {
  const root = parseXml(junit.render(scorecard, { reproduceCommand: 'replay' }));
  return { root, cases: root.children[0].children.filter(({ name }) => name === 'testcase') };
}
const outcome = (testCase: XmlElement) => testCase.children[0]?.name ?? 'passed';

describe('the JUnit report', () => {
  it('has a case for the run and one for each objective', () => {
    const { root, cases } = casesOf(passedScorecard);
    expect(cases.map(({ attributes }) => attributes.name)).toEqual([
      'the run reaches a verdict',
      ...passedScorecard.objectives.map(({ expression }) => expression),
    ]);
    expect(cases.map(outcome)).toEqual(['passed', 'passed', 'passed', 'passed']);
    expect(root.attributes).toMatchObject({
      tests: '4',
      failures: '0',
      errors: '0',
      time: '3.250',
    });
  });

  it('makes a missed objective a failure and an unknown one an error, with the explanation in the body', () => {
    const { root, cases } = casesOf(failedScorecard);
    expect(cases.map(outcome)).toEqual(['passed', 'failure', 'error', 'passed']);
    expect(root.attributes).toMatchObject({ failures: '1', errors: '1' });
    const body = cases[1].children[0].text;
    expect(body).toContain('recovery.score >= 98: measured 96.27');
    expect(body).toContain('went dark at 20.0 s');
    expect(body).toContain('Injected: link-down at link:leaf-1/p9--spine-2/p1');
    expect(body).toContain('Reproduce: replay');
  });

  it('never shows a run that proved nothing as passed or skipped', () => {
    const { cases } = casesOf(inconclusiveScorecard);
    expect(cases.map(outcome)).toEqual(['error', 'error']);
    expect(cases[0].children[0].attributes.type).toBe('inconclusive');
    expect(cases[0].children[0].text).toContain('the target carried no bytes');
  });

  it('fails the run itself when the state is failed and no objective says why', () => {
    const { cases } = casesOf({ ...failedScorecard, objectives: [] });
    expect(cases.map(outcome)).toEqual(['failure']);
  });

  it('keeps classname and name unique when an objective is stated twice', () => {
    const [objective] = passedScorecard.objectives;
    const { cases } = casesOf({ ...passedScorecard, objectives: [objective, objective, objective] });
    const keys = cases.map(({ attributes }) => `${attributes.classname} ${attributes.name}`);
    expect(new Set(keys).size).toBe(4);
  });

  it('is well-formed XML with unique cases and true totals, whatever the texts', () => {
    fc.assert(
      fc.property(hostileScorecard, (scorecard) => {
        const { root, cases } = casesOf(scorecard);
        expect(cases).toHaveLength(scorecard.objectives.length + 1);
        expect(new Set(cases.map(({ attributes }) => attributes.name)).size).toBe(cases.length);
        const outcomes = cases.map(outcome);
        expect(root.attributes.failures).toBe(String(outcomes.filter((name) => name === 'failure').length));
        expect(root.attributes.errors).toBe(String(outcomes.filter((name) => name === 'error').length));
        if (scorecard.run.state !== 'passed') {
          const unexplained = scorecard.run.state !== 'failed' || outcomes.includes('failure');
          expect(unexplained && outcomes.every((name) => name === 'passed')).toBe(false);
        }
      }),
    );
  });

  it('gives a text back as it was when XML can hold it', () => {
    const printable = fc.string({
      unit: fc.constantFrom('a', '<', '&', '"', "'", '>', '\n', '\t', '\r', ']', 'é', '𝄞'),
    });
    fc.assert(
      fc.property(printable, (reason) => {
        const { root, cases } = casesOf({
          ...inconclusiveScorecard,
          reasons: [`x${reason}x`],
          run: { ...inconclusiveScorecard.run, experiment: reason },
        });
        expect(cases[0].children[0].text).toContain(`x${reason}x`);
        expect(root.children[0].attributes.name).toBe(reason);
      }),
    );
  });
});
