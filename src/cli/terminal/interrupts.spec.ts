/** Signals in two steps, with a source and a clock of the test's own. */
import { describe, expect, it } from '@jest/globals';
import { EventEmitter } from 'node:events';
import { Interrupts } from './interrupts.js';
import { commandFor, sameKeyMs } from './invocation.js';

function setUp(sameKey: number) {
  const source = new EventEmitter();
  const seen: string[] = [];
  let nowMs = 0;
  const reaction = (name: string) => ({
    first: () => void seen.push(`${name} first`),
    second: () => void seen.push(`${name} second`),
  });
  const interrupts = new Interrupts(reaction('a'), sameKey, source as never, () => nowMs);
  const press = (signal: string, atMs: number): void => {
    nowMs = atMs;
    source.emit(signal);
  };
  return { interrupts, seen, press, reaction, source };
}

describe('interrupts', () => {
  it('asks for an orderly end first and leaves at the second signal, whichever signals these are', () => {
    const { seen, press, interrupts } = setUp(0);
    expect(interrupts.interrupted).toBe(false);
    press('SIGTERM', 1);
    expect(interrupts.interrupted).toBe(true);
    press('SIGINT', 1);
    expect(seen).toEqual(['a first', 'a second']);
  });

  it('takes a signal that another process sends on for the key press it was', () => {
    const { seen, press } = setUp(400);
    press('SIGINT', 1000);
    press('SIGINT', 1002);
    press('SIGINT', 1399);
    expect(seen).toEqual(['a first']);
    press('SIGINT', 1500);
    expect(seen).toEqual(['a first', 'a second']);
  });

  it('changes what signals mean without forgetting that one came', () => {
    const { interrupts, seen, press, reaction } = setUp(0);
    press('SIGINT', 1);
    interrupts.become(reaction('b'));
    press('SIGINT', 2);
    expect(seen).toEqual(['a first', 'b second']);
  });

  it('leaves no listener behind', () => {
    const { interrupts, source } = setUp(0);
    interrupts.close();
    expect(source.listenerCount('SIGINT') + source.listenerCount('SIGTERM')).toBe(0);
  });
});

describe('how the program was called', () => {
  it('shows in commands to paste, and in whether one Ctrl-C arrives twice', () => {
    expect(commandFor({ npmScript: 'drill' }, 'runs list')).toBe('npm run -s drill -- runs list');
    expect(commandFor({ npmScript: 'test' }, 'runs list')).toBe('fabricdrill runs list');
    expect(commandFor({}, 'runs list')).toBe('fabricdrill runs list');
    expect(sameKeyMs({})).toBe(0);
    expect(sameKeyMs({ npmScript: 'start' })).toBeGreaterThan(0);
  });
});
