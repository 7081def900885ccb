import { afterEach, expect, it } from '@jest/globals';
import { EXIT } from '../../scoring/exit-codes.js';
import { refuseFiles } from '../../documents/fabric-document.js';
import { loadExperiment, loadFabric } from '../../documents/load.js';
import { experimentDocument, fabricDocument } from '../../../test/support/definitions.js';
import { endingOfError } from '../ending.js';
import { Computing } from './host.js';

const experiment = loadExperiment(experimentDocument('cut', 'small'), refuseFiles).value;
const fabric = loadFabric(fabricDocument('small'), refuseFiles).value;

const started: Computing[] = [];
afterEach(async () => {
  for (const computing of started.splice(0)) await computing.close();
});
const start = (computing: Computing): Computing => {
  started.push(computing);
  return computing;
};

it.each([
  ['thread', () => Computing.thread(0.01)],
  ['process', () => Computing.process(undefined, 0.01)],
] as const)('a drill whose %s says nothing for too long ends as our bug', async (_, silent) => {
  const computing = start(silent());
  const task = { experiment, fabric, seed: 1 };
  const error: unknown = await computing.compute(task, () => undefined).catch((thrown: unknown) => thrown);
  expect(endingOfError(error)).toEqual({
    state: 'error',
    reason: 'internal error: what computed it said nothing for too long (drill, seconds = 0.01)',
    exitCode: EXIT.bug,
  });
  expect(computing.isLost).toBe(true);
  await expect(computing.ask('plan', { experiment, fabric })).rejects.toThrow(/said nothing/);
});

it('options of V8 that Node was started with break no thread', async () => {
  process.execArgv.push('--stack-size=900', '--max-semi-space-size=32');
  try {
    const { fabric: name } = await start(Computing.thread()).ask('plan', { experiment, fabric });
    expect(name).toBe('small');
  } finally {
    process.execArgv.splice(-2);
  }
});

it('a thread that has answered or refused takes the next question', async () => {
  const computing = start(Computing.thread());
  const without = { ...experiment, spec: { ...experiment.spec, jobs: undefined } };
  const bare = { ...fabric, spec: { ...fabric.spec, jobs: [] } };
  await expect(computing.ask('plan', { experiment: without, fabric: bare })).rejects.toMatchObject({
    issues: [{ pointer: '/spec/jobs' }],
  });
  expect((await computing.ask('plan', { experiment, fabric, seed: 5 })).seed).toBe(5);
});
