/**
 * One seed draws everything: the same file and seed give the same bytes, whichever worker and whenever; another seed
 * does not.
 */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { experimentDocument, fabricDocument, type Json } from '../support/definitions.js';
import { queueBackends } from '../support/queue-backends.js';
import { startService, type TestService } from '../support/service.js';

jest.setTimeout(60_000);

interface Outcome {
  evidence: Buffer;
  verdict: string;
  scorecard: string;
}

describe.each(queueBackends('the same seed twice'))('the same file, queued in $name', (backend) => {
  let service: TestService;
  let outcomes: Map<string, Outcome>;

  const drill = async (seed: number, variant: Json): Promise<Outcome> => {
    const spec = experimentDocument('same', 'same').spec as { faults: Json[] };
    const faults = [{ ...spec.faults[0], params: variant }];
    const id = await service.client.run(
      fabricDocument('same'),
      experimentDocument('same', 'same', { faults }),
      {
        seed,
      },
    );
    await service.client.ended(id);
    const { run: _, ...scorecard } = (await service.client.get(`/v1/runs/${id}/scorecard`)).body as Json;
    return {
      evidence: (await service.client.get(`/v1/runs/${id}/evidence?compression=none`)).bytes,
      verdict: (await service.client.get(`/v1/runs/${id}/verdict`)).text,
      scorecard: JSON.stringify(scorecard),
    };
  };

  beforeAll(async () => {
    service = await startService(backend, { api: true, worker: true });
    outcomes = new Map([
      ['first', await drill(11, { variant: 'flap' })],
      ['second', await drill(11, { variant: 'flap' })],
      ['other seed', await drill(12, { variant: 'flap' })],
    ]);
  });
  afterAll(() => service.stop());

  it('and seed give the same evidence, verdict and scorecard, byte for byte', () => {
    const [first, second] = [outcomes.get('first')!, outcomes.get('second')!];
    expect(first.evidence.length).toBeGreaterThan(10_000);
    expect(first.evidence.equals(second.evidence)).toBe(true);
    expect(first.verdict).toBe(second.verdict);
    expect(first.scorecard).toBe(second.scorecard);
    expect(first.verdict.length).toBeGreaterThan(100);
  });

  it('and another seed give other evidence', () => {
    const [first, other] = [outcomes.get('first')!, outcomes.get('other seed')!];
    expect(first.evidence.equals(other.evidence)).toBe(false);
    expect(first.scorecard).not.toBe(other.scorecard);
  });
});
