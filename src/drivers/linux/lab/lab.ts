/**
 * A lab as its parts: which namespace is which device, which interface is which port, who has which address.
 *
 * All of it follows from the Fabric document, so that another process finds the same names. Hosts have one NIC and a /31
 * towards their leaf; links between switches have no addresses (BGP unnumbered over IPv6 link-local); spines share an AS
 * number, so that no path comes back through another spine (RFC 7938). Not modelled: more than two tiers, several NICs.
 */
import { join } from 'node:path';
import { listChoices } from '../../../core/nearest.js';
import { InputError, withPointer } from '../../../core/problem.js';
import type { FabricDefinition, FabricSettings } from '../../../fabric-api/definition.js';
import { labSettingsSchema, type LabSettings } from '../../../fabric-api/lab-settings.js';
import type { TransportSettings } from '../../../fabric-api/transport-settings.js';
import { peerPort, type Device, type Topology } from '../../../model/topology/model.js';
import { buildTopology } from '../../../model/topology/topology-spec.js';
import { DIALECTS } from '../dialects/catalog.js';
import { interfaceWord } from './interface-word.js';
import type { LabNode, LabPort, Reach } from './parts.js';
import { reachOverSsh } from '../site/reach.js';
import { NamespacePlace } from '../transport/place.js';
import { LABS_FOLDER } from './record.js';

/** The table of counters that `fabrics up` gives every device, and the mark of a damaged frame in it. */
export const RULES_TABLE = 'fabricdrill';
export const DAMAGED_MARK = 0x0fd1;

const SPINE_AS = 65_000;
const FIRST_LEAF_AS = 65_101;
const MOST_DEVICES = 120;
/** Above it a veth with a token bucket no longer keeps its rate on a small machine. */
const MOST_GBPS = 1;

export class Lab {
  readonly folder: string;
  readonly isRemote: boolean;
  readonly nodes: readonly LabNode[];
  readonly ports: readonly LabPort[];

  /**
   * @param transport of a site, put together with the server's settings
   * @throws InputError with pointers into the Fabric document, for what no such lab can be
   */
  static from(definition: FabricDefinition, transport?: TransportSettings): Lab {
    const { name, spec } = definition;
    const topology = withPointer('/spec/topology', () => buildTopology(spec.topology));
    requireTwoTiers(topology);
    const lab = spec.lab ?? labSettingsSchema.parse({});
    if (transport !== undefined) {
      return new Lab(name, topology, spec.settings, lab, reachOverSsh(name, topology, transport));
    }
    requireOneMachine(topology);
    return new Lab(name, topology, spec.settings, lab, reachHere(name, topology, lab));
  }

  private constructor(
    readonly name: string,
    readonly topology: Topology,
    readonly settings: FabricSettings,
    readonly lab: LabSettings,
    reach: Reach,
  ) {
    this.folder = reach.folder;
    this.isRemote = reach.isRemote;
    const leaves = topology.devices.filter(({ tier }) => tier === 'leaf').map(({ index }) => index);
    this.nodes = topology.devices.map((device): LabNode => {
      const tier = device.tier as LabNode['tier'];
      return {
        device: device.index,
        name: device.name,
        role: device.role,
        tier,
        ...reach.ofDevice(device),
        loopback: `10.254.${(device.index + 1) >> 8}.${(device.index + 1) & 255}`,
        ...(tier === 'spine' ? { autonomousSystem: SPINE_AS } : {}),
        ...(tier === 'leaf' ? { autonomousSystem: FIRST_LEAF_AS + leaves.indexOf(device.index) } : {}),
      };
    });
    this.ports = topology.ports.map((port): LabPort => ({
      port: port.index,
      name: port.name,
      node: this.nodes[port.device],
      rateMbps: topology.links[port.link].rateGbps * 1000,
      ...reach.ofPort(port),
    }));
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

  /** A host's default route as words of `ip route`; undefined where there is none to give back. */
  defaultRoute({ gateway }: LabNode): string[] | undefined {
    if (gateway === undefined) return undefined;
    const timeout = this.isRemote ? [] : ['rto_min', `${Math.round(this.lab.leastTimeout / 1e6)}ms`];
    return ['default', 'via', gateway, ...timeout];
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
  for (const device of topology.devices.filter(({ role }) => role === 'host')) {
    if (device.ports.length === 1) continue;
    const message = `a host of a Linux lab has one NIC with one port; ${device.name} has ${device.ports.length} ports`;
    refuse(message, 'write gpusPerHost: 1, or nicsPerHost: 1');
  }
}

function requireOneMachine(topology: Topology): void {
  if (topology.devices.length > MOST_DEVICES) {
    const message = `${topology.devices.length} devices are more than one machine can be (${MOST_DEVICES})`;
    throw InputError.at('/spec/topology', message, 'take fewer leaves, spines or hosts per leaf');
  }
  const fast = topology.links.find(({ rateGbps }) => rateGbps > MOST_GBPS);
  if (fast === undefined) return;
  const message = `${fast.id} is to run at ${fast.rateGbps}Gbps, and Linux keeps no rate above ${MOST_GBPS}Gbps here`;
  throw InputError.at(
    '/spec/topology',
    message,
    'write hostRate: 50Mbps and fabricRate: 50Mbps; up to 100Mbps rates are exact',
  );
}

/** Namespaces of this host, told without a way between. */
function reachHere(name: string, topology: Topology, lab: LabSettings): Reach {
  const folder = join(LABS_FOLDER, name);
  const addressAt = (device: Device): string | undefined =>
    device.role === 'host' ? addressOf(topology, peerPort(topology, device.ports[0])) : undefined;
  return {
    isRemote: false,
    folder,
    ofDevice: (device) => {
      const namespace = `${lab.prefix ?? name.toLowerCase()}-${device.name}`;
      const gateway = addressAt(device);
      return {
        namespace,
        place: new NamespacePlace(namespace),
        dialect: DIALECTS[device.role === 'host' ? 'linux' : 'frr'],
        folder: join(folder, device.name),
        ...(gateway === undefined ? {} : { gateway }),
      };
    },
    ofPort: ({ index, name: portName }) => {
      const address = addressOf(topology, index);
      const [even] = [index, peerPort(topology, index)].filter((port) => topology.ports[port].nic < 0);
      return {
        interface: interfaceWord(portName),
        ...(address === undefined ? {} : { address, prefix: `${addressOf(topology, even)}/31` }),
      };
    },
  };
}

/** The k-th host link, by port index of its host, has the k-th /31 of 10.0.0.0/9; the leaf is the even end. */
function addressOf(topology: Topology, index: number): string | undefined {
  const ends = [index, peerPort(topology, index)];
  const host = ends.find((port) => topology.ports[port].nic >= 0);
  if (host === undefined) return undefined;
  const number = 2 * topology.ports[host].nic + (host === index ? 1 : 0);
  return `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`;
}
