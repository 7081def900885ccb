/**
 * Import of SimAI topology files: `nodes gpus_per_server nv_switches switches links gpu_type`, switch ids, links.
 *
 * A node that is no switch is a GPU with its NIC; the GPUs at one NVSwitch are one server, or, without NVSwitches,
 * every `gpus_per_server` in the order of ids. NVSwitches come first among the switch ids; their links are the
 * server's scale-up network and no part of the fabric.
 * Source of the format: SimAI's topology generator. Not kept: the GPU type, which the notes mention.
 */
import { parseDurationNs, parseRateGbps } from '../../../core/units.js';
import { nameFabric, type NicPlace } from './fabric-graph.js';
import {
  checkNodeCount,
  lineError,
  readLinkRows,
  readSwitchIds,
  textLines,
  wholeNumber,
  type ImportedTopology,
  type LinkRow,
  type TextLine,
} from './topology-text.js';

interface Header {
  nodes: number;
  gpusPerServer: number;
  nvSwitches: number;
  switches: number;
  links: number;
  gpuType: string;
}

/** @throws InputError with the line of each mistake */
export function importSimai(text: string): ImportedTopology {
  const lines = textLines(text);
  const header = readHeader(lines[0]);
  const notes: string[] = [];
  const ids = readSwitchIds(lines[1], header.nvSwitches + header.switches, header.nodes);
  const rows = readLinkRows(lines.slice(2), header.links, header.nodes, notes);
  const nvSwitches = new Set(ids.slice(0, header.nvSwitches));
  const switches = ids.slice(header.nvSwitches);
  const isSwitch = new Set(ids);
  const gpus = Array.from({ length: header.nodes }, (_, id) => id).filter((id) => !isSwitch.has(id));
  const scaleUpRows = rows.filter((row) => nvSwitches.has(row.a) || nvSwitches.has(row.b));
  const servers = serversOf(gpus, header, nvSwitches, scaleUpRows);
  const nics = new Map<number, NicPlace>();
  servers.forEach((server, index) => server.forEach((id, nic) => nics.set(id, { host: index + 1, nic })));
  const spec = nameFabric({
    switches,
    nics,
    rows: rows.filter((row) => !nvSwitches.has(row.a) && !nvSwitches.has(row.b)),
    gpusPerHost: header.gpusPerServer,
    ...scaleUpOf(gpus, nvSwitches, scaleUpRows, notes),
  });
  notes.push(`${servers.length} servers of ${header.gpusPerServer} ${header.gpuType} GPUs`);
  if (nvSwitches.size > 0) {
    notes.push(
      `${nvSwitches.size} NVSwitches and their ${scaleUpRows.length} links became the servers' scale-up network`,
    );
  }
  return { spec, notes };
}

function readHeader(line: TextLine | undefined): Header {
  if (line === undefined) throw lineError(1, 'the file is empty');
  if (line.fields.length !== 6) {
    const expected = 'nodes, GPUs per server, NVSwitches, switches, links, GPU type';
    const message = `${line.fields.length} fields in the header; SimAI has 6: ${expected}`;
    const hint = line.fields.length === 3 ? 'this looks like an ns-3 file: use --format ns3' : undefined;
    throw lineError(line.number, message, hint);
  }
  const numbers = line.fields.slice(0, 5).map((field, index) => {
    const value = wholeNumber(field);
    const least = index === 2 ? 0 : 1;
    if (value === undefined || value < least) {
      throw lineError(line.number, `"${field}" is no number from ${least} up`);
    }
    return value;
  });
  const [nodes, gpusPerServer, nvSwitches, switches, links] = numbers;
  checkNodeCount(line, nodes, links);
  if (gpusPerServer > 64) {
    throw lineError(line.number, `${gpusPerServer} GPUs per server; at most 64 are possible`);
  }
  const gpus = nodes - nvSwitches - switches;
  if (gpus < 1 || gpus % gpusPerServer !== 0) {
    const message = `${nodes} nodes less ${nvSwitches + switches} switches leave ${gpus} GPUs, not servers of ${gpusPerServer}`;
    throw lineError(line.number, message);
  }
  return { nodes, gpusPerServer, nvSwitches, switches, links, gpuType: line.fields[5] };
}

/** GPU ids of each server, servers and GPUs in order of ids. */
function serversOf(
  gpus: readonly number[],
  header: Header,
  nvSwitches: ReadonlySet<number>,
  scaleUpRows: readonly LinkRow[],
): number[][] {
  const size = header.gpusPerServer;
  if (nvSwitches.size === 0) {
    return Array.from({ length: gpus.length / size }, (_, server) =>
      gpus.slice(server * size, (server + 1) * size),
    );
  }
  const isGpu = new Set(gpus);
  const parent = new Map<number, number>([...gpus, ...nvSwitches].map((id) => [id, id]));
  const root = (id: number): number => {
    let at = id;
    for (let above = parent.get(at) as number; above !== at; above = parent.get(at) as number) {
      // Halving the way as it is walked keeps long chains from costing a square.
      parent.set(at, parent.get(above) as number);
      at = above;
    }
    return at;
  };
  for (const row of scaleUpRows) {
    if (![row.a, row.b].every((id) => isGpu.has(id) || nvSwitches.has(id))) {
      throw lineError(
        row.line,
        `an NVSwitch connects GPUs, but ${row.a} – ${row.b} leads to a fabric switch`,
      );
    }
    const [a, b] = [root(row.a), root(row.b)];
    // The lower id becomes the root, so that servers keep the order of their GPUs.
    parent.set(Math.max(a, b), Math.min(a, b));
  }
  const servers = new Map<number, number[]>();
  for (const gpu of gpus) {
    const server = servers.get(root(gpu));
    if (server === undefined) servers.set(root(gpu), [gpu]);
    else server.push(gpu);
  }
  const odd = [...servers.values()].filter((server) => server.length !== size);
  if (odd.length > 0) {
    const others = odd.length === 1 ? '' : ` (and ${odd.length - 1} other servers have other numbers, too)`;
    const message = `the server of GPU ${odd[0][0]} has ${odd[0].length} GPUs, but the header announces ${size}${others}`;
    throw lineError(1, message);
  }
  return [...servers.values()];
}

/** A GPU's rate into its server's network is the sum over its NVLinks; GPU to GPU takes two of them. */
function scaleUpOf(
  gpus: readonly number[],
  nvSwitches: ReadonlySet<number>,
  rows: readonly LinkRow[],
  notes: string[],
): { scaleUpRate?: string; scaleUpDelay?: string } {
  if (rows.length === 0) return {};
  const gbpsOf = new Map<number, number>(gpus.map((id) => [id, 0]));
  let longestNs = 0;
  for (const row of rows) {
    const gpu = nvSwitches.has(row.a) ? row.b : row.a;
    if (nvSwitches.has(gpu)) continue;
    gbpsOf.set(gpu, (gbpsOf.get(gpu) ?? 0) + (parseRateGbps(row.rate) ?? 0));
    longestNs = Math.max(longestNs, parseDurationNs(row.delay) ?? 0);
  }
  const rates = [...new Set(gbpsOf.values())].sort((a, b) => a - b);
  if (rates.length > 1) {
    notes.push(`GPUs have different NVLink rates (${rates.join(', ')} Gbps); the lowest is used for all`);
  }
  return rates[0] > 0 ? { scaleUpRate: `${rates[0]}Gbps`, scaleUpDelay: `${2 * longestNs}ns` } : {};
}
