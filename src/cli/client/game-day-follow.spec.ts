/** Following a game day: what people are told to do, and that who leaves waits no longer. */
import { describe, expect, it } from '@jest/globals';
import type { ApiClient } from './api-client.js';
import type { CommandContext } from '../context.js';
import { followDay, type DayView } from './game-day-follow.js';

const item = (run: string | null, committed: boolean) => ({
  ...{ run, name: null, seal: 'a', sealed: !committed, committedAt: committed ? 'now' : null },
});

const day = (more: Partial<DayView>): DayView => ({
  ...{ id: 'd-1', name: 'night', blind: true, state: 'running', reason: null, final: false, createdAt: '' },
  stages: [],
  ...more,
});

/** @param answers what the server says of the day, one look after another; the last one for ever */
function following(answers: DayView[]) {
  const notes: string[] = [];
  let looks = 0;
  const client = {
    json: (_method: string, path: string) => {
      if (path.startsWith('/v1/runs?')) return Promise.resolve({ data: [] });
      looks += 1;
      return Promise.resolve(answers[Math.min(looks, answers.length) - 1]);
    },
  } as unknown as ApiClient;
  const context = {
    note: (line: string) => void notes.push(line),
    command: (args: string) => `fabricdrill ${args}`,
  } as unknown as CommandContext;
  const left = new AbortController();
  return { client, context, left, notes, looks: () => looks };
}

describe('following a game day', () => {
  it('ends when people have to commit, and names the runs that wait for it', async () => {
    const stages = [
      {
        name: 'one',
        state: 'done',
        reason: null,
        pause: null,
        experiments: [item('r-1', true), item('r-2', false)],
      },
      { name: 'two', state: 'skipped', reason: null, pause: 'Ready?', experiments: [item(null, false)] },
    ];
    const { client, context, left, notes } = following([day({}), day({ state: 'waiting', stages })]);
    expect(await followDay(client, 'd-1', false, context, left.signal)).toBe(0);
    expect(notes.filter((line) => line.startsWith('to diagnose'))).toEqual([
      'to diagnose: fabricdrill game-days commit d-1 --run r-2 --verdict FILE',
    ]);
  });

  it('is over at once for who leaves', async () => {
    const { client, context, left, looks } = following([day({})]);
    const followed = followDay(client, 'd-1', true, context, left.signal);
    left.abort();
    expect(await followed).toBe(3);
    expect(looks()).toBeLessThanOrEqual(1);
  });
});
