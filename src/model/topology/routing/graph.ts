/**
 * The fabric as a routing protocol sees it: nodes are switches and NICs, edges are ports with a way up or down.
 *
 * Flat arrays made once per topology and shared by every route table. A node's number is its device index for a
 * switch and `devices.length + nic` for a NIC (numbers of hosts stay unused). Way of an edge: up when the other end
 * has a higher tier, down when lower, flat when equal. NICs are never transit.
 * Not modelled: link costs; every link counts one hop.
 */
import { directionFrom, peerPort, type Topology } from '../model.js';

/** Ports of every node, one list after the other: those of node n are `ports[start[n]] … ports[start[n + 1] - 1]`. */
export interface PortLists {
  start: Int32Array;
  ports: Int32Array;
}

export class RoutingGraph {
  /** Device and NIC nodes together; arrays over nodes have this length. */
  readonly nodeCount: number;
  /** One more than the highest device index of a switch; arrays over switches have this length. */
  readonly switchEnd: number;
  /** By port: the port at the other end of its link. */
  readonly peerPort: Int32Array;
  /** By port: the node at the other end of its link, and the node that owns the port. */
  readonly peerNode: Int32Array;
  readonly ownNode: Int32Array;
  /** By port: the direction it sends on, `2 * link` or `2 * link + 1`. */
  readonly direction: Int32Array;
  /** By port. */
  readonly linkOfPort: Int32Array;
  /** Switch-to-switch ports by the way they lead, in port order. */
  readonly up: PortLists;
  readonly flat: PortLists;
  readonly down: PortLists;
  /** Fabric ports of each NIC (index: NIC), in port order. */
  readonly nicPorts: PortLists;
  /** IPv4 address of each NIC as an unsigned 32-bit number (index: NIC); see {@link addressOf}. */
  readonly addresses: Uint32Array;

  constructor(readonly topology: Topology) {
    const { devices, nics, ports } = topology;
    this.nodeCount = devices.length + nics.length;
    this.switchEnd = 1 + devices.findLastIndex((device) => device.role === 'switch');
    this.ownNode = Int32Array.from(ports, (port) =>
      port.nic >= 0 ? devices.length + port.nic : port.device,
    );
    this.peerPort = Int32Array.from(ports, (port) => peerPort(topology, port.index));
    this.peerNode = this.peerPort.map((port) => this.ownNode[port]);
    this.direction = Int32Array.from(ports, (port) => directionFrom(topology, port.index));
    this.linkOfPort = Int32Array.from(ports, (port) => port.link);
    this.up = this.switchPorts((step) => step > 0);
    this.flat = this.switchPorts((step) => step === 0);
    this.down = this.switchPorts((step) => step < 0);
    this.nicPorts = toLists(nics.map((nic) => nic.ports));
    this.addresses = addressesOf(topology);
  }

  nodeOfNic(nic: number): number {
    return this.topology.devices.length + nic;
  }

  /** NIC index of a node, -1 for a switch. */
  nicOfNode(node: number): number {
    return Math.max(-1, node - this.topology.devices.length);
  }

  /** Name of the switch or NIC. */
  nodeName(node: number): string {
    const { devices, nics } = this.topology;
    return node < devices.length ? devices[node].name : nics[node - devices.length].name;
  }

  private switchPorts(wanted: (step: number) => boolean): PortLists {
    const { devices } = this.topology;
    return toLists(
      devices.map((device) =>
        device.role === 'host'
          ? []
          : device.ports.filter((port) => {
              const peer = this.peerNode[port];
              return peer < devices.length && wanted(devices[peer].tierLevel - device.tierLevel);
            }),
      ),
    );
  }
}

function toLists(lists: readonly (readonly number[])[]): PortLists {
  const start = new Int32Array(lists.length + 1);
  lists.forEach((list, index) => (start[index + 1] = start[index] + list.length));
  return { start, ports: Int32Array.from(lists.flat()) };
}

/**
 * NIC n of the h-th host (both from 0) has the address 10.(h / 256).(h mod 256).(n + 1): stable, and unlike a random
 * one it shows the structure that real address plans feed into the hash.
 */
function addressesOf(topology: Topology): Uint32Array {
  const ordinal = new Map<number, number>();
  for (const device of topology.devices) if (device.role === 'host') ordinal.set(device.index, ordinal.size);
  return Uint32Array.from(topology.nics, (nic) => {
    const host = ordinal.get(nic.host) ?? 0;
    return ((10 << 24) | ((host & 0xffff) << 8) | ((nic.position + 1) & 0xff)) >>> 0;
  });
}

/** Dotted form of a NIC's address. */
export function addressOf(graph: RoutingGraph, nic: number): string {
  const address = graph.addresses[nic];
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 0xff).join('.');
}
