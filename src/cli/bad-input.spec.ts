/**
 * What a user gets for each kind of mistake: exit code 2, one line that names the place and the way out, and no
 * server asked. The database named here does not exist, so that whatever reaches for it says so.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { experimentDocument, fabricDocument, yamlOf, type Json } from '../../test/support/definitions.js';
import { main } from './program.js';

const EXPERIMENT = yamlOf(experimentDocument('drill', 'small.yaml'));
const FABRIC = yamlOf(fabricDocument('small'));
const UNREACHABLE = 'postgres://nobody:nothing@127.0.0.1:9/none';

let folder: string;
const environment = { ...process.env };

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fabricdrill-cli-'));
  mkdirSync(join(folder, 'sub'));
  writeFileSync(join(folder, 'small.yaml'), FABRIC);
  writeFileSync(join(folder, 'drill.yaml'), EXPERIMENT);
  process.env.INIT_CWD = folder;
  process.env.DATABASE_URL = UNREACHABLE;
  delete process.env.FABRICDRILL_URL;
});

afterEach(() => {
  jest.restoreAllMocks();
});

afterAll(() => {
  process.env = environment;
  rmSync(folder, { recursive: true });
});

async function cli(...args: string[]): Promise<{ exitCode: number; out: string; errors: string[] }> {
  let out = '';
  let err = '';
  jest.spyOn(process.stdout, 'write').mockImplementation((text) => ((out += String(text)), true));
  jest.spyOn(process.stderr, 'write').mockImplementation((text) => ((err += String(text)), true));
  const exitCode = await main(['node', 'fabricdrill', ...args]);
  jest.restoreAllMocks();
  const errors = err.split('\n').filter((line) => !/^$|VM Modules|--trace-warnings/.test(line));
  return { exitCode, out, errors };
}

/** Writes a file and runs it; the errors it gives. */
async function errorsOf(name: string, content: string | Uint8Array, command = 'run'): Promise<string[]> {
  writeFileSync(join(folder, name), content);
  const { exitCode, out, errors } = await cli(command, name);
  expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' });
  return errors;
}

const changed = (from: string | RegExp, to: string, text = EXPERIMENT): string => {
  expect(text).toMatch(from);
  return text.replace(from, to);
};

describe('an experiment with one mistake', () => {
  it.each<[string, string, RegExp[]]>([
    [
      'an unknown key',
      changed('  seed:', '  sede:'),
      [/:7:3 \/spec\/sede: .*known here: .*seed/, /did you mean "seed"/],
    ],
    [
      'a wrong unit',
      changed('at: 3s', 'at: 3parsec'),
      [/\/spec\/faults\/0\/at: "3parsec" is no duration/, /as in 30s/],
    ],
    [
      'a bare number',
      changed('at: 3s', 'at: 3'),
      [/\/spec\/faults\/0\/at: 3 is no duration; write a number with a unit/],
    ],
    [
      'an unknown kind',
      changed('kind: link-down', 'kind: link-dwon'),
      [/faults\/0\/kind: "link-dwon"/, /did you mean "link-down"/],
    ],
    [
      'an unknown variant',
      changed('variant: cut', 'variant: cutt'),
      [/params\/variant: "cutt".*admin, cut, flap/, /did you mean "cut"/],
    ],
    [
      'a job that is not there',
      changed('usedBy: exposed', 'usedBy: expsed'),
      [/target\/usedBy: no job matches "expsed"/, /did you mean "exposed"/],
    ],
    [
      'a tier that is not there',
      changed('tier: leaf-spine', 'tier: leaf-spin'),
      [/target\/tier: .*leaves no link/, /there is tier host-leaf, leaf-spine/],
    ],
    [
      'an empty selector',
      changed(/target:\n( {8}.*\n)+/, 'target: {}\n'),
      [/target\/type: missing; it must be one of link, device/],
    ],
    [
      'an unknown metric',
      changed('recovery.recovered', 'recovery.recoverd'),
      [/objectives\/0: .*unknown metric "recovery.recoverd"/, /did you mean "recovery.recovered"/],
    ],
    ['no comparator', changed('== 1', '=> 1'), [/objectives\/0: .*"=>" is no comparator; use one of/]],
    [
      'an end before the fault',
      changed('  seed:', '  duration: 4s\n  seed:'),
      [/\/spec\/duration: the run ends at 4 s/],
    ],
    [
      'another version',
      changed('fabricdrill/v1', 'fabricdrill/v2'),
      [/:1:13 \/apiVersion: .*must be fabricdrill\/v1/],
    ],
    [
      'an unknown document kind',
      changed('kind: Experiment', 'kind: Experment'),
      [/:2:7 \/kind: .*the kinds are/, /did you mean "Experiment"/],
    ],
    [
      'a missing fabric file',
      changed('small.yaml', 'smal.yaml'),
      [/:6:11 \/spec\/fabric: there is no file "smal.yaml"/],
    ],
    [
      'a name that could be no file or URL',
      changed('name: drill', 'name: My Drill'),
      [/:4:9 \/metadata\/name: a name has/],
    ],
    [
      'a key written twice',
      changed('  seed: 11', '  seed: 11\n  seed: 12'),
      [/:8:3: the key seed is written twice/],
    ],
    ['broken YAML', changed('seed: 11', 'seed: [11'), [/this is no valid YAML/]],
    [
      'a number where text belongs',
      changed('fabric: small.yaml', 'fabric: 7'),
      [/\/spec\/fabric: expected a string, found 7/],
    ],
  ])('is told of %s with its place and the way out', async (_, text, expected) => {
    const errors = await errorsOf('bad.yaml', text);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatch(/^error: bad\.yaml:\d+:\d+/);
    for (const pattern of expected) expect(errors[0]).toMatch(pattern);
  });

  it('is told of several mistakes at once', async () => {
    const text = changed('at: 3s', 'at: soon', changed('  seed: 11', '  seed: -1\n  colour: red'));
    expect(await errorsOf('bad.yaml', text)).toHaveLength(3);
  });
});

describe('a fabric with one mistake', () => {
  const withFabric = (spec: Json): string =>
    `${yamlOf(experimentDocument('drill', 'mine'))}---\n${yamlOf(fabricDocument('mine', spec))}`;
  const link = (a: string, b: string): Json => ({ a, b, rate: '100Gbps', delay: '1us' });

  it('is told of parts that no link joins', async () => {
    const nodes = [
      { name: 'leaf-1', role: 'switch' },
      { name: 'leaf-2', role: 'switch' },
      ...['host-1', 'host-2'].map((name) => ({ name, role: 'host' })),
    ];
    const topology = {
      builder: 'explicit',
      nodes,
      links: [link('host-1', 'leaf-1'), link('host-2', 'leaf-2')],
    };
    const errors = await errorsOf('bad.yaml', withFabric({ topology }));
    expect(errors.join('\n')).toMatch(
      /bad\.yaml:\d+:\d+ \/spec\/topology.*(not connected|unreachable|no path|apart)/,
    );
  });

  it('is told of a job with more ranks than there are GPUs', async () => {
    const jobs = [{ name: 'exposed', gpus: 4096, step: { compute: '1s' } }];
    const errors = await errorsOf('bad.yaml', withFabric({ jobs }));
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatch(/bad\.yaml:\d+:\d+ \/spec\/jobs\/0\S* ?.*4096.*12/);
  });

  it('is told of a workload file that names more ranks than there are GPUs', async () => {
    writeFileSync(
      join(folder, 'big.workload.txt'),
      'HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 512 checkpoints: 0 checkpoint_initiates: 0\n' +
        '1\nlayer -1 1000 NONE 0 1000 NONE 0 1000 ALLREDUCE 1000000 100\n',
    );
    const jobs = [{ name: 'exposed', gpus: 4, workloadFile: 'big.workload.txt' }];
    const errors = await errorsOf('bad.yaml', withFabric({ jobs }));
    expect(errors[0]).toMatch(/512/);
  });

  it('is told where a workload file is malformed', async () => {
    writeFileSync(
      join(folder, 'torn.workload.txt'),
      'HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 1\n3\nlayer -1 10',
    );
    const jobs = [{ name: 'exposed', gpus: 4, workloadFile: 'torn.workload.txt' }];
    const errors = await errorsOf('bad.yaml', withFabric({ jobs }));
    expect(errors[0]).toMatch(/^error: torn\.workload\.txt:\d/);
  });

  it('is told of a workload file that is not there', async () => {
    const jobs = [{ name: 'exposed', gpus: 4, workloadFile: 'none.txt' }];
    const errors = await errorsOf('bad.yaml', withFabric({ jobs }));
    expect(errors[0]).toMatch(/none\.txt.*there is no such file/);
  });
});

describe('a file that is none', () => {
  it.each<[string, string | Uint8Array, RegExp]>([
    ['empty', '', /the file is empty/],
    ['comments alone', '# nothing here\n', /the file is empty/],
    ['binary', Uint8Array.from([0x89, 0x50, 0xff, 0xfe, 0, 1, 2]), /no text in UTF-8/],
    ['text with zero bytes', 'kind: Experiment\n\0', /no text in UTF-8/],
    ['a list', '- a\n- b\n', /a document must be a mapping/],
    ['a sentence', 'just words', /a document must be a mapping/],
    ['only a fabric', FABRIC, /the file has none \(it has a Fabric: .*--fabric odd\.yaml\)/],
    ['two of one name', `${EXPERIMENT}---\n${EXPERIMENT}`, /two documents of kind Experiment named "drill"/],
    [
      'aliases that multiply',
      `a: &a [x,x,x,x,x,x,x,x]\n${'bcdefg'
        .split('')
        .map((key, index) => `${key}: &${key} [${`*${'abcdef'[index]},`.repeat(9)}]`)
        .join('\n')}\nkind: Experiment\n`,
      /aliases in this YAML can't be expanded/,
    ],
  ])('is refused when it is %s', async (_, content, expected) => {
    const errors = await errorsOf('odd.yaml', content);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatch(expected);
    expect(errors[0]).toMatch(/^error: odd\.yaml/);
  });

  it('is looked for in vain, with the nearest name', async () => {
    const { exitCode, errors } = await cli('run', 'dril.yaml');
    expect(exitCode).toBe(2);
    expect(errors).toEqual(['error: dril.yaml: there is no such file (did you mean "drill.yaml"?)']);
  });

  it('is a folder, whose files are named', async () => {
    const { exitCode, errors } = await cli('run', '.');
    expect(exitCode).toBe(2);
    expect(errors[0]).toMatch(/^error: \.: this is a folder; a file is needed \(it has .*drill\.yaml/);
  });

  it('asks which of several experiments is meant', async () => {
    writeFileSync(join(folder, 'two.yaml'), `${EXPERIMENT}---\n${changed('name: drill', 'name: other')}`);
    expect((await cli('run', 'two.yaml')).errors[0]).toMatch(
      /the file has drill, other \(choose one: two\.yaml#drill\)/,
    );
    expect((await cli('plan', 'two.yaml#other')).exitCode).toBe(0);
    expect((await cli('plan', 'two.yaml#othr')).errors[0]).toMatch(/did you mean "other"/);
  });
});

describe('an import that can not be read', () => {
  const importing = (file: string, ...more: string[]) =>
    cli('fabrics', 'import', file, '--format', 'ns3', '--name', 'x', ...more);

  it.each<[string, string | Uint8Array, RegExp]>([
    ['cut off', '4 1 3\n0\n1 0 100Gbps 1us 0\n', /the file ends after 1 link.*announces 3/],
    ['malformed', '4 1 x\n', /cut\.txt:1/],
    ['binary', Uint8Array.from([0xff, 0, 3]), /no text in UTF-8/],
    ['empty', '\n', /the file is empty/],
  ])('is refused when it is %s, before any server is asked', async (_, content, expected) => {
    writeFileSync(join(folder, 'cut.txt'), content);
    const { exitCode, errors } = await importing('cut.txt');
    expect({ exitCode, lines: errors.length }).toEqual({ exitCode: 2, lines: 1 });
    expect(errors[0]).toMatch(expected);
  });

  it('names the formats', async () => {
    writeFileSync(join(folder, 'cut.txt'), '');
    const { exitCode, errors } = await importing('cut.txt', '--format', 'nss3');
    expect(exitCode).toBe(2);
    expect(errors).toEqual([
      'error: --format: "nss3" is not valid; it must be one of ns3, simai (did you mean "ns3"?)',
    ]);
  });
});

describe('a wrong flag', () => {
  it.each<[string[], RegExp]>([
    [['run', 'drill.yaml', '--seed', '1.5'], /--seed: "1\.5" is not valid; it must be a whole number/],
    [['run', 'drill.yaml', '--seed', '-1'], /--seed: "-1"/],
    [['run', 'drill.yaml', '--seed', '9007199254740993'], /--seed/],
    [['run', 'drill.yaml', '--seed', '9007199254740991', '--repeat', '2'], /--repeat: 2 seeds from/],
    [['run', 'drill.yaml', '--confirm', 'lab'], /--confirm: "lab" is not .* simulated "small".*--fabric lab/],
    [['run', 'drill.yaml', '--output', 'jsn'], /did you mean "json"/],
    [['run', 'drill.yaml', '--output', 'json='], /has no path after "="/],
    [['run', 'drill.yaml', '--output', 'json', '--output', 'junit'], /only one format can go to stdout/],
    [['run', 'drill.yaml', '--output', 'json=a', '--output', 'junit=a'], /two formats would be written to/],
    [['run', 'drill.yaml', '--output', 'json=sub'], /sub can't be written: this is a folder/],
    [['run', 'drill.yaml', '--output', 'json=drill.yaml/x'], /drill\.yaml is no folder/],
    [['run', 'drill.yaml', '--fabric', 'other.yaml'], /--fabric: there is no file "other\.yaml"/],
    [['run', 'drill.yaml', '--fabric', 'small.yaml#none'], /no document of kind Fabric named "none"/],
    [['plan', 'drill.yaml', '--output', 'xml'], /--output: "xml" is not valid; it must be one of text, json/],
    [['runs', 'list', '--state', 'pased'], /did you mean "passed"/],
    [['runs', 'list', '--limit', '0'], /--limit: "0" is not valid/],
    [['faults', 'show', 'linkdown'], /the kinds are .*did you mean "link-down"/],
    [['bench', 'flow', '--seeds', '1..2'], /--seeds: the bench flow draws nothing at random/],
    [['bench', 'accuracy', '--seeds', '9..1'], /--seeds: "9\.\.1" is no range/],
    [['bench', 'flow', '--cases', 'nowhere'], /--cases: there is no folder nowhere/],
    [['bench', 'explain', '--cases', 'folder'], /--cases: the bench explain draws its cases from seeds/],
    [['bench', 'flwo'], /must be one of .*did you mean "flow"/],
    [['serve', '--port', '70000'], /--port: "70000" is not valid; it must be a whole number from 0 to 65535/],
    [['rum', 'drill.yaml'], /unknown command 'rum'/],
    [['run', 'drill.yaml', '--sed', '1'], /unknown option '--sed'/],
    [['run'], /missing required argument 'file'/],
    [[], /Usage: fabricdrill/],
  ])('in %j is bad input', async (args, expected) => {
    const { exitCode, out, errors } = await cli(...args);
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' });
    expect(errors.join('\n')).toMatch(expected);
  });
});

describe('what is right', () => {
  it('has its verdict where there is no database to keep it in, and is told why it is not kept', async () => {
    const { exitCode, out, errors } = await cli('run', 'drill.yaml');
    expect({ exitCode, out }).toEqual({ exitCode: 0, out: expect.stringMatching(/^PASSED/) });
    expect(errors.join('\n')).toMatch(/^the run is not stored: no connection to .*9\/none \(DATABASE_URL\)/m);
    expect(errors.join('\n')).not.toMatch(/nothing@|next:/);
  });

  it('is validated and planned without any database', async () => {
    expect(await cli('validate', 'drill.yaml', 'small.yaml')).toMatchObject({
      exitCode: 0,
      out: 'ok  drill.yaml: Experiment drill\nok  small.yaml: Fabric small\n',
    });
    const { exitCode, out } = await cli('plan', 'drill.yaml', '--output', 'json');
    expect(exitCode).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      experiment: 'drill',
      fabric: 'small',
      seed: 11,
      unsupported: [],
    });
    expect(out).not.toContain('"truth"');
    writeFileSync(join(folder, 'a b.yaml'), EXPERIMENT);
    expect((await cli('validate', 'a b.yaml')).errors).toEqual(["next: fabricdrill plan 'a b.yaml'"]);
  });

  it('is told for the good files while the bad ones are refused', async () => {
    writeFileSync(join(folder, 'bad.yaml'), 'x');
    const { exitCode, out, errors } = await cli('validate', 'bad.yaml', 'drill.yaml');
    expect({ exitCode, out, lines: errors.length }).toEqual({
      exitCode: 2,
      out: 'ok  drill.yaml: Experiment drill\n',
      lines: 1,
    });
  });

  it('has help with examples for every command', async () => {
    for (const command of ['run', 'validate', 'plan', 'serve', 'bench']) {
      const { exitCode, out } = await cli(command, '--help');
      expect(exitCode).toBe(0);
      expect(out).toMatch(new RegExp(`Examples?:\n  fabricdrill ${command}`));
    }
    expect((await cli('--help')).out).toMatch(/Exit codes: 0 passed/);
    expect((await cli('--version')).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe('parity', () => {
  const refused = async (...args: string[]): Promise<string> => {
    const { exitCode, out, errors } = await cli('parity', 'drill.yaml', ...args);
    expect({ exitCode, out, errors }).toMatchObject({ exitCode: 2, out: '' });
    return errors.join('\n');
  };
  const fabric = (name: string, driver: string): void =>
    writeFileSync(join(folder, `${name}.yaml`), yamlOf(fabricDocument(name, { driver })));

  it('compares no fabric with itself', async () => {
    expect(await refused()).toMatch(/"small" is simulated: it would be compared with itself .*--twin/);
  });

  it('measures nothing on a fabric that can only be watched, whoever predicts', async () => {
    fabric('watched', 'prometheus');
    const why = /"watched" can only be watched \(driver prometheus\): nothing can be injected into it/;
    expect(await refused('--fabric', 'watched.yaml', '--confirm', 'watched')).toMatch(why);
    expect(await refused('--fabric', 'watched.yaml', '--twin', 'small.yaml')).toMatch(why);
  });

  it('wants a real fabric named twice, and knows its formats and its predictor', async () => {
    fabric('lab', 'linux');
    expect(await refused('--fabric', 'lab.yaml')).toMatch(/"lab" is a real fabric .*--confirm lab/);
    expect(await refused('--output', 'sarif')).toMatch(/"sarif".*text, json, markdown, junit/);
    expect(await refused('--twin', 'gone.yaml')).toMatch(/--twin: there is no file "gone.yaml"/);
    expect(await refused('--repeat', '0')).toMatch(/--repeat: "0"/);
  });
});
