/**
 * The accuracy bench: how wrong the flow level is beside recorded packet-level runs and closed forms.
 *
 * Cases of the packet-level peer run through the engine that drills run, and beside it through the reference model
 * (congestion-rows.ts). Cases with random loss go through the go-back-N model, tables of RS(544,514) through its closed
 * form.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { InputError } from '../src/core/problem.js';
import { parseCongestionCase } from './congestion-case.js';
import { congestionRows } from './congestion-rows.js';
import { fecRows, isFecTable } from './fec-table.js';
import { goBackNRows, isLossyCase } from './go-back-n-case.js';
import { unmeasured, type BenchRow } from './row.js';

/** Documents that are no case of the packet-level peer, by what they have, and why they can not be expressed. */
const OTHERS: readonly (readonly [reason: string, fits: (document: Loose) => boolean])[] = [
  ['solved by hand for max-min: see the flow bench', (document) => Array.isArray(document)],
  ['no topology and no flows: nothing to run', ({ topology, flows }) => !topology || !Array.isArray(flows)],
  [
    'the recorded run stopped before its flows had finished',
    ({ flows }) => flows!.some((flow) => flow.fct_ns === null),
  ],
  [
    'the record has no paths, and with other paths it is another case',
    ({ flows }) => flows!.some((flow) => flow.path === undefined),
  ],
];
interface Loose {
  topology?: object;
  flows?: { fct_ns?: number | null; path?: unknown }[];
}
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8, 9];

export interface AccuracyBenchOptions {
  /** Folder with the case files. */
  casesDir: string;
  /** Case names to run; all when empty. */
  only?: readonly string[];
  /** Seeds of the marks; default 1 to 9. The first one draws all losses of a lossy case. */
  seeds?: readonly number[];
  /** Told before each case, for progress on stderr. */
  onCase?: (name: string) => void;
}

/** Runs every case of the folder that can be expressed; any other file gives a row with the reason. */
export function runAccuracyBench({
  casesDir,
  only = [],
  seeds = SEEDS,
  onCase,
}: AccuracyBenchOptions): BenchRow[] {
  const rows: BenchRow[] = [];
  for (const file of readdirSync(casesDir).sort()) {
    const name = file.replace(/\.[^.]*$/, '');
    if (only.length > 0 && !only.includes(name)) continue;
    onCase?.(name);
    try {
      if (!file.endsWith('.json'))
        throw InputError.at('', 'a flow-level record or no case: see the flow bench');
      rows.push(...caseRows(name, JSON.parse(readFileSync(join(casesDir, file), 'utf8')), seeds));
    } catch (error) {
      if (!(error instanceof InputError || error instanceof SyntaxError)) throw error;
      rows.push(unmeasured(name, 'makespan_error', 'ratio', error.message.split('\n')[0]));
    }
  }
  for (const name of only) {
    if (!rows.some((row) => row.case === name))
      rows.push(unmeasured(name, 'makespan_error', 'ratio', `no such case in ${casesDir}`));
  }
  return rows;
}

function caseRows(name: string, document: unknown, seeds: readonly number[]): BenchRow[] {
  if (isFecTable(document)) return fecRows(name, document);
  const other = OTHERS.find(([, fits]) => fits(Object(document) as Loose));
  if (other !== undefined) throw InputError.at('', other[0]);
  const source = parseCongestionCase(document);
  if (isLossyCase(source)) return goBackNRows(name, source, seeds[0] ?? 1);
  return congestionRows(name, document, source, seeds);
}
