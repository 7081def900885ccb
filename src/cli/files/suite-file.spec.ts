import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { experimentDocument, yamlOf } from '../../../test/support/definitions.js';
import { InputError } from '../../core/problem.js';
import { readSuite } from './suite-file.js';

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'fabricdrill-suite-'))));
afterAll(() => rmSync(folder, { recursive: true }));

/** What is wrong with a suite of these experiments, as `file:line pointer message`. */
function refused(...experiments: string[]): string[] {
  const suite = {
    apiVersion: 'fabricdrill/v1',
    kind: 'Suite',
    metadata: { name: 'mine' },
    spec: { objectives: [{ metric: 'recovery.score', margin: 5 }], experiments },
  };
  writeFileSync(join(folder, 'suite.yaml'), yamlOf(suite));
  try {
    readSuite('suite.yaml', (path) => resolve(folder, path));
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return error.issues.map(({ file, line, pointer, message }) => `${file}:${line} ${pointer} ${message}`);
  }
  throw new Error('was accepted');
}

describe('a suite on the command line', () => {
  it('tells each experiment that is not there at the line that names it', () => {
    writeFileSync(join(folder, 'cut.yaml'), yamlOf(experimentDocument('cut', 'today')));
    expect(refused('cut', 'cut.yaml', 'no.yaml')).toEqual([
      'suite.yaml:10 /spec/experiments/0 unknown experiment "cut"; this file has no experiment',
      'suite.yaml:12 /spec/experiments/2 there is no file "no.yaml"',
    ]);
  });

  it('tells what is wrong with a whole file at the line that names it, and what is wrong in it there', () => {
    writeFileSync(join(folder, 'broken.yaml'), 'kind: [\n');
    expect(refused('suite.yaml', './')).toEqual([
      'suite.yaml:10 /spec/experiments/0 suite.yaml: one document of kind Experiment is needed; the file has none',
      expect.stringMatching(/^suite.yaml:11 [/]spec[/]experiments[/]1 .*this is a folder/),
    ]);
    expect(refused('broken.yaml')).toEqual([expect.stringMatching(/^broken.yaml:\d+ /)]);
  });
});
