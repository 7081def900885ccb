import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { experimentDocument, fabricDocument, yamlOf, type Json } from '../../test/support/definitions.js';
import { InputError, type InputIssue } from '../core/problem.js';
import { refuseFiles, type ReadText } from './fabric-document.js';
import { loadDefinitions, loadExperiment, loadFabric } from './load.js';

const FILE = 'drill.yaml';
const experiment = yamlOf(experimentDocument('drill', 'fabric'));
const fabric = yamlOf(fabricDocument('fabric'));

function issuesOf(text: string, readText: ReadText = refuseFiles): InputIssue[] {
  try {
    loadDefinitions(text, readText, FILE);
  } catch (error) {
    expect(error).toBeInstanceOf(InputError);
    return [...(error as InputError).issues];
  }
  return [];
}

/** The line of the first text that matches, 1-based. */
const lineOf = (text: string, what: string): number =>
  text.split('\n').findIndex((line) => line.includes(what)) + 1;

describe('a definition file', () => {
  it('that ships is valid and is kept as it was written', () => {
    for (const name of ['link-down.yaml', 'fabrics/rail-64.yaml']) {
      const text = readFileSync(new URL(`../../experiments/${name}`, import.meta.url), 'utf8');
      const { experiments, fabrics } = loadDefinitions(text, refuseFiles, name);
      expect(experiments.length + fabrics.length).toBe(1);
    }
    const { experiments, fabrics } = loadDefinitions(`${fabric}---\n${experiment}`, refuseFiles, FILE);
    expect(fabrics[0].source).toEqual(fabricDocument('fabric'));
    expect(experiments[0].source).toEqual(experimentDocument('drill', 'fabric'));
    expect(experiments[0].value.spec).toMatchObject({ seed: 11, faults: [{ at: 3e9, duration: 3e9 }] });
  });

  const broken: [string, string, string, Partial<InputIssue>][] = [
    [
      'an unknown key',
      'objectives:',
      'objektives:',
      { pointer: '/spec/objektives', hint: 'did you mean "objectives"?' },
    ],
    ['a bare number for a time', 'at: 3s', 'at: 3', { pointer: '/spec/faults/0/at' }],
    ['a wrong unit', 'at: 3s', 'at: 3 parsecs', { pointer: '/spec/faults/0/at' }],
    ['a time beyond any run', 'at: 3s', 'at: 100000h', { pointer: '/spec/faults/0/at' }],
    [
      'a fault held for no time',
      'duration: 3s',
      'duration: 0s',
      { pointer: '/spec/faults/0/duration', message: expect.stringContaining('1ms') as never },
    ],
    [
      'a fault kind that does not exist',
      'kind: link-down',
      'kind: link-dwn',
      { pointer: '/spec/faults/0/kind', hint: 'did you mean "link-down"?' },
    ],
    [
      'a variant that does not exist',
      'variant: cut',
      'variant: cutt',
      { pointer: '/spec/faults/0/params/variant', hint: 'did you mean "cut"?' },
    ],
    ['a selector of no type', 'type: link', 'type: lnik', { pointer: '/spec/faults/0/target/type' }],
    ['a name that is none', 'name: drill', 'name: Drill/1', { pointer: '/metadata/name' }],
    ['a seed that is no whole number', 'seed: 11', 'seed: 1.5', { pointer: '/spec/seed' }],
    [
      'an objective about no metric',
      'recovery.recovered == 1',
      'recovery.recoverd == 1',
      { pointer: '/spec/objectives/0', hint: expect.stringContaining('recovered') as never },
    ],
    [
      'another version of the format',
      'fabricdrill/v1',
      'fabricdrill/v9',
      { pointer: '/apiVersion', message: expect.stringContaining('fabricdrill/v1') as never },
    ],
    [
      'a kind of document that does not exist',
      'kind: Experiment',
      'kind: Experimant',
      { pointer: '/kind', hint: 'did you mean "Experiment"?' },
    ],
  ];
  it.each(broken)('with %s is refused at its line, with a pointer', (_, right, wrong, issue) => {
    const text = experiment.replace(right, wrong);
    expect(text).not.toBe(experiment);
    expect(issuesOf(text)).toEqual([
      expect.objectContaining({ file: FILE, line: lineOf(text, wrong), ...issue }),
    ]);
  });

  it('tells every mistake of every document in one go', () => {
    const text = [
      experiment.replace('seed: 11', 'sead: 11').replace('at: 3s', 'at: 3'),
      fabric.replace('spines: 2', 'spinse: 2'),
    ].join('---\n');
    const pointers = issuesOf(text).map(({ pointer }) => pointer);
    expect(pointers).toEqual(
      expect.arrayContaining(['/spec/sead', '/spec/faults/0/at', '/spec/topology/spinse']),
    );
  });

  it('may not name two documents of a kind alike', () => {
    const text = `${experiment}---\n${experiment}`;
    expect(issuesOf(text)).toEqual([
      expect.objectContaining({ pointer: '/metadata/name', message: expect.stringContaining('"drill"') }),
    ]);
  });

  it.each(['- 1', '7', 'text', 'null: 1'])('that is no mapping of ours is refused: %j', (text) => {
    expect(issuesOf(text)).toHaveLength(1);
  });

  it('adds file and line to what is found only later', () => {
    const { experiments } = loadDefinitions(experiment, refuseFiles, FILE);
    const [issue] = experiments[0].locate([
      { pointer: '/spec/faults/0/target/usedBy', message: 'no such job' },
    ]);
    expect(issue).toEqual({
      pointer: '/spec/faults/0/target/usedBy',
      message: 'no such job',
      file: FILE,
      line: lineOf(experiment, 'usedBy'),
      column: expect.any(Number),
    });
  });
});

describe('a fabric that names other files', () => {
  const imported = (spec: Json): string => yamlOf(fabricDocument('fabric', spec));
  const TOPOLOGY = '3 2 0 1 2 H100\n2\n0 2 100Gbps 0.001ms 0\n1 2 100Gbps 0.001ms 0\n';
  const topology = { builder: 'import', format: 'simai', file: 'topo.txt' };

  it('stands alone once it is loaded', () => {
    const read: string[] = [];
    const { fabrics } = loadDefinitions(imported({ topology, jobs: [] }), (path) => {
      read.push(path);
      return TOPOLOGY;
    });
    expect(read).toEqual(['topo.txt']);
    expect(JSON.stringify(fabrics[0].source)).not.toContain('topo.txt"');
    expect(loadFabric(fabrics[0].source, refuseFiles).value).toEqual(fabrics[0].value);
  });

  it('is refused where no files are read', () => {
    expect(issuesOf(imported({ topology, jobs: [] }))).toEqual([
      expect.objectContaining({
        pointer: '/spec/topology/file',
        message: expect.stringContaining('topo.txt'),
      }),
    ]);
  });

  it('is refused with file and line of what is wrong in the other file', () => {
    const [issue] = issuesOf(imported({ topology, jobs: [] }), () =>
      TOPOLOGY.replace('1 2 100Gbps', '1 9 100Gbps'),
    );
    expect(issue).toMatchObject({ pointer: '/spec/topology/file', file: 'topo.txt', line: 4 });
  });

  it.each([
    [{ builder: 'import', format: 'simai' }, '/spec/topology/file'],
    [{ builder: 'import', format: 'ns4', file: 'x' }, '/spec/topology/format'],
  ])('is refused as %j', (wrong, pointer) => {
    expect(issuesOf(imported({ topology: wrong }), () => '').map((issue) => issue.pointer)).toEqual([
      pointer,
    ]);
  });
});

describe('a stored definition', () => {
  it('of another kind is refused', () => {
    expect(() => loadExperiment(fabricDocument('fabric'), refuseFiles)).toThrow(
      /expected .* Experiment, found Fabric/,
    );
    expect(() => loadFabric(experimentDocument('e', 'f'), refuseFiles)).toThrow(InputError);
  });

  it('of any shape is loaded or refused in words, never otherwise', () => {
    const shape = fc.oneof(
      fc.jsonValue(),
      fc.jsonValue().map((spec) => ({ ...experimentDocument('e', 'f'), spec })),
      fc.jsonValue().map((spec) => ({ ...fabricDocument('f'), spec })),
      fc.jsonValue().map((topology) => fabricDocument('f', { topology })),
      fc.jsonValue().map((fault) => experimentDocument('e', 'f', { faults: [fault] })),
    );
    fc.assert(
      fc.property(shape, (value) => {
        for (const load of [loadExperiment, loadFabric]) {
          try {
            load(value, refuseFiles);
          } catch (error) {
            expect(error).toBeInstanceOf(InputError);
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});
