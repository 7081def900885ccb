/**
 * A hand-made two-tier fabric for the specs of this room: hosts spread over leaves in order, each leaf with one
 * link to one spine. Real builders live in topology/; these specs need only hosts, GPUs, NICs and rates, and stay
 * independent of how builders number things.
 */
import { linkId } from '../../../core/elements.js';
import type { Device, Gpu, Link, Nic, Port, Topology } from '../../topology/model.js';

export interface SmallTopologyOptions {
  hosts: number;
  gpusPerHost?: number;
  nicsPerHost?: number;
  leaves?: number;
  rateGbps?: number;
  delayNs?: number;
  scaleUpGbps?: number;
  scaleUpDelayNs?: number;
}

export function smallTopology(options: SmallTopologyOptions): Topology {
  const {
    hosts,
    gpusPerHost = 1,
    nicsPerHost = gpusPerHost,
    leaves = 1,
    rateGbps = 100,
    delayNs = 1000,
  } = options;
  const { scaleUpGbps = gpusPerHost > 1 ? 2880 : 0, scaleUpDelayNs = 500 } = options;
  const devices: Device[] = [];
  const nics: Nic[] = [];
  const ports: Port[] = [];
  const links: Link[] = [];
  const gpus: Gpu[] = [];
  const addDevice = (name: string, role: Device['role'], tier: Device['tier'], tierLevel: number): number =>
    devices.push({ index: devices.length, name, role, tier, tierLevel, labels: {}, ports: [] }) - 1;
  const addPort = (name: string, device: number, nic: number): number => {
    const index = ports.push({ index: ports.length, name, device, nic, link: -1 }) - 1;
    devices[device].ports.push(index);
    return index;
  };
  const connect = (a: number, b: number, tier: string): void => {
    const [portA, portB] = ports[a].name < ports[b].name ? [a, b] : [b, a];
    const id = linkId(ports[a].name, ports[b].name);
    const index = links.length;
    links.push({ index, id, portA, portB, rateGbps, delayNs, lossRatio: 0, tier, labels: {} });
    ports[a].link = index;
    ports[b].link = index;
  };
  const switchPort = (device: number): number =>
    addPort(`${devices[device].name}/p${devices[device].ports.length + 1}`, device, -1);

  const leafIndices = Array.from({ length: leaves }, (_, leaf) =>
    addDevice(`leaf-${leaf + 1}`, 'switch', 'leaf', 1),
  );
  if (leaves > 1) {
    const spine = addDevice('spine-1', 'switch', 'spine', 2);
    for (const leaf of leafIndices) connect(switchPort(leaf), switchPort(spine), 'leaf-spine');
  }
  for (let number = 0; number < hosts; number++) {
    const host = addDevice(`host-${number + 1}`, 'host', 'host', 0);
    const leaf = leafIndices[Math.floor((number * leaves) / hosts)];
    for (let position = 0; position < nicsPerHost; position++) {
      const nic = nics.length;
      const name = `host-${number + 1}/nic-${position}`;
      const port = addPort(name, host, nic);
      nics.push({ index: nic, name, host, position, ports: [port] });
      connect(port, switchPort(leaf), 'host-leaf');
    }
    for (let position = 0; position < gpusPerHost; position++) {
      const nic = number * nicsPerHost + Math.floor((position * nicsPerHost) / gpusPerHost);
      gpus.push({ host, position, nic });
    }
  }
  return { devices, nics, ports, links, gpus, gpusPerHost, scaleUpGbps, scaleUpDelayNs };
}
