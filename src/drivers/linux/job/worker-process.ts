/**
 * A worker as its supervisor holds it: a process in its host's namespace, a session of its own, two pipes, and a record
 * by which a later process can find and end it.
 *
 * A record names pid and start time, since a pid alone may be somebody else's by then. The kernel object is killed by
 * exactly this identity. A worker on another machine is held by its session: it ends with that, and its clock is asked for
 * before anything it says is believed, and again with each renewal of its lease. Not modelled: workers that put children
 * into the background; ours have none.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { identityOf, isRunning, type ProcessIdentity } from '../../../system/process-identity.js';
import { programPath } from '../../../system/program-path.js';
import type { Place } from '../transport/place.js';
import { ClockOffset } from './clock-offset.js';
import { monotonicNs } from './monotonic.js';
import {
  inOurTime,
  jsonLines,
  type WorkerConfiguration,
  type WorkerOrder,
  type WorkerReport,
} from './protocol.js';

/** Enough of what a dying program says to tell why. */
const MOST_COMPLAINT_CHARACTERS = 2000;
/** What ends at the end of its input is given so long for it. */
const END_MS = 5000;

/** A clock that is far away is asked so often before it is believed, and until it is known this well. */
const LEAST_ANSWERS = 8;
const MOST_CLOCK_ERROR_NS = 100e6;

/** The built program of a rank. */
export const workerProgram = (): string => programPath('worker', import.meta.url);

export interface WorkerEvents {
  report(report: WorkerReport): void;
  /** Once, whatever ended it. */
  ended(reason: string): void;
}

export class WorkerProcess {
  readonly identity: ProcessIdentity | undefined;
  /** By how much any instant that it reported may be off, ns: 0 where it shares our clock. */
  clockErrorNs = 0;
  private readonly child: ChildProcess;
  private readonly gone: Promise<void>;
  /** Of a worker whose clock is not ours. */
  private readonly clock: ClockOffset | undefined;
  private answers = 0;
  private asking = false;
  private wasKnown = false;
  /** What it said before its clock was known. */
  private unread: WorkerReport[] = [];
  private complaint = '';
  private isGone = false;
  private readonly endsByInput: boolean;

  constructor(
    place: Place,
    program: string,
    configuration: WorkerConfiguration,
    private readonly events: WorkerEvents,
  ) {
    if (place.isRemote) this.clock = new ClockOffset();
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
      jsonLines((value) => this.take(value as WorkerReport), complain),
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
    if (this.isGone) return;
    this.child.stdin?.write(`${JSON.stringify(order)}\n`);
    // clocks drift
    if (order.order === 'renew' && this.clock !== undefined) this.askTime();
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

  private take(report: WorkerReport): void {
    const { clock } = this;
    if (clock === undefined) return this.events.report(report);
    if (report.report === 'time') {
      clock.add(report.askedNs, report.atNs, monotonicNs());
      this.answers++;
      this.asking = false;
      if (!this.isClockKnown) this.askTime();
    } else {
      this.unread.push(report);
      if (report.report === 'listening') this.askTime();
    }
    if (this.isClockKnown) this.clockErrorNs = Math.max(this.clockErrorNs, clock.errorNs(monotonicNs()));
    // What it dies of must be heard, though nobody can tell any more when that was.
    else if (report.report !== 'failed') return;
    const hereNs = (atNs: number): number => (this.isClockKnown ? clock.hereNs(atNs) : monotonicNs());
    for (const one of this.unread.splice(0)) this.events.report(inOurTime(one, hereNs));
  }

  private get isClockKnown(): boolean {
    // once it was known it stays so: its bound grows slowly, and is told
    this.wasKnown ||=
      this.answers >= LEAST_ANSWERS && this.clock!.errorNs(monotonicNs()) <= MOST_CLOCK_ERROR_NS;
    return this.wasKnown;
  }

  private askTime(): void {
    if (this.asking || this.isGone) return;
    this.asking = true;
    this.child.stdin?.write(`${JSON.stringify({ order: 'tell-time', askedNs: monotonicNs() })}\n`);
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
