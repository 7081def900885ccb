import { describe, expect, test } from '@jest/globals';
import { createSimulatedFabric } from '../../src/drivers/simulated/create-simulated-fabric.js';
import { fabricSpecSchema } from '../../src/fabric-api/definition.js';
import { InputError } from '../../src/core/problem.js';
import { attemptsAtWork } from './at-work.js';
import { caseOf, type CorpusCase } from './corpus/case.js';
import { FAULT_ENTRIES } from './corpus/entries.js';

const MARKS = 'queue_ecn_marked_packets';

/** Four NICs of a host share the one uplink of its leaf; a spine's links down get no more than their rate. */
const scene = (interleaved: boolean) =>
  fabricSpecSchema.parse({
    topology: {
      builder: 'leaf-spine',
      leaves: 2,
      spines: 1,
      hostsPerLeaf: 2,
      gpusPerHost: 4,
      linksPerSpine: 1,
    },
    jobs: [
      {
        name: 'job-a',
        hosts: interleaved ? ['host-1', 'host-3'] : ['host-1', 'host-2'],
        parallelism: { tensor: 4 },
        step: {
          compute: '200ms',
          collectives: [{ collective: 'all-reduce', bytes: '1000MB', parallelism: 'data' }],
        },
      },
    ],
  });

const attempted = (interleaved: boolean) => {
  const entry = FAULT_ENTRIES.find(({ name }) => name === 'ecn-misconfig/off')!;
  const one: CorpusCase = { ...caseOf(1), entries: [entry], attempts: [[{ kind: entry.kind, target: {} }]] };
  const open = () => createSimulatedFabric({ name: 'corpus', spec: scene(interleaved) }, 1);
  return attemptsAtWork(one, open);
};

describe('switches that a setting is at work on', () => {
  test('are those whose counter rises while nothing is wrong, and all of them are tried', async () => {
    expect(FAULT_ENTRIES.find(({ name }) => name === 'ecn-misconfig/off')?.atWork).toBe(MARKS);
    const [attempts] = await attempted(true);
    const names = attempts.flatMap(({ target }) => target.names);
    expect(names).toEqual(expect.arrayContaining(['leaf-1', 'leaf-2']));
    expect(names).not.toContain('spine-1');
    expect(attempts.every(({ kind }) => kind === 'ecn-misconfig')).toBe(true);
  });

  test('are none where no traffic meets, and the scene is refused', async () => {
    await expect(attempted(false)).rejects.toThrow(InputError);
  });

  test('are not asked for by faults that need no contention', async () => {
    const one = caseOf(1);
    const never = () => {
      throw new Error('nothing is to be run');
    };
    expect(await attemptsAtWork(one, never)).toBe(one.attempts);
  });
});
