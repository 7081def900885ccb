/**
 * A simulated fabric that keeps pace with the wall clock, and looks after what is in place on it by itself.
 *
 * It goes no further than its driver asks, and no sooner than the wall clock allows, so that a drill on it is the same drill
 * as at full speed, to the byte. Whoever drives holds a lease. When that is not renewed, everything is reverted here, since
 * nobody else may be left to do it; who comes then finds a clean fabric, and the old driver can change nothing any more.
 * An impairment that stays longer than was said when it was applied goes by itself too.
 *
 * Not modelled: a machine too small for the pace. The fabric falls behind then, and says by how much.
 */
import { EnvironmentError } from '../../../core/problem.js';
import type { Evidence } from '../../../model/telemetry/series.js';
import type { ConfigurationSnapshot, JobBoundary } from '../../../fabric-api/fabric.js';
import type { Impairment } from '../../../fabric-api/impairment.js';
import type { SimulatedFabric } from '../simulated-fabric.js';
import type { PacedStatus } from './protocol.js';
import type { JournalLine } from './record.js';

/** Longer than a drill needs to revert when it is due, in simulated time. */
export const OVERDUE_NS = 10e9;
/** A wait is cut into such pieces, so that a driver that was replaced stops soon. */
const PIECE_MS = 100;

export interface HostMeans {
  fabric: SimulatedFabric;
  /** Simulated seconds a second. */
  pace: number;
  leaseMs: number;
  /** Durable when it returns. */
  journal(line: Omit<JournalLine, 'at' | 'nowNs'>): void;
  wallClockMs: () => number;
  sleep: (ms: number) => Promise<void>;
}

interface InPlace {
  impairment: Impairment;
  saved: ConfigurationSnapshot;
  /** When it goes by itself, ns of the fabric's clock. */
  untilNs: number;
}

export class PacedHost {
  private readonly inPlace = new Map<string, InPlace>();
  private driver = 0;
  private leaseUntilMs: number;
  /** The lease was over since somebody attached last. */
  private isAbandoned = false;
  /** When its clock stood at 0; undefined before its jobs were started. */
  private beganMs: number | undefined;
  private behindMs = 0;

  constructor(private readonly means: HostMeans) {
    this.leaseUntilMs = means.wallClockMs() + means.leaseMs;
  }

  /** Takes the fabric over; whoever drove it before can change nothing any more. @returns the number to drive with */
  attach(by: string): number {
    this.leaseUntilMs = this.means.wallClockMs() + this.means.leaseMs;
    this.driver += 1;
    this.isAbandoned = false;
    this.means.journal({ did: 'attached', by });
    return this.driver;
  }

  renew(driver: number): void {
    this.check(driver);
    this.leaseUntilMs = this.means.wallClockMs() + this.means.leaseMs;
  }

  status(): PacedStatus {
    const leaseLeftMs = Math.max(0, this.leaseUntilMs - this.means.wallClockMs());
    return {
      nowNs: this.means.fabric.nowNs,
      inPlace: [...this.inPlace.keys()],
      leaseLeftMs,
      behindMs: Math.round(this.behindMs),
    };
  }

  /**
   * Looks at the lease; to be called often.
   * @returns for how long nobody has held it, ms; 0 while somebody does
   */
  async watch(): Promise<number> {
    const overMs = this.means.wallClockMs() - this.leaseUntilMs;
    if (overMs <= 0) return 0;
    if (!this.isAbandoned) {
      this.isAbandoned = true;
      this.means.journal({ did: 'lease-over' });
      await this.revertAll('lease');
    }
    return overMs;
  }

  readBack(impairment: Impairment): Promise<ConfigurationSnapshot> {
    return this.means.fabric.readBack(impairment);
  }

  async apply(driver: number, id: string, impairment: Impairment, holdNs?: number): Promise<void> {
    this.check(driver);
    const { fabric } = this.means;
    const saved = await fabric.readBack(impairment);
    this.means.journal({ did: 'intends', id, impairment, saved });
    const untilNs = holdNs === undefined ? Infinity : fabric.nowNs + holdNs + OVERDUE_NS;
    // before it is applied: a lease that ends in between reverts it
    this.inPlace.set(id, { impairment, saved, untilNs });
    try {
      await fabric.apply(id, impairment);
    } catch (error) {
      this.inPlace.delete(id);
      throw error;
    }
    this.means.journal({ did: 'applied', id });
  }

  /** Anybody may undo. */
  async revert(id: string, impairment: Impairment, saved: ConfigurationSnapshot, by: string): Promise<void> {
    await this.means.fabric.revert(id, impairment, saved);
    this.inPlace.delete(id);
    this.means.journal({ did: 'reverted', id, by });
  }

  /** Newest first, going on past failures. */
  async revertAll(by: string): Promise<void> {
    for (const [id, { impairment, saved }] of [...this.inPlace].reverse()) {
      await this.revert(id, impairment, saved, by);
    }
  }

  async startJobs(driver: number): Promise<void> {
    this.check(driver);
    await this.means.fabric.startJobs();
    this.beganMs = this.means.wallClockMs();
  }

  async advance(driver: number, toNs: number): Promise<void> {
    await this.keepPace(driver, toNs);
    await this.revertOverdue(toNs);
    await this.means.fabric.advance(toNs);
    this.noteLag();
  }

  async untilBoundary(
    driver: number,
    boundaries: readonly JobBoundary[],
    untilNs: number,
  ): Promise<{ index: number; beganNs: number } | undefined> {
    await this.keepPace(driver, untilNs);
    await this.revertOverdue(untilNs);
    const found = await this.means.fabric.untilBoundary(boundaries, untilNs);
    this.noteLag();
    return found;
  }

  jobsCrossing(elementId: string): Promise<string[]> {
    return this.means.fabric.jobsCrossing(elementId);
  }

  observe(window: { fromNs: number; toNs: number }): Promise<Evidence> {
    return this.means.fabric.observe(window);
  }

  /** Waits until the wall clock has come as far as the fabric is to go. */
  private async keepPace(driver: number, toNs: number): Promise<void> {
    this.check(driver);
    const { wallClockMs, sleep, fabric } = this.means;
    this.beganMs ??= wallClockMs() - this.wallMs(fabric.nowNs);
    for (;;) {
      const leftMs = this.beganMs + this.wallMs(toNs) - wallClockMs();
      if (leftMs <= 0) break;
      await sleep(Math.min(PIECE_MS, leftMs));
      this.check(driver);
    }
  }

  /** Whatever should have been reverted before that is reverted at its time. */
  private async revertOverdue(toNs: number): Promise<void> {
    const { fabric } = this.means;
    const overdue = [...this.inPlace]
      .filter(([, { untilNs }]) => untilNs <= toNs)
      .sort(([, one], [, other]) => one.untilNs - other.untilNs);
    for (const [id, { impairment, saved, untilNs }] of overdue) {
      if (untilNs > fabric.nowNs) await fabric.advance(untilNs);
      await this.revert(id, impairment, saved, 'overdue');
    }
  }

  private noteLag(): void {
    const { wallClockMs, fabric } = this.means;
    const dueMs = (this.beganMs ?? 0) + this.wallMs(fabric.nowNs);
    this.behindMs = Math.max(this.behindMs, wallClockMs() - dueMs);
  }

  private wallMs(simulatedNs: number): number {
    return simulatedNs / 1e6 / this.means.pace;
  }

  private check(driver: number): void {
    if (driver !== this.driver) {
      throw new EnvironmentError('another process has taken the paced simulation over');
    }
    if (this.isAbandoned) {
      throw new EnvironmentError(
        `nobody renewed the lease of the paced simulation for ${this.means.leaseMs / 1000} s; it reverted everything by itself`,
        'see its log: fabrics log',
      );
    }
  }
}
