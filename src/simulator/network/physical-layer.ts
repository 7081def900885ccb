/**
 * Cables, ports and power: what carries packets at this instant, and what each port reports about its link.
 *
 * `usable` is the truth of the wire and changes at once; `operUp` is what a port says, which follows the carrier after
 * the detection or debounce time of the settings. A port shut down by configuration reports so at once, its peer sees
 * the carrier go. A silent one-way loss leaves both ends up unless link fault signalling is honoured; a receiver that
 * can't align itself to a bad signal takes the link down.
 * Not modelled: lanes, negotiation, counters that a reboot resets.
 */
import type { Topology } from '../../model/topology/model.js';
import type { TimingNoise } from '../noise/timing-noise.js';
import { delayOf } from './delays.js';
import type { FabricSettings } from '../settings.js';
import { EVENT } from '../event-kind.js';
import type { EventQueue } from '../event-queue.js';

/** Who wants to know; called at the instant of change. */
export interface PhysicalListener {
  portStateChanged(port: number): void;
  portAdminChanged(port: number): void;
  /** A device went dark, or has booted. */
  deviceChanged(device: number): void;
  /** Packets get across the link in fewer or more directions than before. */
  linkChanged(link: number): void;
  /** The link's carrier may have come or gone. */
  carrierReviewed(link: number): void;
}

export class PhysicalLayer {
  /** Configuration, by port: 1 enabled. */
  readonly adminUp: Uint8Array;
  /** Configuration, by device: 1 when it has power. */
  readonly powered: Uint8Array;
  /** By link: 1 when the cable is interrupted. */
  readonly cut: Uint8Array;
  /** By link: 1 while it flaps on its own. */
  private readonly flapping: Uint8Array;
  /** By direction: 1 when what is sent vanishes. */
  readonly hole: Uint8Array;
  /** By direction: 1 when the receiver makes sense of the signal. */
  readonly aligned: Uint8Array;
  /** By device: 1 when it runs; a powered device boots first. */
  readonly deviceUp: Uint8Array;
  /** By port: operational state as the port reports it. */
  readonly operUp: Uint8Array;
  /** By port: times it went from up to down. */
  readonly linkDownEvents: Float64Array;
  /** By direction: 1 when packets get across. */
  readonly usable: Uint8Array;
  /** Grows whenever `usable` changes. */
  version = 0;

  private readonly pendingState: Int32Array;
  private readonly pendingBoot: Int32Array;
  private listener!: PhysicalListener;

  constructor(
    private readonly topology: Topology,
    private readonly settings: FabricSettings,
    private readonly queue: EventQueue,
    private readonly timing?: TimingNoise,
  ) {
    const { ports, devices, links } = topology;
    this.adminUp = new Uint8Array(ports.length).fill(1);
    this.operUp = new Uint8Array(ports.length).fill(1);
    this.linkDownEvents = new Float64Array(ports.length);
    this.pendingState = new Int32Array(ports.length).fill(-1);
    this.powered = new Uint8Array(devices.length).fill(1);
    this.deviceUp = new Uint8Array(devices.length).fill(1);
    this.pendingBoot = new Int32Array(devices.length).fill(-1);
    this.cut = new Uint8Array(links.length);
    this.flapping = new Uint8Array(links.length);
    this.hole = new Uint8Array(2 * links.length);
    this.usable = new Uint8Array(2 * links.length).fill(1);
    this.aligned = new Uint8Array(2 * links.length).fill(1);
  }

  listen(listener: PhysicalListener): void {
    this.listener = listener;
  }

  /** Light from the peer arrives at this port; a port that is shut down keeps its laser on. */
  lit(port: number): boolean {
    const link = this.topology.links[this.topology.ports[port].link];
    const peer = link.portA === port ? link.portB : link.portA;
    return this.cut[link.index] === 0 && this.deviceUp[this.topology.ports[peer].device] === 1;
  }

  setPortAdmin(nowNs: number, port: number, up: boolean): void {
    if (this.adminUp[port] === Number(up)) return;
    this.adminUp[port] = Number(up);
    this.listener.portAdminChanged(port);
    this.refreshLink(nowNs, this.topology.ports[port].link);
  }

  setCut(nowNs: number, link: number, cut: boolean): void {
    if (this.cut[link] === Number(cut)) return;
    this.cut[link] = Number(cut);
    this.refreshLink(nowNs, link);
  }

  /** A bad contact: what is asked of the cable, and read back, is not touched. */
  setFlapping(nowNs: number, link: number, flapping: boolean): void {
    this.flapping[link] = Number(flapping);
    this.refreshLink(nowNs, link);
  }

  setHole(nowNs: number, direction: number, hole: boolean): void {
    if (this.hole[direction] === Number(hole)) return;
    this.hole[direction] = Number(hole);
    this.refreshLink(nowNs, direction >> 1);
  }

  setAligned(nowNs: number, direction: number, aligned: boolean): void {
    if (this.aligned[direction] === Number(aligned)) return;
    this.aligned[direction] = Number(aligned);
    this.refreshLink(nowNs, direction >> 1);
  }

  /** Power on leads to a running device after the boot time. */
  setPower(nowNs: number, device: number, on: boolean): void {
    if (this.powered[device] === Number(on)) return;
    this.powered[device] = Number(on);
    this.queue.cancel(this.pendingBoot[device]);
    this.pendingBoot[device] = -1;
    if (on) {
      this.pendingBoot[device] = this.queue.schedule(
        nowNs + this.settings.deviceBoot,
        EVENT.deviceBooted,
        device,
      );
    } else if (this.deviceUp[device] === 1) {
      this.setDeviceUp(nowNs, device, false);
    }
  }

  deviceBooted(nowNs: number, device: number): void {
    this.pendingBoot[device] = -1;
    this.setDeviceUp(nowNs, device, true);
  }

  /** The port's detection or debounce time has passed. */
  portStateDue(port: number): void {
    this.pendingState[port] = -1;
    this.setOper(port, !this.up(port));
  }

  private up(port: number): boolean {
    return this.operUp[port] === 1;
  }

  private setDeviceUp(nowNs: number, device: number, up: boolean): void {
    this.deviceUp[device] = Number(up);
    if (!up) {
      // A dead device reports nothing: its ports are down without an event.
      for (const port of this.topology.devices[device].ports) {
        this.operUp[port] = 0;
        this.dropPending(port);
      }
    }
    this.listener.deviceChanged(device);
    for (const port of this.topology.devices[device].ports) {
      this.refreshLink(nowNs, this.topology.ports[port].link);
    }
  }

  /** Both ends see the other's signal and are willing to use it. */
  carrier(link: number): boolean {
    const { portA, portB } = this.topology.links[link];
    const { ports } = this.topology;
    const signalled =
      this.settings.linkFaultSignalling && (this.hole[2 * link] === 1 || this.hole[2 * link + 1] === 1);
    return (
      this.cut[link] === 0 &&
      this.flapping[link] === 0 &&
      !signalled &&
      this.aligned[2 * link] === 1 &&
      this.aligned[2 * link + 1] === 1 &&
      this.adminUp[portA] === 1 &&
      this.adminUp[portB] === 1 &&
      this.deviceUp[ports[portA].device] === 1 &&
      this.deviceUp[ports[portB].device] === 1
    );
  }

  private refreshLink(nowNs: number, link: number): void {
    const carrier = this.carrier(link);
    let changed = false;
    for (const direction of [2 * link, 2 * link + 1]) {
      const usable = Number(carrier && this.hole[direction] === 0);
      changed ||= this.usable[direction] !== usable;
      this.usable[direction] = usable;
    }
    const { portA, portB } = this.topology.links[link];
    this.followCarrier(nowNs, portA, carrier);
    this.followCarrier(nowNs, portB, carrier);
    this.listener.carrierReviewed(link);
    if (changed) {
      this.version++;
      this.listener.linkChanged(link);
    }
  }

  private followCarrier(nowNs: number, port: number, carrier: boolean): void {
    if (this.deviceUp[this.topology.ports[port].device] === 0) return;
    if (this.adminUp[port] === 0) {
      this.dropPending(port);
      if (this.up(port)) this.setOper(port, false);
      return;
    }
    if (carrier === this.up(port)) {
      this.dropPending(port);
      return;
    }
    if (this.pendingState[port] >= 0) return;
    const kind = carrier ? 'carrierDebounce' : 'carrierDetection';
    const delayNs = delayOf(kind, port, this.settings, this.timing);
    this.pendingState[port] = this.queue.schedule(nowNs + delayNs, EVENT.portState, port);
  }

  private dropPending(port: number): void {
    this.queue.cancel(this.pendingState[port]);
    this.pendingState[port] = -1;
  }

  private setOper(port: number, up: boolean): void {
    this.operUp[port] = Number(up);
    if (!up) this.linkDownEvents[port]++;
    this.listener.portStateChanged(port);
  }
}
