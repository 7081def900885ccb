import { describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import type { RunsService } from '../runs/runs.service.js';
import { GameDayConductor } from './game-day-conductor.js';

/** A conductor over open days, each of which starts a run of its name or fails. */
function conductorOf(days: Record<string, 'starts' | 'fails'>, enqueue: (runId: string) => Promise<void>) {
  const ids = Object.keys(days);
  let next = 0;
  const dataSource = {
    getRepository: () => ({ find: () => Promise.resolve(ids.map((id) => ({ id }))) }),
    transaction: () => {
      const id = ids[next++];
      return days[id] === 'fails' ? Promise.reject(new Error('a bug of ours')) : Promise.resolve([id]);
    },
  };
  return new GameDayConductor(dataSource as unknown as DataSource, { enqueue } as unknown as RunsService);
}

describe('who conducts game days', () => {
  it('passes on one that fails', async () => {
    const queued: string[] = [];
    const conductor = conductorOf({ broken: 'fails', sound: 'starts' }, (runId) =>
      Promise.resolve(void queued.push(runId)),
    );
    await conductor.look();
    expect(queued).toEqual(['sound']);
  });

  it('waits for a queue that does not answer only at the end', async () => {
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    const queued: string[] = [];
    const conductor = conductorOf({ first: 'starts', second: 'starts' }, (runId) => {
      queued.push(runId);
      return answered;
    });
    await conductor.look();
    expect(queued).toEqual(['first', 'second']);
    let isClosed = false;
    const closed = conductor.beforeApplicationShutdown().then(() => (isClosed = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isClosed).toBe(false);
    answer();
    await closed;
  });
});
