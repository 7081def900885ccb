/**
 * Whether every ingress port stays clear of its pause threshold with the queues that a search without pauses has found.
 *
 * A path of rate r holds r·T bytes in a queue of delay T, and they count at the port it came by (Little). Where no port
 * comes near its share of what all ports leave free, pauses hold nobody, and the search that knew of none was right.
 */
import type { BalanceState } from './balance-state.js';
import type { Buffers } from './buffers.js';
import type { EquilibriumFlow, EquilibriumNetwork } from './model.js';
import { roomFloat64, roomInt32 } from './room.js';
import type { Scene } from './scene.js';

/** Nearer to its threshold than this a port may pause now and then. */
const CLEAR = 0.9;

export class IdlePorts {
  /** Devices that hold bytes of these flows, and the free buffer at which the fullest of their ports would pause. */
  readonly devices: number[] = [];
  readonly needed: number[] = [];
  /** By queue of the census: bytes that the port at its far end holds; and which do. */
  private held = new Float64Array(64);
  private ports = new Int32Array(64);
  private portCount = 0;
  /** By device: bytes beyond the reserves; and its place in the list. */
  private readonly used: Float64Array;
  private readonly placeOf: Int32Array;

  constructor(
    private readonly network: EquilibriumNetwork,
    private readonly scene: Scene,
    private readonly buffers: Buffers,
    private readonly balance: BalanceState,
  ) {
    this.used = new Float64Array(network.isSwitch.length);
    this.placeOf = new Int32Array(network.isSwitch.length).fill(-1);
  }

  /** True where pauses hold nobody; fills the lists. */
  find(flows: readonly EquilibriumFlow[]): boolean {
    this.clear();
    this.fill(flows);
    const { network, scene } = this;
    for (let at = 0; at < this.portCount; at++) {
      const direction = scene.census.queueDirection[this.ports[at]];
      const { reserveBytes } = this.settings(this.ports[at]);
      this.used[network.toDevice[direction]] += Math.max(0, this.held[this.ports[at]] - reserveBytes);
    }
    let clear = true;
    for (let at = 0; at < this.portCount; at++) clear = this.isClear(this.ports[at]) && clear;
    return clear;
  }

  private clear(): void {
    for (const device of this.devices) {
      this.used[device] = 0;
      this.placeOf[device] = -1;
    }
    this.devices.length = this.needed.length = 0;
    this.held = roomFloat64(this.held, this.scene.census.queueCount);
    this.ports = roomInt32(this.ports, this.scene.census.queueCount);
    this.held.fill(0, 0, this.scene.census.queueCount);
    this.portCount = 0;
  }

  private fill(flows: readonly EquilibriumFlow[]): void {
    const { balance, held, scene } = this;
    for (let at = 0; at < scene.activeCount; at++) {
      const flow = scene.activeFlows[at];
      const { paths, classIndex } = flows[flow];
      for (let path = 0; path < paths.count; path++) {
        if (scene.pathOf[scene.givenStart[flow] + path] < 0) continue;
        for (let hop = paths.starts[path] + 1; hop < paths.starts[path + 1]; hop++) {
          const queue = scene.queueAt(paths.links[hop], classIndex);
          if (queue < 0 || balance.delay[queue] === 0) continue;
          const port = scene.census.queueAt(paths.links[hop - 1], classIndex);
          if (held[port] === 0) this.ports[this.portCount++] = port;
          held[port] += paths.weights[path] * balance.rate[flow] * balance.delay[queue];
        }
      }
    }
  }

  private settings(port: number): { reserveBytes: number; freeShare: number } {
    const { network, scene } = this;
    const direction = scene.census.queueDirection[port];
    const found = network.switchClass(network.toDevice[direction], scene.census.queueClass[port]);
    const factor = network.freeShareFactor?.[direction] ?? 1;
    return { reserveBytes: found.reserveBytes, freeShare: found.freeShare * factor };
  }

  private isClear(port: number): boolean {
    const { network, scene } = this;
    const device = network.toDevice[scene.census.queueDirection[port]];
    const { reserveBytes, freeShare } = this.settings(port);
    const needed = Math.max(0, this.held[port] - reserveBytes) / freeShare;
    let place = this.placeOf[device];
    if (place < 0) {
      place = this.placeOf[device] = this.devices.push(device) - 1;
      this.needed[place] = 0;
    }
    this.needed[place] = Math.max(this.needed[place], needed);
    return needed < CLEAR * (this.buffers.sharedOf(device) - this.used[device]);
  }
}
