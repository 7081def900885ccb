/**
 * A worker as its supervisor holds it: a process in its host's namespace, a session of its own, two pipes, and a record
 * by which a later process can find and end it.
 *
 * A record names pid and start time, since a pid alone may be somebody else's by then. The kernel object is killed by
 * exactly this identity. Not modelled: workers that put children into the background; ours have none.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { identityOf, isRunning, type ProcessIdentity } from '../../../platform/process-identity.js';
import { programPath } from '../../../platform/program-path.js';
import type { Place } from '../transport/place.js';
import { jsonLines, type WorkerConfiguration, type WorkerOrder, type WorkerReport } from './protocol.js';

/** Enough of what a dying program says to tell why. */
const MOST_COMPLAINT_CHARACTERS = 2000;
/** What ends at the end of its input is given so long for it. */
const END_MS = 5000;

/** The built program of a rank. */
export const workerProgram = (): string => programPath('worker', import.meta.url);

export interface WorkerEvents {
  report(report: WorkerReport): void;
  /** Once, whatever ended it. */
  ended(reason: string): void;
}

export class WorkerProcess {
  readonly identity: ProcessIdentity | undefined;
  private readonly child: ChildProcess;
  private readonly gone: Promise<void>;
  private complaint = '';
  private isGone = false;
  private readonly endsByInput: boolean;

  constructor(place: Place, program: string, configuration: WorkerConfiguration, events: WorkerEvents) {
    this.endsByInput = place.endsByInput;
    const [command, ...args] = place.argv(place.programWords(program));
    // A session of its own: a signal for the group of whoever started us must not end the job.
    this.child = spawn(command, args, { detached: true, stdio: 'pipe' });
    const { stdin, stdout, stderr } = this.child;
    stdin?.on('error', () => undefined);
    stdout?.setEncoding('utf8');
    stderr?.setEncoding('utf8');
    const complain = (text: string): void => {
      this.complaint = (this.complaint + text).slice(-MOST_COMPLAINT_CHARACTERS);
    };
    stdout?.on(
      'data',
      jsonLines((value) => events.report(value as WorkerReport), complain),
    );
    stderr?.on('data', complain);
    this.gone = new Promise((resolve) => {
      const over = (reason: string): void => {
        if (this.isGone) return;
        this.isGone = true;
        resolve();
        events.ended(reason);
      };
      this.child.once('error', (error) => over(error.message));
      this.child.once('close', (code, signal) => over(this.reasonOf(code, signal)));
    });
    this.identity = this.child.pid === undefined ? undefined : identityOf(this.child.pid);
    stdin?.write(`${JSON.stringify(configuration)}\n`);
  }

  order(order: WorkerOrder): void {
    if (!this.isGone) this.child.stdin?.write(`${JSON.stringify(order)}\n`);
  }

  /** Ends it at once, as a lost host would. Resolves when it is gone. */
  async kill(): Promise<void> {
    const { child, isGone, endsByInput } = this;
    if (!isGone && endsByInput) {
      child.stdin?.end();
      await Promise.race([this.gone, sleep(END_MS, undefined, { ref: false })]);
    }
    if (!this.isGone) child.kill('SIGKILL');
    await this.gone;
  }

  private reasonOf(code: number | null, signal: string | null): string {
    const said = this.complaint.trim();
    const how = signal === null ? `exit code ${code}` : signal;
    return said === '' ? how : `${how}: ${said}`;
  }
}

/** Ends what an earlier process left behind; only exactly these processes. */
export function killLeftovers(identities: readonly ProcessIdentity[]): void {
  for (const identity of identities) {
    if (!isRunning(identity)) continue;
    try {
      process.kill(Number(identity.slice(0, identity.indexOf('-'))), 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}
