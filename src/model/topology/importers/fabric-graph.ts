/**
 * From numbered nodes to a named fabric: the part of an import that both text formats share.
 *
 * Tiers follow from the distance to the hosts; switches are then named `leaf-N`, `spine-N`, `core-N` in the order of
 * their ids, hosts `host-N`, all from 1, NICs from 0. A NIC with two links becomes dual-port, its ports in the order
 * of the switches' ids.
 */
import { InputError, toPointer, type InputIssue } from '../../../core/problem.js';
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
  const rowsOf = new Map<number, LinkRow[]>([...fabric.nics.keys()].map((id) => [id, []]));
  const issues: InputIssue[] = [];
  for (const row of fabric.rows) {
    const [ofA, ofB] = [rowsOf.get(row.a), rowsOf.get(row.b)];
    if (ofA !== undefined && ofB !== undefined) {
      const message = `nodes ${row.a} and ${row.b} are both hosts; a host connects to a switch`;
      issues.push({ pointer: '', line: row.line, message });
    }
    const own = ofA ?? ofB;
    own?.push(row);
    if (own !== undefined && own.length === 3) {
      const id = ofA === undefined ? row.b : row.a;
      const message = `node ${id} has a third fabric link; a NIC has one or two ports`;
      issues.push({ pointer: '', line: row.line, message });
    }
  }
  if (issues.length > 0) throw new InputError(issues.slice(0, 20));
  for (const [id, rows] of rowsOf) {
    if (rows.length === 0) throw lineError(1, `node ${id} is a host, but no link names it`);
    const switchOf = (row: LinkRow): number => (row.a === id ? row.b : row.a);
    rows.sort((first, second) => switchOf(first) - switchOf(second));
  }
  return rowsOf;
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
