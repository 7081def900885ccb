/**
 * The fabric contract over the flow-level simulator.
 *
 * Impairments that turn the same knob are kept apart: the worst of them holds, and the knob goes back to where it stood
 * before the first of them only when the last is lifted. So reverting one never lifts another, and a port that was
 * shut down before stays so. An id that was never applied here (a crash, another process) is reverted to what its
 * caller saved.
 */
import { InputError } from '../../core/problem.js';
import type { FlowSimulator } from '../../simulator/flow-simulator.js';
import type { EvidenceSize } from '../../model/telemetry/evidence-size.js';
import type { Evidence } from '../../model/telemetry/series.js';
import type {
  AdvancesTime,
  Computes,
  ConfigurationSnapshot,
  Fabric,
  FabricDescription,
  JobBoundary,
  RunsWorkload,
  SearchRecord,
  SizesEvidence,
  TracesPaths,
  WatchesJobs,
} from '../../fabric-api/fabric.js';
import type { Impairment } from '../../fabric-api/impairment.js';
import { congestionOf } from './congestion-description.js';
import type { Control } from './control.js';
import { controlOf, SIMULATED_CAPABILITIES } from './controls.js';

/** A knob that impairments hold: where it stood before, and what each of them wants. */
interface Hold {
  before: string;
  wanted: Map<string, string>;
}

export class SimulatedFabric
  implements Fabric, AdvancesTime, Computes, RunsWorkload, SizesEvidence, TracesPaths, WatchesJobs
{
  private readonly holds = new Map<string, Hold>();
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
    this.simulator.advance(toNs);
  }

  onWork(listener: () => void): void {
    this.simulator.effort.onWork = listener;
  }

  searches(): SearchRecord {
    return { ...this.simulator.effort.record };
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
    const control = controlOf(this.simulator, impairment);
    const key = keyOf(control);
    const hold = this.holds.get(key) ?? { before: control.read(), wanted: new Map<string, string>() };
    hold.wanted.set(id, control.impaired);
    this.holds.set(key, hold);
    this.lifted.delete(id);
    control.write(worstOf(control, hold));
  }

  async revert(id: string, impairment: Impairment, saved: ConfigurationSnapshot): Promise<void> {
    this.checkOpen();
    const control = controlOf(this.simulator, impairment);
    const key = keyOf(control);
    const hold = this.holds.get(key);
    if (this.lifted.has(id)) return;
    if (hold === undefined) {
      control.write(savedValue(control, saved));
    } else {
      hold.wanted.delete(id);
      if (hold.wanted.size === 0) this.holds.delete(key);
      control.write(worstOf(control, hold));
    }
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

const worstOf = (control: Control, hold: Hold): string =>
  [hold.before, ...hold.wanted.values()].reduce((worst, value) => control.worse(worst, value));

const keyOf = (control: Control): string => `${control.element} ${control.setting}`;

function savedValue(control: Control, saved: ConfigurationSnapshot): string {
  const value = saved[control.element]?.[control.setting];
  if (value !== undefined && control.accepts(value)) return value;
  throw InputError.at(
    '/saved',
    `${control.setting} of ${control.element} was saved as ${value === undefined ? 'nothing' : `"${value}"`}`,
    `write a value such as ${control.healthy} or ${control.impaired}`,
  );
}
