/** Where results go. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { passedScorecard } from '../../reports/testing/sample-scorecards.js';
import { InputError } from '../../core/problem.js';
import { parseReportOutputs, writeOutputs } from './outputs.js';

let folder: string;
let out: string;
let notes: string[];
const context = { out: (text: string) => void (out += text), note: (text: string) => void notes.push(text) };
const parse = (...texts: string[]) => parseReportOutputs(texts, (path) => resolve(folder, path));

beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'fabricdrill-outputs-'))));
afterAll(() => rmSync(folder, { recursive: true }));
beforeEach(() => {
  out = '';
  notes = [];
});

describe('outputs', () => {
  it('are text on stdout where none is asked for, and where files are asked for only', () => {
    const names = (...texts: string[]) => parse(...texts).map(({ format, path }) => [format.name, path]);
    expect(names()).toEqual([['text', undefined]]);
    expect(parseReportOutputs(undefined, String)).toHaveLength(1);
    expect(names('junit=r.xml')).toEqual([
      ['text', undefined],
      ['junit', join(folder, 'r.xml')],
    ]);
    expect(names('json', 'junit=r.xml').map(([name]) => name)).toEqual(['json', 'junit']);
    expect(names('json=a=b.json')[1][1]).toBe(join(folder, 'a=b.json'));
  });

  it('create nothing before there is something to write', () => {
    parse('json=new/deep/result.json');
    expect(existsSync(join(folder, 'new'))).toBe(false);
  });

  it('write each format to its place, with the folders on the way, with colour and its width at a terminal only', () => {
    const outputs = parse('text', 'json=new/deep/result.json', 'text=copy.txt');
    writeOutputs(outputs, passedScorecard, { colour: true, width: 60 }, context);
    expect(out).toContain('\u001b[');
    const copy = readFileSync(join(folder, 'copy.txt'), 'utf8');
    expect(copy).not.toContain('\u001b');
    expect(copy.split('\n').length).toBeLessThan(out.split('\n').length);
    const written = JSON.parse(readFileSync(join(folder, 'new/deep/result.json'), 'utf8')) as unknown;
    expect(written).toMatchObject({ run: { state: 'passed' } });
    expect(notes).toEqual([
      `json report: ${join(folder, 'new/deep/result.json')}`,
      `text report: ${join(folder, 'copy.txt')}`,
    ]);
  });

  it('are all written before one that can not be is told', () => {
    const outputs = parse('json=late/result.json', 'junit=result.xml');
    writeFileSync(join(folder, 'late'), 'a file where the folder would go');
    expect(() => writeOutputs(outputs, passedScorecard, {}, context)).toThrow(InputError);
    expect(readFileSync(join(folder, 'result.xml'), 'utf8')).toContain('<testsuites');
    expect(out).not.toBe('');
  });
});
