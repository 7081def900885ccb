/** Which documents a reference on the command line means. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { experimentDocument, fabricDocument, yamlOf } from '../../../test/support/definitions.js';
import { readExperiment, resolveFabric, unknownFabric } from './definitions.js';

let folder: string;
const toPath = (path: string): string => resolve(folder, path);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fabricdrill-references-'));
  mkdirSync(join(folder, 'sub/fabrics'), { recursive: true });
  const write = (name: string, ...documents: Record<string, unknown>[]): void =>
    writeFileSync(join(folder, name), documents.map(yamlOf).join('---\n'));
  write('sub/one.yaml', experimentDocument('one', 'fabrics/two.yaml#b'));
  write('sub/beside.yaml', experimentDocument('one', 'own'), fabricDocument('own'));
  write('sub/stored.yaml', experimentDocument('one', 'spectrum'));
  write('sub/fabrics/two.yaml', fabricDocument('a'), fabricDocument('b'));
  write('odd#name.yaml', experimentDocument('odd', 'spectrum'));
});

afterAll(() => rmSync(folder, { recursive: true }));

function fabricOf(file: string, override?: string): unknown {
  const fabric = resolveFabric(readExperiment(file, toPath), override, toPath);
  return 'stored' in fabric ? { stored: fabric.stored } : fabric.document.value.metadata.name;
}

describe('a fabric reference', () => {
  it('in a file is relative to that file', () => {
    expect(fabricOf('sub/one.yaml')).toBe('b');
  });

  it('on the command line is relative to the working folder', () => {
    expect(fabricOf('sub/one.yaml', 'sub/fabrics/two.yaml#a')).toBe('a');
    expect(() => fabricOf('sub/one.yaml', 'fabrics/two.yaml#a')).toThrow(/--fabric: there is no file/);
  });

  it('names a document beside the experiment before a stored fabric', () => {
    expect(fabricOf('sub/beside.yaml')).toBe('own');
    expect(fabricOf('sub/stored.yaml')).toEqual({ stored: 'spectrum' });
    expect(fabricOf('sub/beside.yaml', 'spectrum')).toEqual({ stored: 'spectrum' });
  });

  it('to a file with several fabrics needs a name', () => {
    expect(() => fabricOf('sub/one.yaml', 'sub/fabrics/two.yaml')).toThrow(/the file has a, b \(choose one/);
  });

  it('that is nowhere is told at the line that has it, with what there is', () => {
    const source = readExperiment('sub/beside.yaml', toPath);
    const { message } = unknownFabric(source, undefined, 'spectrun', ['hpn', 'spectrum']);
    expect(message).toMatch(/^sub\/beside\.yaml:6:11 \/spec\/fabric: there is no fabric "spectrun"/);
    expect(message).toMatch(
      /stored are hpn, spectrum, sub\/beside\.yaml has own \(did you mean "spectrum"\?\)/,
    );
    expect(unknownFabric(source, 'zzz', 'zzz', []).message).toMatch(/^--fabric: .*none is stored/);
  });
});

describe('an experiment reference', () => {
  it('may have a # in the name of its file', () => {
    expect(readExperiment('odd#name.yaml', toPath).experiment.value.metadata.name).toBe('odd');
  });
});
