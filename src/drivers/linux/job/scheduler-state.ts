/**
 * What a lab's scheduler was told: hosts that take nothing new, and orders to leave a host.
 *
 * Kept in a file, written whole, since whoever lifts a drain or an order may be another process than the one that gave
 * it; by names, since another process counts devices from the fabric file it reads. Not modelled: two that write at once.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** An order to the scheduler; it stands until it is withdrawn. Names, not indices. */
export interface StandingOrder {
  job: string;
  fromHost: string;
  /** Left out: there is no host to go to. */
  toHost?: string;
  mode: 'planned' | 'after-loss' | 'evict';
}

export interface SchedulerState {
  drained: string[];
  orders: StandingOrder[];
  /** Identities of processes that were started for jobs. */
  processes: string[];
}

export class SchedulerFile {
  constructor(private readonly file: string) {}

  read(): SchedulerState {
    if (!existsSync(this.file)) return { drained: [], orders: [], processes: [] };
    return JSON.parse(readFileSync(this.file, 'utf8')) as SchedulerState;
  }

  change(by: (state: SchedulerState) => Partial<SchedulerState>): SchedulerState {
    const before = this.read();
    const after = { ...before, ...by(before) };
    mkdirSync(dirname(this.file), { recursive: true });
    writeFileSync(`${this.file}.part`, JSON.stringify(after));
    renameSync(`${this.file}.part`, this.file);
    return after;
  }
}
