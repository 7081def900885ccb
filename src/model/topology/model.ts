/**
 * The fabric as a graph: devices, ports, links, by index for the simulator and by name for people.
 *
 * Everything a Clos of any shape needs, nothing vendor specific. A NIC is a port owner inside a host: single-port
 * NICs have one fabric port with the NIC's own name (`host-12/nic-4`), dual-port NICs have `host-12/nic-4/p0` and
 * `/p1`. Switch ports are `leaf-3/p17`, numbered from 1 in a stable order. Scale-up networks (NVLink, NVSwitch) are
 * a property of a host, not part of the fabric graph: no fault is injected there.
 * Not modelled: linecards, breakout cables, MLAG peer links.
 */

export type DeviceRole = 'host' | 'switch';

/** Tier of a switch, from the hosts upward; `host` for hosts. A name people use; ordering is `tierLevel`. */
export type Tier = 'host' | 'leaf' | 'spine' | 'core';

export interface Device {
  index: number;
  /** `leaf-3`, `spine-1`, `core-2`, `host-12`. */
  name: string;
  role: DeviceRole;
  tier: Tier;
  /** 0 for hosts, 1 leaf, 2 spine, 3 core. */
  tierLevel: number;
  /** 0-based pod (fat tree), rail (rail-optimised), plane (dual plane); undefined where there is none. */
  pod?: number;
  rail?: number;
  plane?: number;
  labels: Readonly<Record<string, string>>;
  /** Port indices in port order. */
  ports: number[];
}

export interface Nic {
  index: number;
  /** `host-12/nic-4` */
  name: string;
  /** Device index of the host. */
  host: number;
  /** Position within the host; rail number in rail-optimised fabrics. */
  position: number;
  /** One or two fabric ports. */
  ports: number[];
}

export interface Port {
  index: number;
  /** `leaf-3/p17`, `host-12/nic-4` or `host-12/nic-4/p1`. */
  name: string;
  device: number;
  /** NIC index for host ports, -1 for switch ports. */
  nic: number;
  link: number;
}

export interface Link {
  index: number;
  /** Element id, `link:host-12/nic-4--leaf-3/p17`. */
  id: string;
  /** Port indices; `portA` is the lower end of the sorted id. */
  portA: number;
  portB: number;
  rateGbps: number;
  /** One way. */
  delayNs: number;
  /** Packet loss probability at the receiving end, from the fabric's description (0 when healthy). */
  lossRatio: number;
  /** `host-leaf`, `leaf-spine`, `spine-core`, … lower tier first. */
  tier: string;
  rail?: number;
  plane?: number;
  pod?: number;
  labels: Readonly<Record<string, string>>;
}

/** A GPU and the NIC it sends through. */
export interface Gpu {
  /** Device index of the host. */
  host: number;
  /** 0-based within the host. */
  position: number;
  /** NIC index. */
  nic: number;
}

export interface Topology {
  devices: readonly Device[];
  nics: readonly Nic[];
  ports: readonly Port[];
  links: readonly Link[];
  gpus: readonly Gpu[];
  gpusPerHost: number;
  /** Rate of a GPU into its host's scale-up network, each way; 0 when there is none (traffic takes the NIC). */
  scaleUpGbps: number;
  scaleUpDelayNs: number;
}

/**
 * Directions of a link are numbered `2 * link` (portA sends) and `2 * link + 1` (portB sends): the simulator's
 * capacities, loads and counters are arrays over directions.
 */
export const directionFrom = (topology: Topology, port: number): number => {
  const link = topology.ports[port].link;
  return topology.links[link].portA === port ? 2 * link : 2 * link + 1;
};

/** The port at the other end of a port's link. */
export const peerPort = (topology: Topology, port: number): number => {
  const link = topology.links[topology.ports[port].link];
  return link.portA === port ? link.portB : link.portA;
};
