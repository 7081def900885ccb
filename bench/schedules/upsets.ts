/**
 * What happens to replicas and database in the midst of ticks: processes that die, one that stands still for longer than
 * its transaction may, and a PostgreSQL that is stopped at once (as by `pg_ctl stop -m immediate`) and comes back.
 *
 * When something happens follows from the seed; in the midst of what it happens does not, so those that did meet a tick are
 * counted. Not here: a database that loses what it has acknowledged.
 */
import type { DataSource } from 'typeorm';
import type { Prng } from '../../src/core/prng.js';

export interface Replica {
  /** Ends it at once, whatever it is doing, and begins another in its place. */
  replace(): Promise<void>;
  /** Stops it in whatever it is doing. @returns lets it go on; no error when it has been replaced */
  freeze?(): () => void;
  stop(): Promise<void>;
}

/** Chances at each jump of the clock. */
export interface UpsetChances {
  kill: number;
  freeze?: number;
  /** Of the database. */
  restart?: number;
}

export interface UpsetCounts {
  kills: number;
  /** Replicas that stood still. */
  freezes: number;
  /** Those that held a schedule's row meanwhile, until the database took it from them. */
  frozenInTick: number;
  restarts: number;
  /** Those in which a replica had a schedule's row. */
  restartsInTick: number;
}

export interface Upsettable {
  dataSource: DataSource;
  /** By the application name of their connections. */
  replicas: ReadonlyMap<string, Replica>;
  restartDatabase?: () => Promise<void>;
}

const KILL_WITHIN_MS = 12;
/** Looks for a replica in mid-tick; what is due at one moment is over soon. */
const MOST_LOOKS = 25;
const MOST_JUMPS_FROZEN = 12;

export class Upsets {
  readonly counts: UpsetCounts = { kills: 0, freezes: 0, frozenInTick: 0, restarts: 0, restartsInTick: 0 };
  private readonly names: string[];
  private frozen: { thaw: () => void; jumpsLeft: number } | undefined;

  constructor(
    private readonly about: Upsettable,
    private readonly random: Prng,
    private readonly chances: UpsetChances,
  ) {
    this.names = [...about.replicas.keys()];
  }

  /** To be called when the clock was moved, while what is due is decided; at most one thing happens. */
  async perhaps(): Promise<void> {
    if (this.frozen !== undefined && --this.frozen.jumpsLeft <= 0) this.end();
    const { kill, freeze = 0, restart = 0 } = this.chances;
    const drawn = this.random.uniform();
    if (drawn < kill) await this.kill();
    else if (drawn < kill + freeze) await this.freeze();
    else if (drawn < kill + freeze + restart) await this.restart();
  }

  /** Nothing stands still any more. */
  end(): void {
    this.frozen?.thaw();
    this.frozen = undefined;
  }

  private async kill(): Promise<void> {
    await pause(this.random.below(KILL_WITHIN_MS));
    const name = this.names[this.random.below(this.names.length)];
    await this.about.replicas.get(name)!.replace();
    this.counts.kills++;
  }

  /** Stops one after the other until one is caught in mid-tick, or the last that was tried. */
  private async freeze(): Promise<void> {
    const [first, jumpsLeft] = [
      this.random.below(this.names.length),
      1 + this.random.below(MOST_JUMPS_FROZEN),
    ];
    // the others decide, so one of them at a time
    if (this.frozen !== undefined) return;
    for (let look = 1; ; look++) {
      const name = this.names[(first + look) % this.names.length];
      const thaw = this.about.replicas.get(name)!.freeze!();
      const isInTick = (await this.inTick()).includes(name);
      if (isInTick || look === MOST_LOOKS) {
        this.frozen = { thaw, jumpsLeft };
        this.counts.freezes++;
        if (isInTick) this.counts.frozenInTick++;
        return;
      }
      thaw();
      await pause(1);
    }
  }

  private async restart(): Promise<void> {
    let isInTick = false;
    for (let look = 1; look < MOST_LOOKS && !isInTick; look++) isInTick = (await this.inTick()).length > 0;
    await this.about.restartDatabase!();
    this.counts.restarts++;
    if (isInTick) this.counts.restartsInTick++;
  }

  /** Replicas that have a schedule's row for themselves. */
  private async inTick(): Promise<string[]> {
    const rows = await this.about.dataSource.query<{ name: string }[]>(
      `SELECT DISTINCT application_name AS name FROM pg_stat_activity JOIN pg_locks USING (pid)
        WHERE application_name = ANY ($1) AND relation = 'schedules'::regclass AND mode = 'RowShareLock'`,
      [this.names],
    );
    return rows.map(({ name }) => name);
  }
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
