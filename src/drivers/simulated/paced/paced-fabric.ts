/**
 * A paced simulation as its driver holds it: the fabric contract over the calls.
 *
 * A simulation that is gone has taken along whatever was in place on it. Undoing goes to one that is opened from the same
 * document then, as undoing on a simulated fabric always does in another process; everything else says that it is gone.
 */
import { EnvironmentError } from '../../../core/problem.js';
import { isRunning, ownIdentity } from '../../../system/process-identity.js';
import type { EvidenceSize } from '../../../model/telemetry/evidence-size.js';
import type { Evidence } from '../../../model/telemetry/series.js';
import type {
  AdvancesTime,
  ConfigurationSnapshot,
  Fabric,
  FabricDescription,
  JobBoundary,
  RunsWorkload,
  SizesEvidence,
  TracesPaths,
  WatchesJobs,
} from '../../../fabric-api/fabric.js';
import { readSettings } from '../../../fabric-api/legacy-settings.js';
import type { Impairment } from '../../../fabric-api/impairment.js';
import type { SimulatedFabric } from '../simulated-fabric.js';
import { PacedCalls, type Answered } from './calls.js';
import type { CallBody } from './paced-server.js';
import { readEvidence, type Call } from './protocol.js';
import { socketIn, type PacedRecord } from './record.js';

export class PacedFabric
  implements Fabric, AdvancesTime, RunsWorkload, SizesEvidence, TracesPaths, WatchesJobs
{
  private readonly calls: PacedCalls;
  private readonly renewal: NodeJS.Timeout;
  private simulatedNs = 0;
  private driver = 0;
  private closed = false;
  private described: SimulatedFabric | undefined;

  /** @param standIn the same fabric, of which nothing is simulated: it describes, and takes the place of one that is gone */
  private constructor(
    private readonly record: PacedRecord,
    private readonly socket: string,
    private readonly standIn: () => SimulatedFabric,
  ) {
    this.calls = new PacedCalls(socket);
    this.renewal = setInterval(() => {
      // the next call of the drill tells what is wrong
      this.ask('renew', { driver: this.driver }).catch(() => undefined);
    }, record.leaseMs / 4);
    this.renewal.unref();
  }

  static async attach(
    record: PacedRecord,
    folder: string,
    standIn: () => SimulatedFabric,
  ): Promise<PacedFabric> {
    const fabric = new PacedFabric(record, socketIn(folder), standIn);
    try {
      fabric.driver = (await fabric.ask('attach', { by: ownIdentity() })) as number;
    } catch (error) {
      fabric.release();
      throw error;
    }
    return fabric;
  }

  private get healthy(): SimulatedFabric {
    return (this.described ??= this.standIn());
  }

  describe(): FabricDescription {
    return this.healthy.describe();
  }

  evidenceSize(durationNs: number): EvidenceSize {
    return this.healthy.evidenceSize(durationNs);
  }

  get nowNs(): number {
    return this.simulatedNs;
  }

  async advance(toNs: number): Promise<void> {
    const waitMs = (toNs - this.simulatedNs) / 1e6 / this.record.pace;
    await this.ask('advance', { driver: this.driver, toNs }, waitMs);
  }

  async startJobs(): Promise<void> {
    await this.ask('startJobs', { driver: this.driver });
  }

  async untilBoundary(
    boundaries: readonly JobBoundary[],
    untilNs: number,
  ): Promise<{ index: number; beganNs: number } | undefined> {
    const waitMs = (untilNs - this.simulatedNs) / 1e6 / this.record.pace;
    const body = { driver: this.driver, boundaries: [...boundaries], toNs: untilNs };
    const found = await this.ask('untilBoundary', body, waitMs);
    return (found as { index: number; beganNs: number } | null) ?? undefined;
  }

  async jobsCrossing(element: string): Promise<string[]> {
    return (await this.ask('jobsCrossing', { element })) as string[];
  }

  async readBack(impairment: Impairment): Promise<ConfigurationSnapshot> {
    if (this.isGone()) return this.healthy.readBack(impairment);
    // a simulation that an earlier version started says sentences
    return readSettings((await this.ask('readBack', { impairment })) as ConfigurationSnapshot);
  }

  async apply(id: string, impairment: Impairment, holdNs?: number): Promise<void> {
    const hold = holdNs === undefined ? {} : { holdNs };
    await this.ask('apply', { driver: this.driver, id, impairment, ...hold });
  }

  async revert(id: string, impairment: Impairment, saved: ConfigurationSnapshot): Promise<void> {
    if (this.isGone()) return this.healthy.revert(id, impairment, saved);
    await this.ask('revert', { id, impairment, saved, by: ownIdentity() });
  }

  async observe(window: { fromNs: number; toNs: number }): Promise<Evidence> {
    this.checkOpen();
    return readEvidence(await this.calls.send('observe', window));
  }

  /** Ends the simulation: nobody else needs it. */
  async close(): Promise<void> {
    if (this.closed) return;
    this.release();
    await new PacedCalls(this.socket).ask('end', { by: ownIdentity() }).catch(() => undefined);
  }

  /** Lets go of it without ending it, as a process does that is killed. */
  release(): void {
    this.closed = true;
    clearInterval(this.renewal);
    this.calls.close();
  }

  private isGone(): boolean {
    return !isRunning(this.record.process);
  }

  private async ask(call: Call, body: CallBody, waitMs = 0): Promise<unknown> {
    this.checkOpen();
    let answer: Answered;
    try {
      answer = await this.calls.ask(call, body, waitMs);
    } catch (error) {
      if (!this.isGone()) throw error;
      throw new EnvironmentError(
        `the paced simulation ${this.record.instance} ended in the midst of the drill`,
        `its log: fabrics log ${this.record.instance}`,
        { cause: error },
      );
    }
    this.simulatedNs = answer.nowNs;
    return answer.result;
  }

  private checkOpen(): void {
    if (this.closed) throw new Error(`the fabric "${this.record.fabric}" is closed`);
  }
}
