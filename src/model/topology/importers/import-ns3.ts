/**
 * Import of ns-3 topology files: `nodes switches links`, switch ids, links.
 *
 * Every node that is not a switch is a host with one NIC and one GPU; a host with two links has a dual-port NIC.
 * Source of the format: the HPCC simulator (`simulation/mix`), used by many ns-3 forks since.
 */
import { nameFabric } from './fabric-graph.js';
import {
  checkNodeCount,
  lineError,
  readLinkRows,
  readSwitchIds,
  textLines,
  wholeNumber,
  type ImportedTopology,
} from './topology-text.js';

/** @throws InputError with the line of each mistake */
export function importNs3(text: string): ImportedTopology {
  const lines = textLines(text);
  const [header] = lines;
  if (header === undefined) throw lineError(1, 'the file is empty');
  if (header.fields.length !== 3) {
    const message = `${header.fields.length} fields in the header; ns-3 has 3: nodes, switches, links`;
    const hint = header.fields.length === 6 ? 'this looks like a SimAI file: use --format simai' : undefined;
    throw lineError(header.number, message, hint);
  }
  const [nodes, switchCount, links] = header.fields.map((field) => {
    const value = wholeNumber(field);
    if (value === undefined || value === 0) throw lineError(header.number, `"${field}" is no number above 0`);
    return value;
  });
  checkNodeCount(header, nodes, links);
  if (switchCount >= nodes) {
    throw lineError(header.number, `${switchCount} switches among ${nodes} nodes leave no host`);
  }
  const notes: string[] = [];
  const switches = readSwitchIds(lines[1], switchCount, nodes);
  const rows = readLinkRows(lines.slice(2), links, nodes, notes);
  const isSwitch = new Set(switches);
  const hosts = Array.from({ length: nodes }, (_, id) => id).filter((id) => !isSwitch.has(id));
  const nics = new Map(hosts.map((id, index) => [id, { host: index + 1, nic: 0 }]));
  return { spec: nameFabric({ switches, nics, rows, gpusPerHost: 1 }), notes };
}
