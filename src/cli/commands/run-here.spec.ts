/**
 * The short way is short: for one `run` (and `parity`) each file is parsed once, a fabric is opened once, beside its fault-free twin, and
 * a fault is compiled once. Counted where it happens, with the program in this thread so that it can be.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { experimentDocument, fabricDocument, yamlOf } from '../../../test/support/definitions.js';
import type * as Documents from '../../documents/document.js';
import type * as Drivers from '../../drivers/catalog.js';
import type * as Faults from '../../faults/catalog.js';
import type * as App from '../../app/app.module.js';
import type { QuestionName } from '../../drill/compute/questions.js';
import type { DrillTask, Tell } from '../../drill/compute/task.js';

const counted = { parsed: [] as string[], opened: [] as string[], compiled: [] as string[], servers: 0 };

/** A module with some of its functions replaced; those that others import by name, too. */
async function replace<Module extends object>(
  path: string,
  changes: (real: Module) => object,
): Promise<void> {
  const real = (await import(path)) as Module;
  const replaced = { ...real, ...changes(real) };
  jest.unstable_mockModule(path, () => replaced);
}

const inThisThread = {
  compute: async (task: DrillTask, tell: Tell): Promise<void> => {
    const { compute } = await import('../../drill/compute/compute.js');
    await compute(task, tell);
  },
  ask: async (name: QuestionName, asked: never): Promise<unknown> => {
    const { QUESTIONS } = await import('../../drill/compute/questions.js');
    return QUESTIONS[name](asked);
  },
  close: () => Promise.resolve(),
};

let folder: string;
let main: (argv: readonly string[]) => Promise<number>;
const environment = { ...process.env };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fabricdrill-short-'));
  writeFileSync(join(folder, 'fabric.yaml'), yamlOf(fabricDocument('small')));
  writeFileSync(join(folder, 'model.yaml'), yamlOf(fabricDocument('model')));
  writeFileSync(join(folder, 'drill.yaml'), yamlOf(experimentDocument('drill', 'fabric.yaml')));
  Object.assign(process.env, { INIT_CWD: folder, DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none' });
  delete process.env.FABRICDRILL_URL;
  await replace<typeof Documents>('../../documents/document.js', (real) => ({
    parseDocuments: (text: string, file?: string) => {
      counted.parsed.push(file ?? 'a value');
      return real.parseDocuments(text, file);
    },
  }));
  await replace<typeof Drivers>('../../drivers/catalog.js', (real) => ({
    openFabric: (document: Parameters<typeof real.openFabric>[0], seed: number) => {
      counted.opened.push(document.metadata.name);
      return real.openFabric(document, seed);
    },
  }));
  await replace<typeof Faults>('../../faults/catalog.js', (real) => ({
    faultKind: (name: string, pointer?: string) => {
      const kind = real.faultKind(name, pointer);
      const compile: typeof kind.compile = (...given) => {
        counted.compiled.push(name);
        return kind.compile(...given);
      };
      return { ...kind, compile };
    },
  }));
  await replace<typeof App>('../../app/app.module.js', () => ({
    startApp: () => Promise.reject(new Error(`server ${++counted.servers}`)),
  }));
  jest.unstable_mockModule('../../drill/compute/host.js', () => ({
    Computing: { thread: () => inThisThread },
    ComputingLostError: class extends Error {},
  }));
  ({ main } = await import('../program.js'));
});

beforeEach(() => {
  Object.assign(counted, { parsed: [], opened: [], compiled: [], servers: 0 });
  jest.spyOn(process.stdout, 'write').mockImplementation(() => true);
  jest.spyOn(process.stderr, 'write').mockImplementation(() => true);
});

afterEach(() => {
  jest.restoreAllMocks();
});

afterAll(() => {
  process.env = environment;
  rmSync(folder, { recursive: true });
});

const run = (...args: string[]): Promise<number> => main(['node', 'fabricdrill', ...args]);

describe('from file to verdict', () => {
  it('parses each file once, opens one fabric and its twin, compiles the fault once, and starts no server', async () => {
    expect(await run('run', 'drill.yaml')).toBe(0);
    expect(counted).toEqual({
      parsed: ['drill.yaml', 'fabric.yaml'],
      opened: ['small', 'small'],
      compiled: ['link-down'],
      servers: 0,
    });
  });

  it('opens one fabric for a plan', async () => {
    expect(await run('plan', 'drill.yaml')).toBe(0);
    expect(counted).toEqual({
      parsed: ['drill.yaml', 'fabric.yaml'],
      opened: ['small'],
      compiled: ['link-down'],
      servers: 0,
    });
  });

  it('compares two simulated fabrics, parsed once, without a server', async () => {
    expect(await run('parity', 'drill.yaml', '--twin', 'model.yaml')).toBe(0);
    expect(counted).toMatchObject({ parsed: ['drill.yaml', 'fabric.yaml', 'model.yaml'], servers: 0 });
    // planned, and run beside the fault-free twin of the scores
    expect([...counted.opened].sort()).toEqual(['model', 'model', 'model', 'small', 'small', 'small']);
  });

  it('parses files once for several seeds, and opens and compiles once for each', async () => {
    expect(await run('run', 'drill.yaml', '--repeat', '2')).toBe(0);
    expect(counted.parsed).toEqual(['drill.yaml', 'fabric.yaml']);
    expect(counted.compiled).toEqual(['link-down', 'link-down']);
    expect(counted.opened).toHaveLength(4);
  });
});
