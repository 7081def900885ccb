import { describe, expect, it } from '@jest/globals';
import type { Request, Response } from 'express';
import { parse } from 'yaml';
import { definitionText } from './definition-body.js';
import { attachRawJson, keepRawJson, rawJsonOf } from './raw-json.js';

const send = (text: string): unknown => {
  const request = { body: JSON.parse(text) as unknown } as Request;
  keepRawJson(request, undefined, Buffer.from(text));
  attachRawJson(request, {} as Response, () => undefined);
  return request.body;
};

describe('a JSON body', () => {
  it('keeps the text that was sent, out of sight of whoever reads the document', () => {
    const body = send('{\n\n  "kind": "x" }');
    expect(rawJsonOf(body)).toBe('{\n\n  "kind": "x" }');
    expect(Object.keys(body as object)).toEqual(['kind']);
    expect(JSON.stringify(body)).toBe('{"kind":"x"}');
    expect(rawJsonOf({ kind: 'x' })).toBeUndefined();
  });

  it('is read as it was sent, so that lines are those of the file, tabs and all', () => {
    const text =
      '{\n\n\t"kind": "x",\n\t"text": "tab \\t and \\u00e9 \\/",\n\t"spec": {\n\t\t"sede": 1\n\t}\n}\n';
    const read = definitionText(send(text));
    expect(parse(read)).toEqual(JSON.parse(text));
    expect(read.split('\n')[5]).toMatch(/"sede": 1/);
  });

  it('that never was a text is written out', () => {
    expect(JSON.parse(definitionText({ kind: 'x' }))).toEqual({ kind: 'x' });
  });
});
