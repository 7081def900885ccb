/**
 * The diagnosis is blind in the store: who was hurt, by what and after which plan is in the rows beside the evidence, and
 * may be anything. What differs between drills is handed round among them; each verdict stays as it was, to the byte.
 */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { experimentDocument, fabricDocument, type Json } from '../support/definitions.js';
import { queueBackends } from '../support/queue-backends.js';
import { startService, type TestService } from '../support/service.js';

jest.setTimeout(120_000);

const used = { usedBy: 'exposed', mode: 'one' };
const FAULTS: Record<string, Json> = {
  cut: {
    kind: 'link-down',
    params: { variant: 'cut' },
    target: { type: 'link', tier: 'leaf-spine', ...used },
  },
  lanes: {
    kind: 'speed-downgrade',
    params: { variant: 'renegotiated', rate: '50Gbps' },
    target: { type: 'nic', ...used },
  },
  slow: {
    kind: 'straggler',
    params: { variant: 'host', slowdown: 3 },
    target: { type: 'device', tier: 'host', ...used },
  },
  calm: { kind: 'none' },
};
const NAMES = Object.keys(FAULTS);
/** Each run gets these columns of another. */
const HANDED_ROUND = [
  ['runs', 'id', ['experiment_id', 'experiment_name', 'definition', 'plan', 'seed']],
  ['run_truth', 'run_id', ['truth', 'record']],
  ['run_results', 'run_id', ['verdict', 'scorecard']],
] as const;

describe('a stored run', () => {
  let service: TestService;
  const ids: string[] = [];
  const verdicts: string[] = [];

  const diagnose = async (run: string): Promise<string> => {
    const { status, text } = await service.client.post('/v1/diagnose', { run });
    expect({ status, text }).toMatchObject({ status: 200 });
    return text;
  };
  const shown = async (path: string): Promise<Json> =>
    (await service.client.get(`/v1/runs/${path}`)).body as Json;

  beforeAll(async () => {
    const [backend] = queueBackends('blindness of the diagnosis');
    service = await startService(backend, { api: true, worker: true });
    for (const [name, fault] of Object.entries(FAULTS)) {
      const faults = [{ at: '3s', duration: '3s', ...fault }];
      const experiment = experimentDocument(name, 'small', { faults, objectives: [] });
      ids.push(await service.client.run(fabricDocument('small'), experiment));
    }
    for (const id of ids) {
      await service.client.ended(id);
      verdicts.push(await diagnose(id));
    }
  });
  afterAll(() => service.stop());

  it('is diagnosed as the run diagnosed itself, each drill in its own way', async () => {
    const sealed = await Promise.all(ids.map((id) => shown(`${id}/verdict`)));
    expect(verdicts.map((text) => JSON.parse(text) as Json)).toEqual(sealed);
    const kinds = sealed.map(({ culprits }) => (culprits as { kind: string }[]).map(({ kind }) => kind));
    expect(kinds).toEqual([['link-down'], ['speed-downgrade'], ['straggler'], []]);
  });

  it('is diagnosed the same when it carries the fault, the plan, the truth and the verdict of another', async () => {
    const others = ids.map((_, index) => ids[(index + 1) % ids.length]);
    for (const [table, key, columns] of HANDED_ROUND) {
      const set = columns.map((column) => `${column} = other.${column}`).join(', ');
      const rows = await service.rows(
        `UPDATE ${table} own SET ${set} FROM ${table} other, unnest($1::uuid[], $2::uuid[]) AS pair (own, other)
         WHERE own.${key} = pair.own AND other.${key} = pair.other RETURNING own.${key}`,
        [ids, others],
      );
      expect(rows).toHaveLength(ids.length);
    }
    await service.rows(
      `UPDATE undo_entries SET run_id = pair.own FROM unnest($1::uuid[], $2::uuid[]) AS pair (own, other)
       WHERE run_id = pair.other`,
      [ids, others],
    );
    for (const [index, id] of ids.entries()) {
      expect((await shown(id)).plan).toMatchObject({ experiment: NAMES[(index + 1) % ids.length] });
      expect(await diagnose(id)).toBe(verdicts[index]);
    }
  });
});
