/**
 * A drill on a simulated fabric that keeps no pace: computed by a process of its own and written down as it is told.
 *
 * The process that answers, renews leases and undoes never computes. Nothing of such a fabric outlives the process that
 * computes it, so that ending it is an undo. A program that is done waits for the next drill for a while.
 */
import type { FileHandle } from 'node:fs/promises';
import { Computing, EVIDENCE_DESCRIPTOR } from '../../drill/compute/host.js';
import type { DrillReport, DrillTask } from '../../drill/compute/task.js';
import type { Judgement } from '../../drill/judge.js';
import { EvidenceFile, type EvidenceFigures } from '../../evidence/evidence-file.js';

/** A drill that is to be aborted has this long to undo and end by itself. */
const ABORT_AFTER_MS = 5_000;
/** For how long a program waits for the next drill. */
const IDLE_AFTER_MS = 30_000;

interface Program {
  computing: Computing;
  /** Shared with it. */
  evidence: FileHandle;
}

export interface ProgramSettings {
  /** The program's own limit when left out. */
  silentAfterS?: number;
  abortAfterMs: number;
}

/** What becomes of what is told. Each call resolves once it is written. */
export interface Keeper {
  report(report: DrillReport): Promise<void>;
  evidence(file: EvidenceFile): Promise<void>;
}

export class ComputedDrills {
  private readonly idle = new Map<Program, NodeJS.Timeout>();
  private readonly settings: ProgramSettings;

  constructor(settings: Partial<ProgramSettings> = {}) {
    this.settings = { abortAfterMs: ABORT_AFTER_MS, ...settings };
  }

  /**
   * @param document goes with the evidence
   * @returns undefined when it was ended because of the signal before it had undone by itself
   * @throws ComputingLostError when its process ended, InternalError when it was ended for its silence, and what the
   *   drill or the keeper throws
   */
  async run(
    task: DrillTask,
    document: unknown,
    keeper: Keeper,
    signal: AbortSignal,
  ): Promise<Judgement | undefined> {
    const program = await this.take();
    let judgement: Judgement | undefined;
    let figures: EvidenceFigures | undefined;
    let writing = Promise.resolve();
    let unwritten: Error | undefined;
    const computed = program.computing.compute(
      { ...task, evidence: { descriptor: EVIDENCE_DESCRIPTOR, document } },
      (report) => {
        if (report.type === 'judged') judgement = report.judgement;
        else if (report.type === 'evidence') figures = report;
        else writing = writing.then(() => keeper.report(report)).catch(stop);
      },
    );
    const watch = new Watch(program.computing, this.settings, signal);
    // what can't be written down any more need not be computed
    const stop = (error: unknown): void => {
      unwritten ??= error as Error;
      watch.end();
    };
    try {
      await computed;
      await writing;
      if (unwritten !== undefined) throw unwritten;
      if (figures !== undefined) await keeper.evidence(EvidenceFile.written(program.evidence, figures));
      await this.giveBack(program);
      return judgement;
    } catch (error) {
      await Promise.all([endProgram(program), writing]);
      if (unwritten !== undefined) throw unwritten;
      if (watch.wasAborted) return undefined;
      throw error;
    } finally {
      watch.close();
    }
  }

  /** Ends the programs that wait. */
  async close(): Promise<void> {
    await Promise.all([...this.idle.keys()].map((program) => this.leave(program)));
  }

  private async take(): Promise<Program> {
    for (const [program, timer] of this.idle) {
      clearTimeout(timer);
      this.idle.delete(program);
      if (program.computing.isLost) await endProgram(program);
      else return program;
    }
    const evidence = await EvidenceFile.place();
    return { computing: Computing.process(evidence.fd, this.settings.silentAfterS), evidence };
  }

  private async giveBack(program: Program): Promise<void> {
    await program.evidence.truncate(0);
    this.idle.set(
      program,
      setTimeout(() => void this.leave(program), IDLE_AFTER_MS),
    );
  }

  private leave(program: Program): Promise<void> {
    clearTimeout(this.idle.get(program));
    this.idle.delete(program);
    return endProgram(program);
  }
}

async function endProgram({ computing, evidence }: Program): Promise<void> {
  await computing.close();
  await evidence.close();
}

/** Ends a program that goes on after it was asked to stop. */
class Watch {
  /** Whether it was ended for that. */
  wasAborted = false;
  private patience: NodeJS.Timeout | undefined;

  constructor(
    private readonly computing: Computing,
    private readonly settings: ProgramSettings,
    private readonly signal: AbortSignal,
  ) {
    if (signal.aborted) this.abort();
    else signal.addEventListener('abort', this.abort);
  }

  end(): void {
    void this.computing.close();
  }

  close(): void {
    clearTimeout(this.patience);
    this.signal.removeEventListener('abort', this.abort);
  }

  private readonly abort = (): void => {
    this.computing.abort(String(this.signal.reason));
    this.patience = setTimeout(() => {
      this.wasAborted ||= !this.computing.isLost;
      this.end();
    }, this.settings.abortAfterMs);
  };
}
