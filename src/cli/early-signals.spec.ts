import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { guardStart, liftStartGuard } from './early-signals.js';
import { Interrupts } from './interrupts.js';

const argv = [...process.argv];

afterEach(() => {
  liftStartGuard();
  process.argv = [...argv];
  jest.restoreAllMocks();
});

/** Exit code of a Ctrl-C right after the start of a command. */
function interruptedAs(command: string): unknown {
  const exit = jest.spyOn(process, 'exit').mockImplementation((() => undefined) as never);
  process.argv = ['node', 'fabricdrill', command];
  guardStart();
  process.emit('SIGINT', 'SIGINT');
  return exit.mock.calls[0]?.[0];
}

describe('Ctrl-C while the program is being loaded', () => {
  it('ends a drill that never began as aborted', () => {
    expect(interruptedAs('run')).toBe(4);
  });

  it('ends any other command as one that could not run', () => {
    expect(interruptedAs('diagnose')).toBe(3);
  });

  it('is left to the command as soon as that listens itself', () => {
    const before = process.listenerCount('SIGINT');
    guardStart();
    expect(process.listenerCount('SIGINT')).toBe(before + 1);
    const interrupts = new Interrupts({ first: () => undefined, second: () => undefined });
    expect(process.listenerCount('SIGINT')).toBe(before + 1);
    interrupts.close();
    expect(process.listenerCount('SIGINT')).toBe(before);
  });
});
