/** The parts of a lab: its devices, their ports, and how both are reached. */
import type { Device, Port } from '../../../model/topology/model.js';
import type { Dialect } from '../dialects/dialect.js';
import type { Place } from '../transport/place.js';

export interface LabNode {
  /** Index into the topology's devices. */
  device: number;
  name: string;
  role: 'host' | 'switch';
  tier: 'host' | 'leaf' | 'spine';
  /** Of this host; empty where the device is another machine. */
  namespace: string;
  place: Place;
  dialect: Dialect;
  /** Its run files: of a switch FRR's configuration, logs and sockets (`vtysh --vty_socket FOLDER`). */
  folder: string;
  loopback: string;
  /** Of a host: where its default route leads, where there is one to give back. */
  gateway?: string;
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
  /** The network of that address, as a route names it. */
  prefix?: string;
}

/** Where devices are and how they are told, whoever has built them. */
export interface Reach {
  /** Devices are other machines, and nothing here has built them. */
  isRemote: boolean;
  /** For run files, on a disk that all hosts share. */
  folder: string;
  ofDevice(device: Device): Pick<LabNode, 'namespace' | 'place' | 'dialect' | 'folder' | 'gateway'>;
  ofPort(port: Port): Pick<LabPort, 'interface' | 'address' | 'prefix'>;
}
