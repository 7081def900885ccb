/**
 * Puts a topology together by name and hands it out checked: every constructor and importer goes through here.
 *
 * Mistakes are collected, each with the JSON pointer its caller gave, and thrown together by `build`, so that a file
 * is mended once. Ports of a switch are numbered from 1 in the order of connection unless an end names its number;
 * attributes of a link (rail, plane, pod) follow its lower end.
 * Not modelled: breakout ports, MLAG peer links, NICs with more than two fabric ports.
 */
import { linkId } from '../../core/elements.js';
import { nearestHint } from '../../core/nearest.js';
import { InputError, type InputIssue } from '../../core/problem.js';
import type { Device, Gpu, Link, Nic, Port, Tier, Topology } from './model.js';
import { reachabilityIssues } from './reachability.js';

/** Beyond this the fabric does not fit the simulator's memory in sensible time. */
export const MOST_LINKS = 65_536;
/** Routes are kept by switch and leaf, so their memory grows with the square of this. */
const MOST_SWITCHES = 4096;
const MOST_NICS_PER_HOST = 64;
/** Nobody reads more, and a hint costs time. */
const MOST_ISSUES = 50;
const MOST_HINTS = 8;
const TIER_LEVEL: Readonly<Record<Tier, number>> = { host: 0, leaf: 1, spine: 2, core: 3 };

export interface SwitchOptions {
  name: string;
  tier: Exclude<Tier, 'host'>;
  /** Distance from the hosts; that of the tier's name when left out. */
  tierLevel?: number;
  pod?: number;
  rail?: number;
  plane?: number;
  labels?: Readonly<Record<string, string>>;
  /** Number of ports the switch has; unlimited when left out. */
  portCount?: number;
  /** Where it was described, for messages. */
  pointer?: string;
}

export interface HostOptions {
  name: string;
  /** Number of fabric ports, 1 or 2, of each NIC in order. */
  nicPorts: readonly number[];
  pod?: number;
  labels?: Readonly<Record<string, string>>;
  pointer?: string;
}

export interface LinkOptions {
  rateGbps: number;
  delayNs: number;
  lossRatio?: number;
  rail?: number;
  plane?: number;
  pod?: number;
  labels?: Readonly<Record<string, string>>;
  pointer?: string;
}

export interface HostInterior {
  gpusPerHost: number;
  /** Gbps from a GPU into its host's scale-up network, 0 for none. */
  scaleUpGbps: number;
  /** GPU to GPU, one way. */
  scaleUpDelayNs: number;
}

interface DraftSwitch {
  numbers: Map<number, number>;
  next: number;
  portCount: number;
  pointer: string;
}

export class TopologyBuilder {
  private readonly devices: Device[] = [];
  private readonly nics: Nic[] = [];
  private readonly ports: Port[] = [];
  private readonly links: Link[] = [];
  private readonly deviceByName = new Map<string, Device>();
  private readonly hostPortByName = new Map<string, Port>();
  private readonly drafts = new Map<number, DraftSwitch>();
  private readonly issues: InputIssue[] = [];
  private readonly linkPointers: string[] = [];

  /** Adds a switch without ports; ports appear as links are connected. */
  addSwitch(options: SwitchOptions): void {
    if (this.drafts.size >= MOST_SWITCHES) {
      const message = `the fabric has more than ${MOST_SWITCHES} switches; that is the limit`;
      throw InputError.at(options.pointer ?? '', message);
    }
    const device = this.addDevice('switch', options.tier, options);
    if (device === undefined) return;
    device.tierLevel = options.tierLevel ?? device.tierLevel;
    device.rail = options.rail;
    device.plane = options.plane;
    this.drafts.set(device.index, {
      numbers: new Map(),
      next: 1,
      portCount: options.portCount ?? Infinity,
      pointer: options.pointer ?? '',
    });
  }

  /** Adds a host with its NICs and their ports (`host-1/nic-0`, or `/p0` and `/p1` of a dual-port NIC). */
  addHost(options: HostOptions): void {
    const { name, nicPorts, pointer = '' } = options;
    if (nicPorts.length === 0 || nicPorts.length > MOST_NICS_PER_HOST) {
      this.fail(pointer, `host ${name} has ${nicPorts.length} NICs; 1 to ${MOST_NICS_PER_HOST} are possible`);
      return;
    }
    const device = this.addDevice('host', 'host', options);
    if (device === undefined) return;
    nicPorts.forEach((count, position) => {
      const nic: Nic = {
        index: this.nics.length,
        name: `${name}/nic-${position}`,
        host: device.index,
        position,
        ports: [],
      };
      this.nics.push(nic);
      if (count !== 1 && count !== 2) this.fail(pointer, `${nic.name} has ${count} ports; a NIC has 1 or 2`);
      for (let number = 0; number < count; number++) {
        const port = this.addPort(count === 1 ? nic.name : `${nic.name}/p${number}`, device, nic.index);
        nic.ports.push(port.index);
        this.hostPortByName.set(port.name, port);
      }
    });
  }

  /**
   * Connects two ends: a switch (`leaf-3`, lowest free number), a switch port (`leaf-3/p17`) or a host port
   * (`host-1/nic-0`, `host-1/nic-0/p1`).
   */
  connect(endA: string, endB: string, options: LinkOptions): void {
    const { pointer = '' } = options;
    if (this.links.length >= MOST_LINKS) {
      throw InputError.at(pointer, `the fabric has more than ${MOST_LINKS} links; that is the limit`);
    }
    if (!(options.rateGbps > 0)) this.fail(`${pointer}/rate`, 'a link needs a rate above 0');
    const loss = options.lossRatio ?? 0;
    if (!(loss >= 0 && loss < 1)) this.fail(`${pointer}/loss`, `loss ${loss} is no probability below 1`);
    const a = this.portOf(endA, `${pointer}/a`);
    const b = this.portOf(endB, `${pointer}/b`);
    if (a === undefined || b === undefined) return;
    if (a.device === b.device) {
      this.fail(pointer, `${endA} and ${endB} are the same device; a link joins two`);
      return;
    }
    const [first, second] = a.name < b.name ? [a, b] : [b, a];
    const index = this.links.length;
    first.link = index;
    second.link = index;
    this.links.push(this.linkBetween(first, second, options));
    this.linkPointers.push(pointer);
  }

  /**
   * @throws InputError naming every mistake: duplicate names, unknown ends, ports in double or idle, switches with too
   *   many links, NICs that can't reach each other
   */
  build(interior: HostInterior): Topology {
    this.checkComplete();
    const gpus = this.gpus(interior.gpusPerHost);
    if (this.issues.length > 0) throw new InputError(this.issues);
    for (const [device, draft] of this.drafts) {
      const inOrder = [...draft.numbers].sort(([a], [b]) => a - b);
      this.devices[device].ports = inOrder.map(([, port]) => port);
    }
    const topology: Topology = {
      devices: this.devices,
      nics: this.nics,
      ports: this.ports,
      links: this.links,
      gpus,
      ...interior,
    };
    const islands = reachabilityIssues(topology);
    if (islands.length > 0) throw new InputError(islands);
    return topology;
  }

  private fail(pointer: string, message: string, hint?: string): void {
    if (this.issues.length >= MOST_ISSUES) return;
    this.issues.push(hint === undefined ? { pointer, message } : { pointer, message, hint });
  }

  private addDevice(
    role: Device['role'],
    tier: Tier,
    options: SwitchOptions | HostOptions,
  ): Device | undefined {
    const { name, pointer = '' } = options;
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name) || name.includes('--')) {
      this.fail(pointer, `"${name}" is no device name; use letters, digits, ".", "_" and single "-"`);
      return undefined;
    }
    if (this.deviceByName.has(name)) {
      this.fail(pointer, `the name ${name} is used twice`);
      return undefined;
    }
    const device: Device = {
      index: this.devices.length,
      name,
      role,
      tier,
      tierLevel: TIER_LEVEL[tier],
      pod: options.pod,
      labels: options.labels ?? {},
      ports: [],
    };
    this.devices.push(device);
    this.deviceByName.set(name, device);
    return device;
  }

  private addPort(name: string, device: Device, nic: number): Port {
    const port: Port = { index: this.ports.length, name, device: device.index, nic, link: -1 };
    this.ports.push(port);
    device.ports.push(port.index);
    return port;
  }

  private portOf(end: string, pointer: string): Port | undefined {
    const hostPort = this.hostPortByName.get(end);
    if (hostPort !== undefined) {
      if (hostPort.link < 0) return hostPort;
      this.fail(pointer, `port ${end} has a link already`);
      return undefined;
    }
    const match = /^([^/]+)(?:\/p([1-9]\d*))?$/.exec(end);
    const device = match === null ? undefined : this.deviceByName.get(match[1]);
    const draft = device === undefined ? undefined : this.drafts.get(device.index);
    if (match === null || device === undefined || draft === undefined) {
      this.unknownEnd(end, device, pointer);
      return undefined;
    }
    if (match[2] === undefined) while (draft.numbers.has(draft.next)) draft.next++;
    const number = match[2] === undefined ? draft.next : Number(match[2]);
    if (draft.numbers.has(number)) {
      this.fail(pointer, `port ${end} has a link already`);
      return undefined;
    }
    if (number > draft.portCount) {
      this.fail(pointer, `${device.name} has ${draft.portCount} ports; this link would need port ${number}`);
      return undefined;
    }
    const port = this.addPort(`${device.name}/p${number}`, device, -1);
    draft.numbers.set(number, port.index);
    return port;
  }

  private unknownEnd(end: string, device: Device | undefined, pointer: string): void {
    if (device?.role === 'host') {
      const known = device.ports.map((port) => this.ports[port].name);
      this.fail(pointer, `${end} is a host; name one of its ports (${known.slice(0, 4).join(', ')})`);
      return;
    }
    const choices = [...this.hostPortByName.keys(), ...this.deviceByName.keys()];
    this.fail(
      pointer,
      `there is no port or switch "${end}"; an end is a switch (leaf-3), its port (leaf-3/p17) or a NIC (host-1/nic-0)`,
      this.issues.length < MOST_HINTS ? nearestHint(end, choices) : undefined,
    );
  }

  private linkBetween(portA: Port, portB: Port, options: LinkOptions): Link {
    const ends = [this.devices[portA.device], this.devices[portB.device]];
    const [lower, upper] = ends[0].tierLevel <= ends[1].tierLevel ? ends : [ends[1], ends[0]];
    // A host's own link belongs to the rail and plane of its leaf: the host has no single one.
    const owner = lower.role === 'host' ? upper : lower;
    return {
      index: this.links.length,
      id: linkId(portA.name, portB.name),
      portA: portA.index,
      portB: portB.index,
      rateGbps: options.rateGbps,
      delayNs: options.delayNs,
      lossRatio: options.lossRatio ?? 0,
      tier: `${lower.tier}-${upper.tier}`,
      rail: options.rail ?? owner.rail,
      plane: options.plane ?? owner.plane ?? upper.plane,
      pod: options.pod ?? owner.pod ?? lower.pod,
      labels: options.labels ?? {},
    };
  }

  private checkComplete(): void {
    if (this.nics.length === 0) this.fail('', 'the fabric has no hosts');
    for (const port of this.ports) {
      if (port.link < 0) this.fail('', `port ${port.name} has no link`);
    }
    for (const [device, draft] of this.drafts) {
      if (draft.numbers.size === 0) {
        this.fail(draft.pointer, `switch ${this.devices[device].name} has no links`);
      }
    }
    for (const link of this.links) {
      const ends = [this.ports[link.portA], this.ports[link.portB]];
      if (ends.every((port) => port.nic >= 0)) {
        const pointer = this.linkPointers[link.index];
        this.fail(pointer, `${ends[0].name} and ${ends[1].name} are both NICs; a NIC connects to a switch`);
      }
    }
  }

  /** GPU g of a host with n NICs sends through NIC g × n / gpusPerHost. */
  private gpus(gpusPerHost: number): Gpu[] {
    const nicsOf = new Map<number, Nic[]>();
    for (const nic of this.nics) nicsOf.set(nic.host, [...(nicsOf.get(nic.host) ?? []), nic]);
    const gpus: Gpu[] = [];
    for (const [host, nics] of nicsOf) {
      if (gpusPerHost % nics.length !== 0) {
        this.fail(
          '',
          `${gpusPerHost} GPUs of ${this.devices[host].name} don't divide among ${nics.length} NICs`,
        );
        continue;
      }
      for (let position = 0; position < gpusPerHost; position++) {
        const nic = nics[Math.floor((position * nics.length) / gpusPerHost)].index;
        gpus.push({ host, position, nic });
      }
    }
    return gpus;
  }
}
