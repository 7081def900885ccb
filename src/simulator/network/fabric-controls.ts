/**
 * All that can be turned on a simulated fabric, and how it stands: wires, power, speeds, signals, switches, load.
 *
 * Every change takes effect at the present instant. Readers give back what was set, so that it can be put back.
 */
import { listChoices } from '../../core/nearest.js';
import { InputError } from '../../core/problem.js';
import type { Topology } from '../../model/topology/model.js';
import type { Connections } from '../transport/connections.js';
import type { Counters } from '../sampling/counters.js';
import type { MarkingCurve, SwitchClassSettings } from '../congestion/equilibrium/model.js';
import type { FlowEngine } from '../flow-engine.js';
import type { InjectedTraffic, TrafficRequest } from '../injected-traffic.js';
import type { JobSupervisor } from '../jobs/job-supervisor.js';
import type { Placements } from '../jobs/placements.js';
import type { Sampler } from '../sampling/sampler.js';
import type { JobRunner } from '../jobs/job-runner.js';
import type { PauseStorms } from './pause-storms.js';
import type { PhysicalLayer } from './physical-layer.js';
import type { HostWay, Rates } from '../rates/rates.js';
import type { SignalCondition, Signals } from './signals.js';
import type { PfcOverride, SwitchClasses } from './switch-classes.js';

export abstract class FabricControls {
  abstract readonly topology: Topology;
  abstract readonly nowNs: number;
  protected abstract readonly physical: PhysicalLayer;
  protected abstract readonly rates: Rates;
  protected abstract readonly signals: Signals;
  protected abstract readonly connections: Connections;
  protected abstract readonly counters: Counters;
  protected abstract readonly flows: FlowEngine;
  protected abstract readonly runner: JobRunner;
  protected abstract readonly load: InjectedTraffic;
  protected abstract readonly storms: PauseStorms;
  protected abstract readonly switches: SwitchClasses;
  protected abstract readonly supervisor: JobSupervisor;
  protected abstract readonly sampler: Sampler;
  protected abstract readonly placements: Placements;
  /** By GPU, then cause: factor by which computations are longer. */
  private readonly slowdowns = new Map<number, Map<string, number>>();

  /** Brings flows, rates and reports up to date with what was turned. */
  protected abstract settle(): void;

  /** Whether the scheduler keeps new work away from a host; what runs there goes on. */
  setDrained(host: number, drained: boolean): void {
    this.supervisor.setDrained(this.nowNs, host, drained);
    this.sampler.hostChanged(host);
    this.settle();
  }

  isDrained(host: number): boolean {
    return this.placements.isDrained(host);
  }

  /** Shuts a port down, or enables it, by configuration. */
  setPortAdmin(port: number, up: boolean): void {
    this.physical.setPortAdmin(this.nowNs, port, up);
    this.settle();
  }

  setCut(link: number, cut: boolean): void {
    this.physical.setCut(this.nowNs, link, cut);
    this.settle();
  }

  /** @param direction `2 * link` or `2 * link + 1`; what is sent on it vanishes */
  setBlackhole(direction: number, hole: boolean): void {
    this.physical.setHole(this.nowNs, direction, hole);
    this.settle();
  }

  setPower(device: number, on: boolean): void {
    this.physical.setPower(this.nowNs, device, on);
    this.settle();
  }

  /** What both ends have negotiated. */
  setLinkRate(link: number, gbps: number): void {
    this.rates.setLink(link, gbps);
    this.signals.linkChanged(this.nowNs, link);
    this.settle();
  }

  /**
   * @param gbps what a NIC can read from or write to its host; Infinity when the host is as fast as it should be
   * @param way what it receives, or sends; both when left out
   */
  setHostRate(nic: number, gbps: number, way?: HostWay): void {
    this.flows.hostSide.watch(nic);
    this.rates.setHost(nic, gbps, way);
    this.settle();
  }

  linkRateGbps(link: number): number {
    return this.rates.linkGbps[link];
  }

  /** Rated speed of all ports of a NIC together. */
  portsRateGbps(nic: number): number {
    return this.rates.portsGbps(nic);
  }

  /** The lower of both ways when none is named. */
  hostRateGbps(nic: number, way?: HostWay): number {
    return this.rates.hostGbps(nic, way);
  }

  /**
   * The worst of all causes decides how fast a GPU computes.
   * @param cause a name of the caller's
   * @param factor how many times longer than normal computations take, 1 for normal
   */
  setSlowdown(cause: string, gpus: readonly number[], factor: number): void {
    for (const gpu of gpus) {
      const causes = this.slowdowns.get(gpu) ?? new Map<string, number>();
      this.slowdowns.set(gpu, causes.set(cause, factor));
      this.runner.slowDown(this.nowNs, gpu, Math.max(...causes.values()));
    }
    this.settle();
  }

  slowdown(cause: string, gpu: number): number {
    return this.slowdowns.get(gpu)?.get(cause) ?? 1;
  }

  /** @param direction `2 * link` or `2 * link + 1`; undefined makes its signal well again */
  setSignal(direction: number, condition: SignalCondition | undefined): void {
    this.signals.set(this.nowNs, direction, condition);
    this.settle();
  }

  signal(direction: number): SignalCondition | undefined {
    return this.signals.condition(direction);
  }

  portAdminUp(port: number): boolean {
    return this.physical.adminUp[port] === 1;
  }

  isCut(link: number): boolean {
    return this.physical.cut[link] === 1;
  }

  isBlackhole(direction: number): boolean {
    return this.physical.hole[direction] === 1;
  }

  isPowered(device: number): boolean {
    return this.physical.powered[device] === 1;
  }

  /**
   * Starts a load beside the jobs, in place of one of the same id.
   * @throws InputError for a priority without queues, and for senders or a receiver that can't be
   */
  injectTraffic(id: string, request: TrafficRequest): void {
    this.load.inject(this.nowNs, id, request);
    this.settle();
  }

  removeTraffic(id: string): void {
    this.load.remove(this.nowNs, id);
    this.settle();
  }

  /** What an id injects; undefined when nothing. */
  traffic(id: string): TrafficRequest | undefined {
    return this.load.get(id);
  }

  /**
   * A NIC that pauses a class of its switch without end.
   * @throws InputError for a priority without queues
   */
  setPauseStorm(nic: number, priority: number, on: boolean): void {
    this.storms.set(this.nowNs, nic, this.classOf(priority), on);
    this.settle();
  }

  pauseStorm(nic: number, priority: number): boolean {
    return this.storms.on(nic, this.classOf(priority));
  }

  /** @param seed of the device's ECMP hash, as it is; equal seeds make equal choices */
  setHashSeed(device: number, seed: number): void {
    this.connections.setHashSeed(device, seed);
    this.settle();
  }

  hashSeed(device: number): number {
    return this.connections.hashSeed(device);
  }

  /** @param curve of all queues of a switch; undefined: as the settings say */
  setMarking(device: number, curve: MarkingCurve | undefined): void {
    this.switches.setMarking(device, curve);
    this.settle();
  }

  /** What was set; undefined: as the settings say. */
  marking(device: number): MarkingCurve | undefined {
    return this.switches.marking(device);
  }

  /** @param override of a switch's pause and buffer; undefined: as the settings say */
  setPfc(device: number, override: PfcOverride | undefined): void {
    this.switches.setPfc(device, override);
    this.settle();
  }

  /** What was set; undefined: as the settings say. */
  pfc(device: number): PfcOverride | undefined {
    return this.switches.pfc(device);
  }

  /** Traffic classes that have queues, ascending. */
  get priorities(): readonly number[] {
    return this.counters.priorities;
  }

  /** Whether the settings have a class paused rather than dropped. */
  isLossless(priority: number): boolean {
    return this.switches.lossless(this.classOf(priority));
  }

  /** How a switch treats a class at this moment. */
  switchClass(device: number, priority: number): SwitchClassSettings {
    return this.switches.of(device, this.classOf(priority));
  }

  switchBufferBytes(device: number): number {
    return this.switches.bufferBytes[device];
  }

  /** @throws InputError when no queue serves the priority */
  requireClass(priority: number): void {
    this.classOf(priority);
  }

  private classOf(priority: number): number {
    const classIndex = this.counters.classOf(priority);
    if (classIndex >= 0) return classIndex;
    const classes = listChoices(this.counters.priorities.map(String));
    throw InputError.at(
      '/priority',
      `no queue serves priority ${priority}; the fabric's classes are ${classes}`,
      'choose one of them, or name it in settings.pfc.priorities of the fabric',
    );
  }
}
