/**
 * Where the runs of a comparison are computed: in this process where nothing real is in them and nothing keeps to the
 * wall clock, or by a server. Either way they are planned, run and stored as `plan` and `run` do it there.
 */
import type { FileHandle } from 'node:fs/promises';
import { ComputingLostError } from '../../../drill/compute/host.js';
import type { PlanView } from '../../../drill/plan/plan.js';
import type { FabricDocument } from '../../../documents/fabric-document.js';
import type { Loaded } from '../../../documents/load.js';
import type { EvidenceFile } from '../../../evidence/evidence-file.js';
import { EXIT, type ExitCode } from '../../../scoring/exit-codes.js';
import type { Scorecard } from '../../../scoring/scorecard.js';
import type { ApiClient } from '../../client/api-client.js';
import { planHere } from '../../client/check.js';
import { follow } from '../../client/follow.js';
import { takeComputing, withAnswers, type Ask } from '../../computing.js';
import type { CommandContext } from '../../context.js';
import type { ExperimentFile } from '../../files/definitions.js';
import type { CommandStore } from '../../store.js';
import { InterruptedError, ProblemError } from '../../terminal/failure.js';
import type { Interrupts } from '../../terminal/interrupts.js';
import { runHere } from '../run-here.js';
import { fabricChoice, keep, located, startRun } from '../run.js';

export interface FinishedRun {
  id: string;
  scorecard: Scorecard;
  exitCode: ExitCode;
}

export interface ParityRunner {
  /** Answers about what is simulated. */
  ask: Ask;
  plan(source: ExperimentFile, fabric: Loaded<FabricDocument>, seed: number): Promise<PlanView>;
  run(source: ExperimentFile, fabric: Loaded<FabricDocument>, seed: number): Promise<FinishedRun>;
  /** The Arrow file; undefined of a run that was cut short. */
  evidence(run: FinishedRun): Promise<Uint8Array | FileHandle | undefined>;
}

export const isComputedHere = ({ value: { spec } }: Loaded<FabricDocument>): boolean =>
  spec.driver === 'simulated' && spec.pace === undefined;

/** Does work in this process; the evidence of its runs is at hand until that is done. */
export async function inThisProcess<T>(
  store: CommandStore,
  interrupts: Interrupts,
  context: CommandContext,
  work: (runner: ParityRunner) => Promise<T>,
): Promise<T> {
  const thread = takeComputing();
  const files = new Map<string, EvidenceFile>();
  const stop = (): void => {
    context.note('stopping; nothing was injected');
    void thread.close();
  };
  interrupts.become({ first: stop, second: () => process.exit(EXIT.aborted) });
  const ask: Ask = (name, asked) => thread.ask(name, asked);
  try {
    return await work({
      ask,
      plan: (source, fabric, seed) => planHere(source, fabric, seed, { ask, config: context.config }),
      run: async (source, fabric, seed) => {
        const drill = { source, fabric, seed, begun: () => store.open() };
        const { scorecard, exitCode, finished } = await runHere(thread, drill, interrupts, context);
        const run = await finished;
        if (run.evidence !== undefined) files.set(run.id, run.evidence);
        await keep(store, run, context);
        return { id: run.id, scorecard, exitCode };
      },
      evidence: ({ id }) => Promise.resolve(files.get(id)?.handle),
    });
  } catch (error) {
    const isStopped = interrupts.interrupted && error instanceof ComputingLostError;
    throw isStopped ? new InterruptedError(EXIT.aborted) : error;
  } finally {
    await thread.close();
    for (const file of files.values()) await file.close();
  }
}

/** @param confirm the real fabric's name, sent with its runs alone */
export const onServer = (
  client: ApiClient,
  confirm: string | undefined,
  interrupts: Interrupts,
  context: CommandContext,
): ParityRunner => ({
  ask: (name, asked) => withAnswers(context, (ask) => ask(name, asked)),
  plan: async (source, fabric, seed) => {
    try {
      const { id } = await client.json<{ id: string }>('POST', '/v1/experiments', source.experiment.source);
      const body = { fabric: fabricChoice({ document: fabric }), seed };
      return await client.json<PlanView>('POST', `/v1/experiments/${id}/plan`, body);
    } catch (error) {
      throw located(error, source);
    }
  },
  run: async (source, fabric, seed) => {
    const own = fabric.value.metadata.name === confirm ? { confirm } : {};
    const run = await startRun(client, source, { document: fabric }, seed, own);
    const exitCode = await follow(client, run, interrupts, context);
    return { id: run.id, scorecard: await client.json('GET', `/v1/runs/${run.id}/scorecard`), exitCode };
  },
  evidence: async ({ id }) => {
    try {
      const response = await client.request('GET', `/v1/runs/${id}/evidence`);
      return new Uint8Array(await response.arrayBuffer());
    } catch (error) {
      // a run that was cut short has none
      if (error instanceof ProblemError && error.status < 500) return undefined;
      throw error;
    }
  },
});
