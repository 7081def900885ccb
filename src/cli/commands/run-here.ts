/**
 * The short way: an experiment on a simulated fabric, from its documents to its scorecard in this process.
 *
 * It is computed in a thread, so that Ctrl-C is heard meanwhile; nothing outlives that thread, and to end it is to undo
 * everything. What came out is told first and stored then: a store that fails takes no verdict back.
 */
import { randomUUID } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { InputError } from '../../core/problem.js';
import type { FabricDocument } from '../../documents/fabric-document.js';
import type { Loaded } from '../../documents/load.js';
import { withJobsAsWritten } from '../../documents/stored.js';
import { statedObjectives } from '../../documents/experiment.js';
import type { Judgement } from '../../drill/judge.js';
import type { Computing } from '../../drill/compute/host.js';
import type { DrillReport, DrillTask } from '../../drill/compute/task.js';
import { endingOf, endingOfError, type DrillEnding } from '../../drill/ending.js';
import { evidenceRoom } from '../../drill/plan/evidence-room.js';
import { FabricError } from '../../drill/plan/fabric-error.js';
import { EvidenceFile } from '../../evidence/evidence-file.js';
import { EXIT, type ExitCode } from '../../scoring/exit-codes.js';
import type { RunState, Scorecard } from '../../scoring/scorecard.js';
import type { AbortRequest, FinishedRun } from '../../store/runs/finished-run.js';
import { scorecardFrom } from '../../store/runs/run-view.js';
import type { Plan } from '../../drill/plan/plan.js';
import { VERSION } from '../../system/version.js';
import type { CommandContext } from '../context.js';
import type { ExperimentFile } from '../files/definitions.js';
import { InterruptedError } from '../terminal/failure.js';
import type { Interrupts } from '../terminal/interrupts.js';
import { ProgressPrinter } from '../terminal/progress.js';

/** What is run, and on what. */
export interface DrillHere {
  source: ExperimentFile;
  fabric: Loaded<FabricDocument>;
  seed: number;
  /** Called when it is planned and will be run. */
  begun: () => void;
}

/** A run whose verdict is known. */
export interface JudgedRun {
  scorecard: Scorecard;
  exitCode: ExitCode;
  /** All that is to be stored; whoever stores it closes its evidence. */
  finished: Promise<FinishedRun>;
}

const INTERRUPTED = 'interrupted at the command line';

/**
 * @returns as soon as the verdict is known
 * @throws InputError with the lines of what can't be planned; InterruptedError when it was stopped before it began
 */
export async function runHere(
  computing: Computing,
  drill: DrillHere,
  interrupts: Interrupts,
  context: CommandContext,
): Promise<JudgedRun> {
  const run = new RunHere(computing, drill, context, await EvidenceFile.place());
  interrupts.become({ first: () => run.abort(), second: () => process.exit(EXIT.aborted) });
  const judged = await run.untilJudged();
  // nothing is left to revert; what remains is to print and to store
  interrupts.become({ first: () => undefined, second: () => process.exit(judged.exitCode) });
  return judged;
}

class RunHere {
  private readonly id = randomUUID();
  private readonly startedAt = new Date();
  private readonly progress: ProgressPrinter;
  private readonly course: FinishedRun['course'][number][] = [];
  /** Null until it is planned, and can be run. */
  private plan: Plan | null = null;
  private judgement: Judgement | null = null;
  private evidence: EvidenceFile | undefined;
  private abortedAt: Date | null = null;
  private judged!: () => void;
  /** What the drill threw; settles when the thread is done with it. */
  private ended: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly computing: Computing,
    private readonly drill: DrillHere,
    private readonly context: CommandContext,
    private readonly place: FileHandle,
  ) {
    this.progress = new ProgressPrinter(process.stderr, process.stderr.isTTY && context.config.colour);
  }

  /** Ends the thread, and with it all that is in place. */
  abort(): void {
    this.abortedAt = new Date();
    this.progress.finish();
    if (this.plan === null) {
      this.context.note('stopping; nothing was injected');
    } else {
      this.context.note('reverting; press Ctrl-C again to leave at once');
      this.record({ type: 'abort-requested', reason: INTERRUPTED });
    }
    void this.computing.close();
  }

  async untilJudged(): Promise<JudgedRun> {
    const judged = new Promise<undefined>((resolve) => (this.judged = () => resolve(undefined)));
    this.ended = this.computing
      .compute(this.task(), (report) => this.hear(report))
      .then(
        () => undefined,
        (error: unknown) => error,
      );
    const problem = await Promise.race([judged, this.ended]);
    this.progress.finish();
    if (this.plan === null) {
      await this.place.close();
      throw this.abortedAt === null ? this.located(problem) : new InterruptedError(EXIT.aborted);
    }
    const judgement = this.abortedAt === null ? this.judgement : await this.cutShort();
    return this.end(this.plan, judgement === null ? endingOfError(problem) : endingOf(judgement), judgement);
  }

  private task(): DrillTask {
    const { source, fabric, seed } = this.drill;
    return {
      ...{ experiment: source.experiment.value, fabric: fabric.value, seed },
      room: evidenceRoom(this.context.config),
      evidence: {
        descriptor: this.place.fd,
        document: withJobsAsWritten(fabric.source, source.experiment.source),
      },
    };
  }

  private hear(report: DrillReport): void {
    // what was under way when the thread was ended
    if (this.abortedAt !== null) return;
    switch (report.type) {
      case 'planned': {
        const { experiment, fabric, seed, unsupported } = report.plan;
        if (unsupported.length > 0) return;
        this.plan = report.plan;
        this.context.note(`run ${this.id}: ${experiment} on ${fabric}, seed ${seed}`);
        this.showState('pending', null);
        return this.drill.begun();
      }
      case 'progress': {
        const { nowNs, durationNs } = report;
        return this.progress.show({
          type: 'progress',
          data: { now_s: nowNs / 1e9, duration_s: durationNs / 1e9 },
        });
      }
      case 'judged':
        this.judgement = report.judgement;
        return this.judged();
      case 'evidence':
        this.evidence = EvidenceFile.written(this.place, report);
        return;
      default:
        return this.record(report);
    }
  }

  private record(report: DrillReport | AbortRequest): void {
    this.course.push({ at: new Date(), report });
    if (report.type === 'state') this.showState(report.state, report.detail);
    else if (report.type === 'abort-requested') {
      this.progress.show({ type: report.type, data: { reason: report.reason } });
    } else if (report.type === 'failed') {
      this.progress.show({ type: 'revert-failed', data: { id: report.id, reason: report.reason } });
    }
  }

  private showState(state: RunState, detail: string | null): void {
    this.progress.show({ type: 'state', data: { state, detail } });
  }

  /** With the thread all is gone that was in place. */
  private async cutShort(): Promise<Judgement> {
    this.record({ type: 'state', state: 'reverting', detail: 'aborted' });
    const undone = new Set(
      this.course.flatMap(({ report }) => (report.type === 'verified' ? report.id : [])),
    );
    for (const { report } of [...this.course]) {
      if (report.type !== 'intended' || undone.has(report.entry.id)) continue;
      this.record({ type: 'verified', id: report.entry.id });
    }
    // what judges takes a while to load, and is otherwise needed in the thread alone
    const { judgeCutShort } = await import('../../drill/judge.js');
    return judgeCutShort({ aborted: INTERRUPTED }, statedObjectives(this.drill.source.experiment.value.spec));
  }

  private end(plan: Plan, ending: DrillEnding, judgement: Judgement | null): JudgedRun {
    const { id, startedAt } = this;
    const { source, fabric } = this.drill;
    this.showState(ending.state, ending.reason);
    const endedAt = new Date();
    const { experiment: experimentName, fabric: fabricName, driver, seed } = plan;
    const run = { ...{ id, experimentName, fabricName, driver, seed, startedAt, endedAt }, ...ending };
    const scorecard = scorecardFrom(run, VERSION, judgement ?? undefined);
    const finished = async (): Promise<FinishedRun> => {
      await this.ended;
      if (this.evidence === undefined) await this.place.close();
      return {
        ...{ id, plan, seed, version: VERSION, startedAt, endedAt, course: this.course, ending, scorecard },
        experiment: { name: experimentName, source: source.experiment.source },
        fabric: { name: fabricName, driver, source: fabric.source },
        ...(this.evidence === undefined ? {} : { evidence: this.evidence }),
      };
    };
    return { scorecard, exitCode: ending.exitCode, finished: finished() };
  }

  /** Findings with the lines of the file that they are about. */
  private located(error: unknown): unknown {
    if (!(error instanceof InputError)) return error;
    const { source, fabric } = this.drill;
    return new InputError((error instanceof FabricError ? fabric : source.experiment).locate(error.issues));
  }
}
