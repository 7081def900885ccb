/**
 * The same fabric and evidence under other device names, for the law that names carry no information.
 */
import { linkId } from '../../core/elements.js';
import { seriesWith } from '../../model/telemetry/series.js';
import type { Topology } from '../../model/topology/model.js';
import type { DiagnosisInput } from '../index.js';

/** @param names new name of each device, by index */
export function renameDevices(
  input: DiagnosisInput,
  names: readonly string[],
): { input: DiagnosisInput; rename: (id: string) => string } {
  const { topology } = input;
  const deviceOf = new Map(topology.devices.map((device) => [device.name, device.index]));
  const renameName = (name: string): string => {
    const [device, ...rest] = name.split('/');
    const index = deviceOf.get(device);
    return index === undefined ? name : [names[index], ...rest].join('/');
  };
  const rename = (id: string): string => {
    const [type, name] = [id.slice(0, id.indexOf(':')), id.slice(id.indexOf(':') + 1)];
    if (type !== 'link') return `${type}:${renameName(name)}`;
    const [one, other] = name.split('--').map(renameName);
    return linkId(one, other);
  };
  const series = input.evidence.series.map((one) => seriesWith(one, { element: rename(one.element) }));
  return {
    input: {
      ...input,
      topology: renameTopology(topology, names, renameName),
      evidence: { ...input.evidence, series },
    },
    rename,
  };
}

function renameTopology(
  topology: Topology,
  names: readonly string[],
  renameName: (name: string) => string,
): Topology {
  const ports = topology.ports.map((port) => ({ ...port, name: renameName(port.name) }));
  return {
    ...topology,
    devices: topology.devices.map((device) => ({ ...device, name: names[device.index] })),
    nics: topology.nics.map((nic) => ({ ...nic, name: renameName(nic.name) })),
    ports,
    links: topology.links.map((link) => {
      const swapped = ports[link.portA].name > ports[link.portB].name;
      const [portA, portB] = swapped ? [link.portB, link.portA] : [link.portA, link.portB];
      return { ...link, id: linkId(ports[portA].name, ports[portB].name), portA, portB };
    }),
  };
}
