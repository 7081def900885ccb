/**
 * A gate on the server in FABRICDRILL_URL: everything that the suite names goes along, the server's workers make the runs, and
 * the result comes back to be reported here, where the paths are known.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GateResult } from '../../../comparison/result.js';
import { EnvironmentError } from '../../../core/problem.js';
import { EXIT, type ExitCode } from '../../../scoring/exit-codes.js';
import type { ApiClient } from '../../client/api-client.js';
import type { CommandContext } from '../../context.js';
import { ProblemError } from '../../terminal/failure.js';
import { gateProgress } from './gate-progress.js';
import type { GateDocuments } from './gate-source.js';
import { Interrupts } from '../../terminal/interrupts.js';
import { sameKeyMs } from '../../terminal/invocation.js';

interface GateShown {
  id: string;
  final: boolean;
  state: string;
  reason: string | null;
  exitCode: ExitCode | null;
  progress: { done: number; planned: number };
  result: GateResult | null;
}

const POLL_MS = 500;
/** A server that is started anew is back within this many looks. */
const MOST_FAILURES = 20;

/** @returns the result, or the exit code of a gate that ended without one */
export async function gateOnServer(
  documents: GateDocuments,
  seeds: number,
  context: CommandContext,
): Promise<GateResult | ExitCode> {
  const stop = new AbortController();
  const interrupts = new Interrupts(
    { first: () => stop.abort(), second: () => process.exit(EXIT.aborted) },
    sameKeyMs(context.config),
  );
  try {
    return await context.withServer(async (client) => {
      const body = requestOf(documents, seeds);
      const key = { 'idempotency-key': randomUUID() };
      const { id } = await client.json<GateShown>('POST', '/v1/gates', body, key);
      context.note(`gate ${id} on ${context.config.serverUrl ?? 'the server'}`);
      const gate = await ended(client, `/v1/gates/${id}`, { stop: stop.signal, told: gateProgress(context) });
      if (gate.result !== null) return gate.result;
      context.note(`gate ${id} ended as ${gate.state}: ${gate.reason ?? 'the reason is not known'}`);
      return gate.exitCode ?? EXIT.bug;
    });
  } finally {
    interrupts.close();
  }
}

/** The suite with names where it has paths: a server reads no files of its users. */
function requestOf({ source, sides }: GateDocuments, seeds: number): object {
  const { suite, experiments } = source;
  const { spec, ...document } = suite.source as { spec: Record<string, unknown> };
  const { baseline: _, candidate: __, ...rest } = spec;
  const names = experiments.map(({ value }) => value.metadata.name);
  return {
    suite: { ...document, spec: { ...rest, experiments: names } },
    experiments: experiments.map((each) => each.source),
    baseline: sides.baseline.source,
    candidate: sides.candidate.source,
    seeds,
  };
}

/** Looks until the gate has ended, beyond a server that is away for a moment; asks for its end when told to stop. */
async function ended(
  client: ApiClient,
  address: string,
  { stop, told }: { stop: AbortSignal; told: (done: number, planned: number) => void },
): Promise<GateShown> {
  let asked = false;
  for (let failures = 0; ;) {
    try {
      if (stop.aborted && !asked) {
        asked = true;
        await client.json('POST', `${address}/abort`, { reason: 'stopped by a signal' });
      }
      const gate = await client.json<GateShown>('GET', address);
      if (gate.final) return gate;
      told(gate.progress.done, gate.progress.planned);
      failures = 0;
    } catch (error) {
      // a gate that has ended in the meantime can't be stopped, and is shown at the next look
      const over = error instanceof ProblemError && error.status === 409;
      if (!over && (!(error instanceof EnvironmentError) || ++failures >= MOST_FAILURES)) throw error;
    }
    await sleep(POLL_MS, undefined, { signal: asked ? undefined : stop }).catch(() => undefined);
  }
}
