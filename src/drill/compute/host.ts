/**
 * Starts the program that computes, and hands it one drill or question after another.
 *
 * A command has it as a thread, which loads while the command reads its files. A server has it as a child process of
 * lower priority for drills, so that one which takes minutes, or never ends, holds up nobody's answer, lease or undo; and
 * as threads for questions.
 */
import { fork } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { Worker } from 'node:worker_threads';
import { InternalError } from '../../core/assertion.js';
import { programPath } from '../../system/program-path.js';
import { STUCK_AFTER_S } from '../work-watch.js';
import type { Answered, Asked, QuestionName } from './questions.js';
import { errorOf, type DrillOrder, type DrillReport, type DrillTask, type Reply, type Tell } from './task.js';

/**
 * A program that says nothing for longer while it computes a drill is ended: it tells several times a second that it works.
 * One that still loads has at least this long, whatever the limit is: it can't tell anything yet.
 */
const SILENT_AFTER_S = STUCK_AFTER_S + 30;

/** The program ended before the drill did. */
export class ComputingLostError extends Error {
  override readonly name = 'ComputingLostError';

  constructor(
    readonly program: 'thread' | 'process',
    how: string,
  ) {
    super(`its ${program} ended with ${how}`);
  }
}

/** A program at work. */
interface Program {
  send(order: DrillOrder): void;
  /** Kills it. */
  end(): Promise<unknown>;
}

interface UnderWay {
  tell: Tell;
  resolve: (answer: unknown) => void;
  reject: (error: Error) => void;
}

export class Computing {
  private program: Program | undefined;
  private underWay: UnderWay | undefined;
  private lost: Error | undefined;
  private heardMs = 0;
  private hasLoaded = false;

  private constructor(private readonly silentAfterS: number) {}

  /** As a thread of this process. */
  static thread(silentAfterS = SILENT_AFTER_S): Computing {
    const computing = new Computing(silentAfterS);
    const worker = new Worker(programPath('program', import.meta.url), {
      // what Node has to say about itself is no news to somebody who waits for a verdict; options of V8 hold for all
      // threads anyway, and a thread refuses them
      execArgv: ['--no-warnings'],
      // a simulation makes much that does not live long
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    });
    worker.on('message', (report: DrillReport | Reply) => computing.hear(report));
    worker.on('error', (error) => computing.lose(error));
    worker.on('exit', (code) => computing.lose(new ComputingLostError('thread', String(code))));
    computing.program = {
      send: (order) => worker.postMessage(order),
      end: () => worker.terminate(),
    };
    return computing;
  }

  /**
   * As a process of its own, of lower priority.
   * @param descriptor open in this process, handed on as `EVIDENCE_DESCRIPTOR`
   */
  static process(descriptor?: number, silentAfterS = SILENT_AFTER_S): Computing {
    const computing = new Computing(silentAfterS);
    const child = fork(programPath('program', import.meta.url), {
      serialization: 'advanced',
      execArgv: [...process.execArgv, `--max-semi-space-size=${YOUNG_MB}`],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc', descriptor ?? 'ignore'],
    });
    child.on('message', (report) => computing.hear(report as DrillReport | Reply));
    child.on('error', (error) => computing.lose(error));
    const ended = new Promise<void>((resolve) => {
      child.on('exit', (code, signal) => {
        computing.lose(new ComputingLostError('process', String(code ?? signal)));
        resolve();
      });
    });
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
    computing.program = {
      send: (order) => void child.send(order),
      end: () => {
        child.kill('SIGKILL');
        return child.pid === undefined ? Promise.resolve() : ended;
      },
    };
    return computing;
  }

  /**
   * Computes a drill; one at a time.
   * @param tell is told everything that the program reports, the last report aside
   * @throws what the program threw; ComputingLostError when it ended before the drill did, InternalError when it was ended
   *   for its silence
   */
  async compute(task: DrillTask, tell: Tell): Promise<void> {
    const watch = setInterval(() => this.endIfSilent(), Math.min(1000, this.silentAfterS * 250));
    try {
      await this.order({ type: 'task', task }, tell);
    } finally {
      clearInterval(watch);
    }
  }

  /** Has a question answered. @throws as `compute`, but for silence: a question is not told about before its answer */
  async ask<Name extends QuestionName>(name: Name, asked: Asked<Name>): Promise<Answered<Name>> {
    return (await this.order({ type: 'question', name, asked }, () => undefined)) as Answered<Name>;
  }

  /** Whether the program has ended. */
  get isLost(): boolean {
    return this.lost !== undefined;
  }

  /** Asks for an orderly end of the drill under way, which comes when the program next looks. */
  abort(reason: string): void {
    this.program!.send({ type: 'abort', reason });
  }

  /** Ends the program at once; a drill under way is lost. */
  async close(): Promise<void> {
    await this.program!.end();
  }

  private order(order: DrillOrder, tell: Tell): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.lost !== undefined) return reject(this.lost);
      this.underWay = { tell, resolve, reject };
      this.heardMs = performance.now();
      this.program!.send(order);
    });
  }

  private hear(report: DrillReport | Reply): void {
    const { underWay } = this;
    this.heardMs = performance.now();
    this.hasLoaded = true;
    if (underWay === undefined || report.type === 'loaded') return;
    if (report.type !== 'ended' && report.type !== 'thrown' && report.type !== 'answer') {
      return underWay.tell(report);
    }
    this.underWay = undefined;
    if (report.type === 'thrown') underWay.reject(errorOf(report.error));
    else underWay.resolve(report.type === 'answer' ? report.answer : undefined);
  }

  private endIfSilent(): void {
    const seconds = this.hasLoaded ? this.silentAfterS : Math.max(this.silentAfterS, SILENT_AFTER_S);
    if (performance.now() - this.heardMs < seconds * 1e3) return;
    this.lose(new InternalError('what computed it said nothing for too long', 'drill', { seconds }));
    void this.close();
  }

  private lose(error: Error): void {
    this.lost ??= error;
    this.underWay?.reject(error);
    this.underWay = undefined;
  }
}

/** Descriptor under which a process gets the file that it writes its evidence to. */
export const EVIDENCE_DESCRIPTOR = 4;

const YOUNG_MB = 64;
