import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createRunsDatabase, type RunsDatabase } from '../../../test/support/stored-run.js';
import { appendEvent, followEvents, type RunEvent } from './run-events.js';
import { RunStore, type Claim } from './run-store.js';
import { scorecardFrom } from './run-view.js';

jest.setTimeout(60_000);

let database: RunsDatabase;
let store: RunStore;

beforeAll(async () => {
  database = await createRunsDatabase();
  store = new RunStore(database.dataSource);
});
afterAll(() => database.drop());

const begin = async (): Promise<Claim> =>
  (await store.claim(await database.storeRun(), 'one', 60_000))!.claim;
const end = (claim: Claim): Promise<void> =>
  store.finish(claim, { state: 'error', reason: 'so', exitCode: 3 }, (run) => scorecardFrom(run, 'v'));

async function collect(
  runId: string,
  after = 0,
  signal = new AbortController().signal,
  seen: (event: RunEvent) => void = () => undefined,
): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of followEvents(database.dataSource, runId, after, signal)) {
    events.push(event);
    seen(event);
  }
  return events;
}

const numbers = (events: readonly RunEvent[]): number[] => events.map(({ seq }) => seq);
const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);

describe("a run's events", () => {
  it('are numbered without a gap, however many write at once', async () => {
    const claim = await begin();
    await Promise.all(Array.from({ length: 20 }, (_, n) => store.event(claim, 'progress', { n })));
    await end(claim);
    const events = await collect(claim.runId);
    expect(numbers(events)).toEqual(upTo(events.length));
    expect(events.filter(({ type }) => type === 'progress')).toHaveLength(20);
  });

  it('are the same for one who was there from the start and for one who comes late', async () => {
    const claim = await begin();
    const early = collect(claim.runId);
    for (const n of [1, 2, 3]) await store.event(claim, 'progress', { n });
    await end(claim);
    const all = await early;
    expect(all.at(-1)).toMatchObject({ type: 'end', data: { state: 'error', reason: 'so', exitCode: 3 } });
    expect(await collect(claim.runId)).toEqual(all);
  });

  it('go on after the last one seen, and are over for one who has seen the end', async () => {
    const claim = await begin();
    await end(claim);
    const all = await collect(claim.runId);
    for (const seen of upTo(all.length)) {
      expect(await collect(claim.runId, seen)).toEqual(all.slice(seen));
    }
    expect(await collect(claim.runId, 10_000)).toEqual([]);
  });

  it('stop when the reader leaves', async () => {
    const claim = await begin();
    const leave = new AbortController();
    const events = await collect(claim.runId, 0, leave.signal, () => leave.abort());
    expect(numbers(events)).toEqual([1]);
  });

  it('come in the order of their numbers when there are more than one look can fetch', async () => {
    const claim = await begin();
    await database.dataSource.transaction(async (manager) => {
      for (let n = 0; n < 1100; n++) await appendEvent(manager, claim.runId, 'progress', { n });
    });
    await end(claim);
    const events = await collect(claim.runId);
    expect(numbers(events)).toEqual(upTo(1103));
  });
});
