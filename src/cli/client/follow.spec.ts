/** Waiting for a run, with a client that the test speaks for. */
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { EventEmitter } from 'node:events';
import type { ApiClient, RunEventMessage, RunView } from './api-client.js';
import { follow } from './follow.js';
import { Interrupts } from '../terminal/interrupts.js';

const RUN = { id: 'r1', experiment: 'drill', fabric: 'small', seed: 7 } as RunView;

function setUp(events: (emit: EventEmitter) => AsyncGenerator<RunEventMessage>) {
  const signals = new EventEmitter();
  const notes: string[] = [];
  const asked: unknown[] = [];
  const client = {
    events: () => events(signals),
    json: (...request: unknown[]) => {
      asked.push(request);
      return Promise.resolve({});
    },
  } as unknown as ApiClient;
  const context = {
    config: { colour: false },
    note: (text: string) => void notes.push(text),
    command: (args: string) => `fabricdrill ${args}`,
  } as never;
  const interrupts = new Interrupts({ first: () => undefined, second: () => undefined }, 0, signals as never);
  return { signals, notes, asked, interrupts, done: () => follow(client, RUN, interrupts, context) };
}

const end = (exitCode: number): RunEventMessage => ({ id: 9, type: 'end', data: { exitCode } });

afterEach(() => {
  jest.restoreAllMocks();
});

describe('following a run', () => {
  it('ends with the code of the run', async () => {
    const { done, notes } = setUp(async function* () {
      yield end(1);
    });
    expect(await done()).toBe(1);
    expect(notes).toEqual(['run r1: drill on small, seed 7']);
  });

  it('asks for the abort at the first signal and goes on waiting', async () => {
    const { done, asked, notes } = setUp(async function* (signals) {
      signals.emit('SIGINT');
      yield end(4);
    });
    expect(await done()).toBe(4);
    expect(asked).toEqual([['POST', '/v1/runs/r1/abort', { reason: 'interrupted at the command line' }]]);
    expect(notes.at(-1)).toBe('reverting; press Ctrl-C again to leave at once');
  });

  it('leaves with 5 at the second, and says what may be left and where to look', async () => {
    const exit = jest.spyOn(process, 'exit').mockImplementation(() => undefined as never);
    const { done, notes } = setUp(async function* (signals) {
      signals.emit('SIGINT');
      signals.emit('SIGINT');
      yield end(4);
    });
    await done();
    expect(exit.mock.calls).toEqual([[5]]);
    expect(notes.slice(-3)).toEqual([
      'left while run r1 was being reverted; a fault may still be in place',
      'the next fabricdrill on this database reverts what is left',
      'look at it with: fabricdrill runs show r1',
    ]);
  });

  it('aborts a run that was asked for while the signal came', async () => {
    const { done, asked, signals } = setUp(async function* () {
      yield end(4);
    });
    signals.emit('SIGTERM');
    expect(await done()).toBe(4);
    expect(asked).toHaveLength(1);
  });

  it('reverts nothing once the run has ended', async () => {
    const exit = jest.spyOn(process, 'exit').mockImplementation(() => undefined as never);
    const { done, asked, signals } = setUp(async function* () {
      yield end(0);
    });
    expect(await done()).toBe(0);
    signals.emit('SIGINT');
    signals.emit('SIGINT');
    expect(asked).toEqual([]);
    expect(exit.mock.calls).toEqual([[0]]);
  });
});
