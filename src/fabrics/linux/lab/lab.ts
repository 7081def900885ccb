/**
 * A lab as its parts: which namespace is which device, which interface is which port, who has which address.
 *
 * All of it follows from the Fabric document, so that another process finds the same names. Hosts have one NIC and a /31
 * towards their leaf; links between switches have no addresses (BGP unnumbered over IPv6 link-local); spines share an AS
 * number, so that no path comes back through another spine (RFC 7938). Not modelled: more than two tiers, several NICs.
 */
import { join } from 'node:path';
import { listChoices } from '../../../kernel/nearest.js';
import { InputError, withPointer } from '../../../kernel/problem.js';
import type { FabricDefinition, FabricSettings } from '../../contract/definition.js';
import { labSettingsSchema, type LabSettings } from '../../contract/lab-settings.js';
import { peerPort, type Topology } from '../../../topology/model.js';
import { buildTopology } from '../../../topology/topology-spec.js';
import { NamespacePlace, type Place } from '../transport/place.js';

/** Run files of labs; gone after a reboot, as namespaces are, and open to the account that FRR runs as. */
export const LABS_FOLDER = '/run/fabricdrill/labs';

/** The table of counters that `fabrics up` gives every device, and the mark of a damaged frame in it. */
export const RULES_TABLE = 'fabricdrill';
export const DAMAGED_MARK = 0x0fd1;

const SPINE_AS = 65_000;
const FIRST_LEAF_AS = 65_101;
const MOST_DEVICES = 120;
/** Above it a veth with a token bucket no longer keeps its rate on a small machine. */
const MOST_GBPS = 1;

export interface LabNode {
  /** Index into the topology's devices. */
  device: number;
  name: string;
  role: 'host' | 'switch';
  tier: 'host' | 'leaf' | 'spine';
  namespace: string;
  place: Place;
  /** Its run files: of a switch FRR's configuration, logs and sockets (`vtysh --vty_socket FOLDER`). */
  folder: string;
  loopback: string;
  /** Of a switch. */
  autonomousSystem?: number;
}

export interface LabPort {
  /** Index into the topology's ports. */
  port: number;
  /** `leaf-1/p2` */
  name: string;
  /** Within its node's namespace: `p2`, `nic-0`. */
  interface: string;
  node: LabNode;
  rateMbps: number;
  /** Both ends of a host's link have one; without mask. */
  address?: string;
}

export class Lab {
  readonly folder: string;
  readonly nodes: readonly LabNode[];
  readonly ports: readonly LabPort[];

  /** @throws InputError with pointers into the Fabric document, for what no such lab can be */
  static from(definition: FabricDefinition): Lab {
    const topology = withPointer('/spec/topology', () => buildTopology(definition.spec.topology));
    requireTwoTiers(topology);
    return new Lab(
      definition.name,
      topology,
      definition.spec.settings,
      definition.spec.lab ?? labSettingsSchema.parse({}),
    );
  }

  private constructor(
    readonly name: string,
    readonly topology: Topology,
    readonly settings: FabricSettings,
    readonly lab: LabSettings,
  ) {
    this.folder = join(LABS_FOLDER, name);
    const leaves = topology.devices.filter(({ tier }) => tier === 'leaf').map(({ index }) => index);
    this.nodes = topology.devices.map((device): LabNode => {
      const namespace = `${lab.prefix ?? name.toLowerCase()}-${device.name}`;
      const tier = device.tier as LabNode['tier'];
      return {
        device: device.index,
        name: device.name,
        role: device.role,
        tier,
        namespace,
        place: new NamespacePlace(namespace),
        folder: join(this.folder, device.name),
        loopback: `10.254.${(device.index + 1) >> 8}.${(device.index + 1) & 255}`,
        ...(tier === 'spine' ? { autonomousSystem: SPINE_AS } : {}),
        ...(tier === 'leaf' ? { autonomousSystem: FIRST_LEAF_AS + leaves.indexOf(device.index) } : {}),
      };
    });
    this.ports = topology.ports.map((port): LabPort => {
      const address = addressOf(topology, port.index);
      return {
        port: port.index,
        name: port.name,
        interface: port.name.slice(port.name.lastIndexOf('/') + 1),
        node: this.nodes[port.device],
        rateMbps: topology.links[port.link].rateGbps * 1000,
        ...(address === undefined ? {} : { address }),
      };
    });
  }

  get switches(): LabNode[] {
    return this.nodes.filter(({ role }) => role === 'switch');
  }

  get hosts(): LabNode[] {
    return this.nodes.filter(({ role }) => role === 'host');
  }

  get jobsFolder(): string {
    return join(this.folder, 'jobs');
  }

  get telemetryFolder(): string {
    return join(this.folder, 'telemetry');
  }

  /** Impairments in place: what undoes each of them, and their timers. */
  get undoFolder(): string {
    return join(this.folder, 'undo');
  }

  portsOf(node: LabNode): LabPort[] {
    return this.topology.devices[node.device].ports.map((port) => this.ports[port]);
  }

  peerOf(port: LabPort): LabPort {
    return this.ports[peerPort(this.topology, port.port)];
  }

  /** The port of a host. @param host device index */
  hostPort(host: number): LabPort {
    return this.ports[this.topology.devices[host].ports[0]];
  }

  /** @param host device index */
  hostAddress(host: number): string {
    return this.hostPort(host).address!;
  }

  /** Bytes of an IP packet: payload, TCP header with timestamps, IP header. */
  get mtuBytes(): number {
    return this.settings.mtu + TCP_BYTES + IP_BYTES;
  }
}

const TCP_BYTES = 32;
const IP_BYTES = 20;
/** What the token bucket counts beside an IP packet: addresses and type of the frame. */
export const FRAME_BYTES = 14;
/** Of the `transport` of a lab's description: bytes a data packet adds, and those of an acknowledgement. */
export const HEADER_BYTES = TCP_BYTES + IP_BYTES + FRAME_BYTES;

function requireTwoTiers(topology: Topology): void {
  const refuse = (message: string, hint: string): never => {
    throw InputError.at('/spec/topology', message, hint);
  };
  const tall = topology.devices.filter(({ tier }) => !['host', 'leaf', 'spine'].includes(tier));
  if (tall.length > 0) {
    const names = listChoices(
      tall.map(({ name }) => name),
      3,
    );
    refuse(`a Linux lab has leaves and spines; ${names} are of another tier`, 'take builder: leaf-spine');
  }
  if (topology.devices.length > MOST_DEVICES) {
    const message = `${topology.devices.length} devices are more than one machine can be (${MOST_DEVICES})`;
    refuse(message, 'take fewer leaves, spines or hosts per leaf');
  }
  for (const device of topology.devices.filter(({ role }) => role === 'host')) {
    if (device.ports.length === 1) continue;
    const message = `a host of a Linux lab has one NIC with one port; ${device.name} has ${device.ports.length} ports`;
    refuse(message, 'write gpusPerHost: 1, or nicsPerHost: 1');
  }
  const fast = topology.links.find(({ rateGbps }) => rateGbps > MOST_GBPS);
  if (fast === undefined) return;
  const message = `${fast.id} is to run at ${fast.rateGbps}Gbps, and Linux keeps no rate above ${MOST_GBPS}Gbps here`;
  refuse(message, 'write hostRate: 50Mbps and fabricRate: 50Mbps; up to 100Mbps rates are exact');
}

/** The k-th host link, by port index of its host, has the k-th /31 of 10.0.0.0/9; the leaf is the even end. */
function addressOf(topology: Topology, index: number): string | undefined {
  const ends = [index, peerPort(topology, index)];
  const host = ends.find((port) => topology.ports[port].nic >= 0);
  if (host === undefined) return undefined;
  const number = 2 * topology.ports[host].nic + (host === index ? 1 : 0);
  return `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`;
}
