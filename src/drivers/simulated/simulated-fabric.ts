/**
 * The fabric contract over the flow-level simulator.
 *
 * Later levels of an impairment come at their time, on the simulator's clock: it stops there, however far it is to go.
 */
import type { FlowSimulator } from '../../simulator/flow-simulator.js';
import type { EvidenceSize } from '../../model/telemetry/evidence-size.js';
import type { Evidence } from '../../model/telemetry/series.js';
import type {
  AdvancesTime,
  Computes,
  DrawsWorld,
  ConfigurationSnapshot,
  Fabric,
  FabricDescription,
  JobBoundary,
  RunsWorkload,
  SearchRecord,
  SizesEvidence,
  TracesPaths,
  WatchesJobs,
  WorldRecord,
} from '../../fabric-api/fabric.js';
import { levelsOf, type Impairment } from '../../fabric-api/impairment.js';
import { keyOf, Override, savedValue } from '../../fabric-api/overrides.js';
import { congestionOf } from './congestion-description.js';
import type { Control } from './control.js';
import { controlOf, SIMULATED_CAPABILITIES } from './controls.js';

/** A level that an impairment has yet to come to, ns of the fabric's clock. */
interface Level {
  atNs: number;
  id: string;
  control: Control;
}

export class SimulatedFabric
  implements Fabric, AdvancesTime, Computes, DrawsWorld, RunsWorkload, SizesEvidence, TracesPaths, WatchesJobs
{
  private readonly overrides = new Map<string, Override>();
  /** In order of time. */
  private levels: Level[] = [];
  /** Ids that have been lifted; lifting one again changes nothing. */
  private readonly lifted = new Set<string>();
  private closed = false;

  constructor(
    private readonly name: string,
    private readonly simulator: FlowSimulator,
  ) {}

  describe(): FabricDescription {
    const { topology, jobs, settings } = this.simulator;
    return {
      name: this.name,
      driver: 'simulated',
      topology,
      jobs,
      transport: { mtuBytes: settings.mtu, headerBytes: settings.headerBytes, ackBytes: settings.ackBytes },
      congestion: congestionOf(this.simulator),
      capabilities: SIMULATED_CAPABILITIES,
    };
  }

  get nowNs(): number {
    return this.simulator.nowNs;
  }

  async advance(toNs: number): Promise<void> {
    this.checkOpen();
    while (this.nextLevelNs <= toNs) {
      this.simulator.advance(this.nextLevelNs);
      this.enterNextLevel();
    }
    this.simulator.advance(toNs);
  }

  onWork(listener: () => void): void {
    this.simulator.effort.onWork = listener;
  }

  searches(): SearchRecord {
    return { ...this.simulator.effort.record };
  }

  world(): WorldRecord | undefined {
    const { world } = this.simulator;
    return world.isQuiet ? undefined : structuredClone(world.record);
  }

  private get nextLevelNs(): number {
    return this.levels[0]?.atNs ?? Infinity;
  }

  private enterNextLevel(): void {
    const { id, control } = this.levels.shift()!;
    const override = this.overrides.get(keyOf(control))!;
    override.want(id, control.impaired);
    control.write(override.value);
  }

  async startJobs(): Promise<void> {
    this.checkOpen();
    this.simulator.startJobs();
  }

  async untilBoundary(
    boundaries: readonly JobBoundary[],
    untilNs: number,
  ): Promise<{ index: number; beganNs: number } | undefined> {
    this.checkOpen();
    const names = this.simulator.jobs.map((job) => job.name);
    const wanted = boundaries.map(({ job, ...boundary }) => ({ ...boundary, job: names.indexOf(job) }));
    while (this.nextLevelNs <= untilNs) {
      const found = this.simulator.advanceToFirstBoundary(wanted, this.nextLevelNs);
      if (found !== undefined) return found;
      this.enterNextLevel();
    }
    return this.simulator.advanceToFirstBoundary(wanted, untilNs);
  }

  async jobsCrossing(elementId: string): Promise<string[]> {
    const { jobs } = this.simulator;
    return this.simulator.jobsCrossing(elementId).map((index) => jobs[index].name);
  }

  async readBack(impairment: Impairment): Promise<ConfigurationSnapshot> {
    const control = controlOf(this.simulator, impairment);
    return { [control.element]: { [control.setting]: control.read() } };
  }

  async apply(id: string, impairment: Impairment): Promise<void> {
    this.checkOpen();
    const [first, ...later] = levelsOf(impairment).map(({ afterNs, impairment: level }): Level => ({
      atNs: this.nowNs + afterNs,
      id,
      control: controlOf(this.simulator, level),
    }));
    const { control } = first;
    const key = keyOf(control);
    const override = this.overrides.get(key) ?? new Override(control.read(), control.worse);
    if (override.has(id)) return;
    override.want(id, control.impaired);
    this.overrides.set(key, override);
    this.lifted.delete(id);
    control.write(override.value);
    this.levels = [...this.levels, ...later].sort((one, other) => one.atNs - other.atNs);
  }

  async revert(id: string, impairment: Impairment, saved: ConfigurationSnapshot): Promise<void> {
    this.checkOpen();
    const control = controlOf(this.simulator, impairment);
    const key = keyOf(control);
    const override = this.overrides.get(key);
    if (this.lifted.has(id)) return;
    this.levels = this.levels.filter((level) => level.id !== id);
    override?.drop(id);
    if (override?.isHeld === false) this.overrides.delete(key);
    control.write(override?.value ?? savedValue(control, saved));
    this.lifted.add(id);
  }

  evidenceSize(durationNs: number): EvidenceSize {
    return this.simulator.evidenceSize(durationNs);
  }

  async observe(window: { fromNs: number; toNs: number }): Promise<Evidence> {
    return this.simulator.evidence(window.fromNs, window.toNs);
  }

  async close(): Promise<void> {
    this.closed = true;
  }

  private checkOpen(): void {
    if (this.closed) throw new Error(`the fabric "${this.name}" is closed`);
  }
}
