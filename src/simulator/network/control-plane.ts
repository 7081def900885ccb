/**
 * Detection and routing: how long the fabric keeps sending into a hole, and how the news travels.
 *
 * A node gives up a neighbour when its port goes down or, between switches, when BFD (else the BGP hold time) misses
 * it; members of a LAG (parallel links, the ports of a NIC) have LACP for that where it is on. It repairs its own FIB after `routeRepair` and tells the others, who hear it `bgpPropagation` per hop later;
 * until then they keep sending. On the way back the session needs `sessionRestore` (host links have no session, only
 * the repair time), then the advertisement travels the same way.
 * NICs with one port hear nothing, they have no choice to make; NICs with several hear as one more hop.
 * With `staleNextHops` or `gidCached` the way back stops short: sessions and announcements are as they should be, but the
 * node itself goes on without a next hop that came back while it had others. It is used again when none is left, or when
 * the device starts anew.
 * Not modelled: path hunting, route dampening, a switch that boots with an empty table.
 */
import { lagMembers } from '../../model/topology/lag.js';
import { peerPort, type Topology } from '../../model/topology/model.js';
import { LACP_TIMEOUT_NS, silentLossDetectionNs, type FabricSettings } from '../settings.js';
import type { Beliefs } from './beliefs.js';
import { EVENT } from '../event-kind.js';
import type { EventQueue } from '../event-queue.js';
import type { TimingNoise } from '../noise/timing-noise.js';
import { delayOf } from './delays.js';
import type { PhysicalLayer } from './physical-layer.js';

/** News of one link's state on its way through the fabric. */
interface Announcement {
  link: number;
  down: boolean;
  /** Nodes by distance from the announcing node. */
  rings: readonly (readonly number[])[];
}

export interface ControlListener {
  adjacencyChanged(port: number): void;
  /** The routes of a node (switch or NIC) changed. */
  beliefChanged(node: number): void;
}

export class ControlPlane {
  /** By port: the owner considers its neighbour alive (BFD up, between switches). */
  readonly adjacent: Uint8Array;
  /** By link: 1 when both ends are switches. */
  readonly betweenSwitches: Uint8Array;
  /** By link: how long its ends take to miss each other while both ports are up, ns; 0 where nothing would. */
  private readonly detectionNs: Float64Array;
  private readonly installed: Uint8Array;
  /** By port: it is installed, but its owner forwards without it. */
  private readonly forgone: Uint8Array;
  private readonly pendingRepair: Int32Array;
  private readonly pendingSession: Int32Array;
  /** By link: whether its pending timer restores the session or ends it. */
  private readonly restoring: Uint8Array;
  private readonly announcements: (Announcement | undefined)[] = [];
  private readonly freeAnnouncements: number[] = [];
  private readonly ringsOf = new Map<number, number[][]>();
  private listener!: ControlListener;

  constructor(
    private readonly topology: Topology,
    private readonly settings: FabricSettings,
    private readonly queue: EventQueue,
    private readonly physical: PhysicalLayer,
    private readonly beliefs: Beliefs,
    private readonly timing?: TimingNoise,
  ) {
    const { ports, links, devices } = topology;
    this.adjacent = new Uint8Array(ports.length).fill(1);
    this.installed = new Uint8Array(ports.length).fill(1);
    this.forgone = new Uint8Array(ports.length);
    this.pendingRepair = new Int32Array(ports.length).fill(-1);
    this.pendingSession = new Int32Array(links.length).fill(-1);
    this.restoring = new Uint8Array(links.length);
    const isSwitch = (port: number): boolean => devices[ports[port].device].role === 'switch';
    this.betweenSwitches = Uint8Array.from(links, (link) =>
      Number(isSwitch(link.portA) && isSwitch(link.portB)),
    );
    const members = settings.lacp === 'off' ? undefined : lagMembers(topology);
    this.detectionNs = Float64Array.from(links, ({ index }) =>
      members?.has(index)
        ? LACP_TIMEOUT_NS[settings.lacp as 'fast' | 'slow']
        : this.betweenSwitches[index] * silentLossDetectionNs(settings),
    );
  }

  listen(listener: ControlListener): void {
    this.listener = listener;
  }

  portStateChanged(nowNs: number, port: number): void {
    const { link } = this.topology.ports[port];
    if (this.physical.operUp[port] === 0) this.setAdjacent(nowNs, port, false);
    else if (this.betweenSwitches[link] === 0) this.setAdjacent(nowNs, port, true);
    this.reviewSession(nowNs, link);
  }

  linkChanged(nowNs: number, link: number): void {
    this.reviewSession(nowNs, link);
  }

  /** A dead device forgets its neighbours without telling anyone. */
  deviceChanged(device: number): void {
    if (this.physical.deviceUp[device] === 1) return;
    for (const port of this.topology.devices[device].ports) {
      this.queue.cancel(this.pendingRepair[port]);
      this.pendingRepair[port] = -1;
      this.adjacent[port] = 0;
      this.install(port, false);
    }
  }

  /** A session's detection (adjacent ends) or restoration time has passed. */
  sessionDue(nowNs: number, link: number): void {
    this.pendingSession[link] = -1;
    const alive = this.passes(link) && this.bothUp(link);
    const { portA, portB } = this.topology.links[link];
    for (const port of [portA, portB]) {
      if (this.physical.operUp[port] === 1) this.setAdjacent(nowNs, port, alive);
    }
  }

  /** BFD loses a session for nothing; it comes back as any other does. */
  bounce(nowNs: number, link: number): void {
    const { portA, portB } = this.topology.links[link];
    if (!this.passes(link) || !this.bothUp(link)) return;
    for (const port of [portA, portB]) this.setAdjacent(nowNs, port, false);
    this.reviewSession(nowNs, link);
  }

  /** The port's FIB change is due. */
  repairDue(nowNs: number, port: number): void {
    this.pendingRepair[port] = -1;
    this.apply(nowNs, port);
  }

  /** An announcement reaches the nodes `hop` links away. */
  announcementDue(nowNs: number, index: number, hop: number): void {
    const announcement = this.announcements[index];
    if (announcement === undefined) throw new RangeError(`announcement ${index} is not on its way`);
    for (const node of announcement.rings[hop]) {
      this.learn(node, announcement.link, announcement.down);
    }
    if (hop + 1 < announcement.rings.length) {
      this.queue.schedule(nowNs + this.settings.bgpPropagation, EVENT.announcement, index, hop + 1);
    } else {
      this.announcements[index] = undefined;
      this.freeAnnouncements.push(index);
    }
  }

  private passes(link: number): boolean {
    return this.physical.usable[2 * link] === 1 && this.physical.usable[2 * link + 1] === 1;
  }

  private bothUp(link: number): boolean {
    const { portA, portB } = this.topology.links[link];
    return this.physical.operUp[portA] === 1 && this.physical.operUp[portB] === 1;
  }

  /** Starts, keeps or drops the timer that will end or restore the session over a link. */
  private reviewSession(nowNs: number, link: number): void {
    if (this.detectionNs[link] === 0) return;
    const { portA, portB } = this.topology.links[link];
    const established = this.adjacent[portA] === 1 && this.adjacent[portB] === 1;
    const healthy = this.passes(link) && this.bothUp(link);
    const anyAdjacent = this.adjacent[portA] === 1 || this.adjacent[portB] === 1;
    const wanted = healthy ? !established : anyAdjacent;
    const timed = this.pendingSession[link] >= 0;
    if (wanted && !timed) {
      const restoreNs = (): number => delayOf('sessionRestore', portA, this.settings, this.timing);
      const delayNs = healthy ? restoreNs() : this.detectionNs[link];
      this.pendingSession[link] = this.queue.schedule(nowNs + delayNs, EVENT.sessionState, link);
      this.restoring[link] = Number(healthy);
    } else if (timed && (!wanted || this.restoring[link] !== Number(healthy))) {
      this.queue.cancel(this.pendingSession[link]);
      this.pendingSession[link] = -1;
      if (wanted) this.reviewSession(nowNs, link);
    }
  }

  private setAdjacent(nowNs: number, port: number, adjacent: boolean): void {
    if (this.adjacent[port] === Number(adjacent)) return;
    this.adjacent[port] = Number(adjacent);
    this.listener.adjacencyChanged(port);
    this.queue.cancel(this.pendingRepair[port]);
    this.pendingRepair[port] = -1;
    if (this.installed[port] === Number(adjacent)) return;
    // The restore time of a session includes putting its next hops back.
    const between = this.betweenSwitches[this.topology.ports[port].link] === 1;
    if (adjacent && between) this.apply(nowNs, port);
    else {
      this.pendingRepair[port] = this.queue.schedule(
        nowNs + delayOf('routeRepair', port, this.settings, this.timing),
        EVENT.localRepair,
        port,
      );
    }
  }

  private apply(nowNs: number, port: number): void {
    const up = this.adjacent[port] === 1;
    if (!this.install(port, up)) return;
    const node = this.beliefs.graph.ownNode[port];
    if (node < this.topology.devices.length) this.announce(nowNs, node, this.topology.ports[port].link, !up);
  }

  private install(port: number, up: boolean): boolean {
    if (this.installed[port] === Number(up)) return false;
    this.installed[port] = Number(up);
    if (up && this.forgoes(port)) {
      this.forgone[port] = 1;
      return true;
    }
    const node = this.beliefs.graph.ownNode[port];
    this.forgone[port] = 0;
    this.learn(node, this.topology.ports[port].link, !up);
    if (!up && !this.alternatives(port).some((other) => this.forgone[other] === 0)) this.reclaim(port);
    return true;
  }

  /** A port that came back and that its owner goes on without. */
  private forgoes(port: number): boolean {
    const isNic = this.topology.ports[port].nic >= 0;
    const { staleNextHops, gidCached } = this.settings;
    if (!(isNic ? gidCached : staleNextHops)) return false;
    return this.alternatives(port).some((other) => this.forgone[other] === 0);
  }

  /** The last way is lost: those that had been left out are taken again. */
  private reclaim(port: number): void {
    for (const other of this.alternatives(port)) {
      this.forgone[other] = 0;
      this.learn(this.beliefs.graph.ownNode[other], this.topology.ports[other].link, false);
    }
  }

  /** Installed ports that share a next-hop group with this one: other ports of its NIC, other uplinks of its switch. */
  private alternatives(port: number): number[] {
    const { devices, nics, ports } = this.topology;
    const { device, nic } = ports[port];
    const all = nic >= 0 ? nics[nic].ports : devices[device].ports;
    const above = (one: number): boolean => {
      const peer = ports[peerPort(this.topology, one)].device;
      return devices[peer].tierLevel > devices[device].tierLevel;
    };
    if (nic < 0 && !above(port)) return [];
    return all.filter((other) => other !== port && this.installed[other] === 1 && (nic >= 0 || above(other)));
  }

  private learn(node: number, link: number, down: boolean): void {
    // What a node sees of its own ports outranks what it hears about them.
    const own = this.ownPort(node, link);
    if (own >= 0 && (this.installed[own] === Number(down) || this.forgone[own] === 1)) return;
    if (this.beliefs.learn(node, link, down)) this.listener.beliefChanged(node);
  }

  private ownPort(node: number, link: number): number {
    const { portA, portB } = this.topology.links[link];
    const { ownNode } = this.beliefs.graph;
    return ownNode[portA] === node ? portA : ownNode[portB] === node ? portB : -1;
  }

  private announce(nowNs: number, node: number, link: number, down: boolean): void {
    const rings = this.rings(node);
    if (rings.length === 0) return;
    const index = this.freeAnnouncements.pop() ?? this.announcements.length;
    this.announcements[index] = { link, down, rings };
    this.queue.schedule(nowNs + this.settings.bgpPropagation, EVENT.announcement, index, 0);
  }

  /** Nodes that listen, by distance from a switch over switch-to-switch links; the last hop may be a NIC. */
  private rings(origin: number): number[][] {
    const known = this.ringsOf.get(origin);
    if (known !== undefined) return known;
    const { devices, nics } = this.topology;
    const { peerNode } = this.beliefs.graph;
    const seen = new Set([origin]);
    const rings: number[][] = [];
    for (let frontier = [origin]; frontier.length > 0;) {
      const next: number[] = [];
      for (const node of frontier) {
        if (node >= devices.length) continue;
        for (const port of devices[node].ports) {
          const peer = peerNode[port];
          const deaf = peer >= devices.length && nics[peer - devices.length].ports.length < 2;
          if (deaf || seen.has(peer)) continue;
          seen.add(peer);
          next.push(peer);
        }
      }
      if (next.length > 0) rings.push(next);
      frontier = next;
    }
    this.ringsOf.set(origin, rings);
    return rings;
  }
}
