/**
 * How each switch treats each class: its marking curve, whether it pauses, its thresholds; as set, or as overridden.
 *
 * A switch has one profile, made for its fastest port, as operators configure buffers by port speed. An override is a
 * setting of one switch out of line with the rest; it holds for all its ports and classes. Classes that the settings
 * do not name as lossless are never paused.
 */
import type { Topology } from '../../model/topology/model.js';
import { headroomBytes, markingCurve, switchBufferBytes } from '../congestion-settings.js';
import { packetBytes, type FabricSettings } from '../settings.js';
import type { MarkingCurve, SwitchClassSettings } from '../congestion/equilibrium/model.js';

/** What an override of pause and buffer says. */
export interface PfcOverride {
  pfc: boolean;
  /** Left out, as the next: as the settings say. */
  headroomBytes?: number;
  freeShare?: number;
}

export class SwitchClasses {
  /** By device: all of a switch's buffer, bytes; 0 for hosts. */
  readonly bufferBytes: Float64Array;
  /** Grows with every change. */
  version = 0;
  private readonly markings = new Map<number, MarkingCurve>();
  private readonly pfcs = new Map<number, PfcOverride>();
  private readonly fastestGbps: Float64Array;
  private readonly longestDelayNs: Float64Array;
  /** By device, then class; emptied by changes. */
  private readonly known: (SwitchClassSettings | undefined)[][];

  constructor(
    topology: Topology,
    private readonly settings: FabricSettings,
    /** By class index. */
    private readonly priorities: readonly number[],
  ) {
    this.fastestGbps = new Float64Array(topology.devices.length);
    this.longestDelayNs = new Float64Array(topology.devices.length);
    for (const { portA, portB, rateGbps, delayNs } of topology.links) {
      for (const port of [portA, portB]) {
        const { device } = topology.ports[port];
        this.fastestGbps[device] = Math.max(this.fastestGbps[device], rateGbps);
        this.longestDelayNs[device] = Math.max(this.longestDelayNs[device], delayNs + settings.switchLatency);
      }
    }
    this.bufferBytes = Float64Array.from(topology.devices, ({ role, index }) =>
      role === 'switch' ? switchBufferBytes(settings, this.fastestGbps[index]) : 0,
    );
    this.known = topology.devices.map(() => []);
  }

  /** @param classIndex place in the list of priorities */
  of(device: number, classIndex: number): SwitchClassSettings {
    return (this.known[device][classIndex] ??= this.work(device, classIndex));
  }

  lossless(classIndex: number): boolean {
    return this.settings.pfc.on && this.settings.pfc.priorities.includes(this.priorities[classIndex]);
  }

  marking(device: number): MarkingCurve | undefined {
    return this.markings.get(device);
  }

  /** @param curve of all queues of the device; undefined: as the settings say */
  setMarking(device: number, curve: MarkingCurve | undefined): void {
    if (curve === undefined) this.markings.delete(device);
    else this.markings.set(device, curve);
    this.changed(device);
  }

  pfc(device: number): PfcOverride | undefined {
    return this.pfcs.get(device);
  }

  setPfc(device: number, override: PfcOverride | undefined): void {
    if (override === undefined) this.pfcs.delete(device);
    else this.pfcs.set(device, override);
    this.changed(device);
  }

  private changed(device: number): void {
    this.known[device] = [];
    this.version++;
  }

  private work(device: number, classIndex: number): SwitchClassSettings {
    const { settings } = this;
    const gbps = this.fastestGbps[device];
    const override = this.pfcs.get(device);
    const headroom = headroomBytes(settings, gbps, this.longestDelayNs[device], packetBytes(settings));
    return {
      pfc: this.lossless(classIndex) && (override?.pfc ?? true),
      headroomBytes: override?.headroomBytes ?? headroom,
      freeShare: override?.freeShare ?? settings.pfc.freeShare,
      reserveBytes: settings.pfc.reserve,
      resumeOffsetBytes: settings.pfc.resumeOffset,
      marking: this.markings.get(device) ?? markingCurve(settings, gbps),
    };
  }
}
