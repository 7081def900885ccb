/**
 * From numbered nodes to a named fabric: the part of an import that both text formats share.
 *
 * Tiers follow from the distance to the hosts; switches are then named `leaf-N`, `spine-N`, `core-N` in the order of
 * their ids, hosts `host-N`, all from 1, NICs from 0. A NIC with two links becomes dual-port, its ports in the order
 * of the switches' ids.
 */
import { InputError, toPointer } from '../../../core/problem.js';
import { switchLevels, tierOfLevel } from '../infer.js';
import { buildTopology, topologySchema } from '../topology-spec.js';
import { lineError, type ExplicitSource, type LinkRow } from './topology-text.js';

/** Which NIC of which host a node of the file is; hosts from 1, NICs from 0. */
export interface NicPlace {
  host: number;
  nic: number;
}

export interface NumberedFabric {
  /** Ids of fabric switches. */
  switches: readonly number[];
  /** Ids of end nodes. */
  nics: ReadonlyMap<number, NicPlace>;
  rows: readonly LinkRow[];
  gpusPerHost: number;
  scaleUpRate?: string;
  scaleUpDelay?: string;
}

/** @throws InputError with lines for what no fabric can have, and for a fabric that is not connected */
export function nameFabric(fabric: NumberedFabric): ExplicitSource {
  const nicRows = rowsOfNics(fabric);
  const names = switchNames(fabric);
  const spec: ExplicitSource = {
    builder: 'explicit',
    nodes: [
      ...fabric.switches.map((id) => names.get(id) as SwitchName).sort((a, b) => a.order - b.order),
      ...new Set([...fabric.nics.values()].map(({ host }) => host)),
    ].map((node) =>
      typeof node === 'number'
        ? { role: 'host' as const, name: `host-${node}` }
        : { role: 'switch' as const, name: node.name, tier: node.tier },
    ),
    links: fabric.rows.map((row) => {
      const [a, b] = [row.a, row.b].map((id) => names.get(id)?.name ?? nicEnd(id, row, fabric, nicRows));
      const loss = row.loss === 0 ? {} : { loss: row.loss };
      return { a, b, rate: row.rate, delay: row.delay, ...loss };
    }),
    gpusPerHost: fabric.gpusPerHost,
  };
  if (fabric.scaleUpRate !== undefined) spec.scaleUpRate = fabric.scaleUpRate;
  if (fabric.scaleUpDelay !== undefined) spec.scaleUpDelay = fabric.scaleUpDelay;
  // Built once here, so that a file that makes no fabric is refused before anything is stored.
  const parsed = topologySchema.safeParse(spec);
  if (!parsed.success) {
    throw new InputError(
      parsed.error.issues.map(({ path, message }) => ({ pointer: toPointer(path), message })),
    );
  }
  buildTopology(parsed.data);
  return spec;
}

/** Links of each end node, ordered by switch id. @throws InputError when a node can't be a NIC */
function rowsOfNics(fabric: NumberedFabric): Map<number, LinkRow[]> {
  refuseJoinedHosts(fabric);
  const rowsOf = new Map<number, LinkRow[]>([...fabric.nics.keys()].map((id) => [id, []]));
  for (const row of fabric.rows) (rowsOf.get(row.a) ?? rowsOf.get(row.b))?.push(row);
  const crowded = [...rowsOf].filter(([, rows]) => rows.length > 2);
  if (crowded.length > 0) {
    const [id, rows] = crowded[0];
    const others = crowded.length === 1 ? '' : ` (and ${crowded.length - 1} other nodes have more than two)`;
    throw lineError(
      rows[2].line,
      `node ${id} has a third fabric link${others}; a NIC has one or two ports`,
      fabric.gpusPerHost === 1 ? undefined : 'only links to NVSwitches are of the scale-up network',
    );
  }
  const alone = [...rowsOf].flatMap(([id, rows]) => (rows.length === 0 ? [id] : []));
  if (alone.length > 0) {
    const [first, ...rest] = alone;
    const others = rest.length === 0 ? '' : ` (and none names ${rest.length} others)`;
    throw lineError(1, `node ${first} is a host, but no link names it${others}`);
  }
  for (const [id, rows] of rowsOf) {
    const switchOf = (row: LinkRow): number => (row.a === id ? row.b : row.a);
    rows.sort((first, second) => switchOf(first) - switchOf(second));
  }
  return rowsOf;
}

/** One sentence for all of them: it is the shape that does not fit, not this row or that. */
function refuseJoinedHosts({ nics, rows }: NumberedFabric): void {
  const joined = rows.filter(({ a, b }) => nics.has(a) && nics.has(b));
  if (joined.length === 0) return;
  const [{ a, b, line }] = joined;
  const inServers = joined.every((row) => nics.get(row.a)!.host === nics.get(row.b)!.host);
  const many = joined.length === 1 ? '' : `, the first of ${joined.length} such links`;
  if (!inServers) {
    throw lineError(line, `nodes ${a} and ${b} are both hosts${many}; a host connects to a switch`);
  }
  throw lineError(
    line,
    `nodes ${a} and ${b} are GPUs of one server without an NVSwitch${many}; GPUs that are wired to each other are not modelled`,
    'give the server an NVSwitch (counted in the first line, listed first in the second) with a link to each of its GPUs',
  );
}

interface SwitchName {
  name: string;
  tier: 'leaf' | 'spine' | 'core';
  /** Sorts by tier, then id. */
  order: number;
}

function switchNames(fabric: NumberedFabric): Map<number, SwitchName> {
  const ids = [...fabric.switches].sort((a, b) => a - b);
  const indexOf = new Map(ids.map((id, index) => [id, index]));
  const neighbours: number[][] = ids.map(() => []);
  const hasHosts = ids.map(() => false);
  for (const row of fabric.rows) {
    const [a, b] = [indexOf.get(row.a), indexOf.get(row.b)];
    if (a !== undefined && b !== undefined) {
      neighbours[a].push(b);
      neighbours[b].push(a);
    } else if (a !== undefined || b !== undefined) hasHosts[(a ?? b) as number] = true;
  }
  const levels = switchLevels(neighbours, hasHosts);
  const numbers = new Map<string, number>();
  return new Map(
    ids.map((id, index) => {
      if (levels[index] === 0) throw lineError(2, `switch ${id} has no way to any host`);
      const tier = tierOfLevel(levels[index]);
      const number = (numbers.get(tier) ?? 0) + 1;
      numbers.set(tier, number);
      return [id, { name: `${tier}-${number}`, tier, order: levels[index] * ids.length + index }];
    }),
  );
}

function nicEnd(
  id: number,
  row: LinkRow,
  fabric: NumberedFabric,
  nicRows: ReadonlyMap<number, readonly LinkRow[]>,
): string {
  const place = fabric.nics.get(id) as NicPlace;
  const rows = nicRows.get(id) as readonly LinkRow[];
  const nic = `host-${place.host}/nic-${place.nic}`;
  return rows.length === 1 ? nic : `${nic}/p${rows.indexOf(row)}`;
}
