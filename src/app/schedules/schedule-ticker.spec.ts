import { describe, expect, test } from '@jest/globals';
import type { SchedulerRegistry } from '@nestjs/schedule';
import type { RunsService } from '../runs/runs.service.js';
import type { ScheduleStore, Settled } from './schedule-store.js';
import { ScheduleTicker } from './schedule-ticker.js';

interface Due {
  /** Looks that it takes. */
  parts?: number;
  isBroken?: boolean;
}

/** A ticker over schedules that are due, and the order in which it looked at them. */
function tickerOf(due: Record<string, Due>, enqueue: () => Promise<void> = () => Promise.resolve()) {
  const looks: string[] = [];
  const left = new Map(Object.entries(due).map(([id, { parts = 1 }]) => [id, parts]));
  const store = {
    toWake: (except: readonly string[]) =>
      Promise.resolve([...left.keys()].filter((id) => !except.includes(id))),
    settle: (id: string): Promise<Settled> => {
      looks.push(id);
      if (due[id].isBroken === true) return Promise.reject(new Error('a bug of ours'));
      const parts = left.get(id)! - 1;
      if (parts > 0) left.set(id, parts);
      else left.delete(id);
      return Promise.resolve({ runIds: [`run of ${id}`], more: parts > 0 });
    },
  };
  const registry = { doesExist: () => false } as unknown as SchedulerRegistry;
  const ticker = new ScheduleTicker(store as ScheduleStore, { enqueue } as unknown as RunsService, registry);
  return { ticker, looks };
}

describe('a look at all schedules', () => {
  test('takes a part of each in turn, so that months of one that were missed do not keep the others waiting', async () => {
    const { ticker, looks } = tickerOf({ long: { parts: 3 }, short: {} });
    await ticker.look();
    expect(looks).toEqual(['long', 'short', 'long', 'long']);
  });

  test('passes on one that fails, and leaves it for a while', async () => {
    const { ticker, looks } = tickerOf({ broken: { isBroken: true }, sound: {} });
    for (let look = 0; look < 5; look++) await ticker.look();
    expect(looks).toEqual(['broken', 'sound']);
  });

  test('does not wait for a queue that does not answer, but for what is under way when it is closed', async () => {
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    const { ticker, looks } = tickerOf({ first: {}, second: {} }, () => answered);
    await ticker.look();
    expect(looks).toEqual(['first', 'second']);
    let isClosed = false;
    const closed = ticker.beforeApplicationShutdown().then(() => (isClosed = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isClosed).toBe(false);
    answer();
    await closed;
  });
});
