/**
 * The runs of a gate between real fabrics: drills like any other, one after another, with their journal, their abort and
 * the lever that stops them. What comes out of each is read back from its scorecard and its evidence.
 *
 * With `--up` each drill gets a lab that was built a moment ago and is removed behind it, so that no drill finds what an
 * earlier one has left, and runs depend on each other in nothing.
 */
import { randomUUID } from 'node:crypto';
import { fabricAsRecorded } from '../../../documents/stored.js';
import { fabricDriver } from '../../../drivers/catalog.js';
import { downOnServer, upOnServer } from '../../client/labs.js';
import { figureValues, type TrainingFigures } from '../../../comparison/figures.js';
import type { Execute } from '../../../drill/gate/conduct.js';
import type { Side } from '../../../drill/gate/gate-input.js';
import type { SideTask } from '../../../drill/gate/rounds.js';
import type { SideOutcome } from '../../../drill/gate/side-run.js';
import { EXIT, type ExitCode } from '../../../scoring/exit-codes.js';
import type { Scorecard } from '../../../scoring/scorecard.js';
import { trainingPace } from '../../../scoring/measures/training.js';
import { EvidenceIndex } from '../../../model/telemetry/series.js';
import { buildTopology } from '../../../model/topology/topology-spec.js';
import { buildJobs } from '../../../model/workload/build-jobs.js';
import type { ApiClient, RunView } from '../../client/api-client.js';
import type { CommandContext } from '../../context.js';
import { confirmMember } from '../../client/confirmation.js';
import { InterruptedError, ProblemError } from '../../terminal/failure.js';
import { follow } from '../../client/follow.js';
import type { GateDocuments } from './gate-source.js';
import type { Interrupts } from '../../terminal/interrupts.js';

/** Ends of a drill after which no further one is begun. */
const ENDS_THE_GATE: readonly ExitCode[] = [EXIT.rollbackFailed, EXIT.bug, EXIT.aborted];

export interface DrillsInput extends GateDocuments {
  /** Builds a lab for each drill. */
  up: boolean;
  /** Names of real fabrics, as they were given. */
  confirm: readonly string[];
  interrupts: Interrupts;
  context: CommandContext;
}

export class GateDrills {
  private last: Promise<unknown> = Promise.resolve();
  private readonly ids = new Map<number, Promise<string>>();

  constructor(
    private readonly client: ApiClient,
    private readonly input: DrillsInput,
  ) {}

  /** One drill at a time, in the order in which they are asked for; none after one that has failed. */
  readonly execute: Execute = (task) => {
    const made = this.last.then(async () => ({ outcome: await this.inItsLab(task) }));
    this.last = made;
    return made;
  };

  private async inItsLab(task: SideTask): Promise<SideOutcome> {
    const { up, sides, interrupts, context } = this.input;
    if (interrupts.interrupted) throw new InterruptedError(EXIT.aborted);
    if (!up) return this.drill(task);
    const { metadata, spec } = sides[task.side].value;
    const { name } = metadata;
    const labs = fabricDriver(spec.driver).labs!;
    context.note(`lab ${name} is built`);
    const isThere = context.config.serverUrl !== undefined;
    if (isThere) await upOnServer(this.client, name, sides[task.side].source, () => undefined);
    else await labs.up({ name, spec }, () => undefined);
    let stays = false;
    try {
      if (interrupts.interrupted) throw new InterruptedError(EXIT.aborted);
      return await this.drill(task);
    } catch (error) {
      stays = error instanceof InterruptedError && error.exitCode === EXIT.rollbackFailed;
      throw error;
    } finally {
      if (stays) context.note(`lab ${name} is left as it is, to be looked at`);
      else await this.remove(() => (isThere ? downOnServer(this.client, name) : labs.down(name)));
    }
  }

  /** Nothing is left to revert: a signal waits until the lab is gone. */
  private async remove(down: () => Promise<unknown>): Promise<void> {
    this.input.interrupts.become({ first: () => undefined, second: () => process.exit(EXIT.aborted) });
    await down();
  }

  private async drill({ experiment, side, seed }: SideTask): Promise<SideOutcome> {
    const { interrupts, context } = this.input;
    let run: RunView;
    try {
      run = await this.start(experiment, side, seed);
    } catch (error) {
      const issues = error instanceof ProblemError && error.status === 400 ? error.problem.errors : undefined;
      if (issues === undefined) throw error;
      return { figures: null, refused: true, problem: issues.map(({ message }) => message).join('; ') };
    }
    const code = await follow(this.client, run, interrupts, context);
    if (ENDS_THE_GATE.includes(code)) {
      context.note(
        `run ${run.id} ended the gate; look at it with: ${context.command(`runs show ${run.id}`)}`,
      );
      throw new InterruptedError(code);
    }
    return this.outcomeOf(run.id, experiment);
  }

  private async start(experiment: number, side: Side, seed: number): Promise<RunView> {
    const { source, sides, confirm } = this.input;
    const stored =
      this.ids.get(experiment) ??
      this.client
        .json<{ id: string }>('POST', '/v1/experiments', source.experiments[experiment].source)
        .then(({ id }) => id);
    this.ids.set(experiment, stored);
    const { source: fabric, value } = sides[side];
    const named = confirm.find((name) => name === value.metadata.name);
    const body = { fabric, seed, ...confirmMember(named) };
    return this.client.json<RunView>('POST', `/v1/experiments/${await stored}/runs`, body, {
      'idempotency-key': randomUUID(),
    });
  }

  private async outcomeOf(runId: string, experiment: number): Promise<SideOutcome> {
    const {
      scores,
      doubts = [],
      reasons,
      truth,
    } = await this.client.json<Scorecard>('GET', `/v1/runs/${runId}/scorecard`);
    // a drill that did not run its course has scores of which nothing is known, and says why
    const scored = Object.values(scores).some(({ score }) => score !== null);
    const problem = doubts.length > 0 ? doubts.join('; ') : scored ? undefined : reasons.join('; ');
    const injectedNs = truth.length === 0 ? null : Math.min(...truth.map(({ from_s }) => from_s)) * 1e9;
    const pace = await this.paceOf(runId, experiment, injectedNs);
    const figures = figureValues(doubts.length > 0 ? null : scores, pace);
    return { figures, ...(problem === undefined ? {} : { problem }) };
  }

  private async paceOf(
    runId: string,
    experiment: number,
    injectedNs: number | null,
  ): Promise<TrainingFigures> {
    const unknown = { step_time_s: null, faulted_step_time_s: null };
    // the reader of Arrow files takes a while to load, and simulated gates do not need it
    const { decodeEvidenceFile } = await import('../../../evidence/arrow.js');
    let bytes: ArrayBuffer;
    try {
      bytes = await (await this.client.request('GET', `/v1/runs/${runId}/evidence`)).arrayBuffer();
    } catch (error) {
      if (error instanceof ProblemError && error.status === 404) return unknown;
      throw error;
    }
    const { evidence, fabric } = await decodeEvidenceFile(new Uint8Array(bytes));
    const { topology, jobs } = fabricAsRecorded(fabric).spec;
    const placed = buildJobs(jobs, buildTopology(topology), '/spec/jobs');
    return trainingPace(new EvidenceIndex(evidence), placed, injectedNs, evidence.toNs);
  }
}
