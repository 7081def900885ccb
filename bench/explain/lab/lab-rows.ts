/**
 * Rows of the explainability bench from labs of Linux namespaces: the same diagnosis on evidence that nobody simulated.
 *
 * Ten drills a fault, one lab a case, in real time: minutes, so they are asked for. Where there can be no lab each row says
 * why. Floors are those of the simulated corpus by class.
 */
import { labBuilders } from '../../../src/drivers/catalog.js';
import { EnvironmentError } from '../../../src/core/problem.js';
import type { BenchSection } from '../../../src/cli/commands/bench-row.js';
import { measured, unmeasured, type BenchRow, type Yardstick } from '../../row.js';
import type { FaultClass } from '../corpus/fault-entry.js';
import { drillLab, LAB_CASES, labOf, type LabCase, type LabResult } from './lab-drill.js';
import { figuresOf } from './lab-figures.js';

/** All of them by one name. */
const ALL = 'lab';
/** Names under which they can be asked for. */
export const LAB_NAMES: readonly string[] = [ALL, ...LAB_CASES.map(({ name }) => name)];

/** Drills of a fault; seeds say which targets. */
const DRILLS = 10;
const FLOORS: Readonly<Record<FaultClass, Partial<Yardstick>>> = {
  hard: { floor: 0.95, aim: 0.99 },
  gray: { floor: 0.9, aim: 0.97 },
  congestion: { floor: 0.9, aim: 0.97 },
  job: {},
};
const ASK = `takes minutes of real time, root and FRR: ask with --only ${ALL}`;

export interface LabOutcome {
  rows: BenchRow[];
  sections: BenchSection[];
}

/** @param asked by name @param usual whether the bench runs as a whole: then a row says how to ask for labs */
export async function labOutcome(
  asked: readonly string[],
  usual: boolean,
  seeds: readonly number[],
  onCase?: (name: string) => void,
): Promise<LabOutcome> {
  const chosen = LAB_CASES.filter(({ name }) => asked.includes(ALL) || asked.includes(name));
  if (chosen.length === 0) {
    return { rows: usual ? [unmeasured(ALL, 'top1_element', 'share', ASK)] : [], sections: [] };
  }
  const rows: BenchRow[] = [];
  const results: LabResult[] = [];
  for (const one of chosen) {
    const found = await drillsOf(one, seeds.slice(0, one.most ?? DRILLS), results, onCase);
    rows.push(...found);
  }
  return { rows, sections: results.length === 0 ? [] : [sectionOf(results)] };
}

/** The rows of a case; what each drill left is added to `all`. */
async function drillsOf(
  one: LabCase,
  seeds: readonly number[],
  all: LabResult[],
  onCase?: (name: string) => void,
): Promise<BenchRow[]> {
  const [{ labs }] = labBuilders();
  const definition = labOf(one);
  const own: LabResult[] = [];
  try {
    await labs.up(definition, () => undefined);
    try {
      for (const [drill, seed] of seeds.entries()) {
        onCase?.(`${one.name} ${drill + 1} of ${seeds.length}`);
        own.push(await drillLab(one, definition, seed, drill));
      }
    } finally {
      await labs.down(definition.name);
    }
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error;
    return [unmeasured(one.name, 'top1_element', 'share', error.message)];
  }
  all.push(...own);
  return rowsOf(one, own);
}

function rowsOf(one: LabCase, results: readonly LabResult[]): BenchRow[] {
  const share = (holds: (result: LabResult) => boolean): number =>
    results.filter(holds).length / results.length;
  const measure = one.class === 'congestion' ? 'root_queue_and_pattern' : 'top1_element';
  const right = ({ grade }: LabResult): boolean =>
    grade.top1 === 1 && (one.class !== 'congestion' || grade.kindRight === true);
  const yardstick: Yardstick = { unit: 'share', better: 'higher', ...FLOORS[one.class] };
  return [
    measured(one.name, 'cases', results.length, { unit: 'cases' }),
    measured(one.name, measure, share(right), yardstick),
    measured(
      one.name,
      'kind_right',
      share(({ grade }) => grade.kindRight === true),
      { unit: 'share' },
    ),
    ...figuresOf(one.name).map((figure): BenchRow => {
      const values = results.flatMap((result) => figure.of(result) ?? []);
      const told = figure.best === true ? Math.min(...values) : Math.max(...values);
      if (values.length > 0 && Number.isFinite(told)) {
        return measured(one.name, figure.measure, told, figure.yardstick);
      }
      const why = values.length === 0 ? 'the evidence of no drill tells' : 'in some drill it never came';
      const floor = figure.yardstick.floor ?? null;
      return {
        ...unmeasured(one.name, figure.measure, figure.yardstick.unit, why),
        floor,
        meetsFloor: floor === null ? null : false,
      };
    }),
  ];
}

const sectionOf = (results: readonly LabResult[]): BenchSection => ({
  heading: 'Drills on labs',
  columns: ['case', 'seed', 'onset off by', 'true', 'said'],
  lines: results.map(({ case: one, seed, grade, truth }) => [
    one.name,
    String(seed),
    grade.onsetErrorS === null ? '-' : `${grade.onsetErrorS.toFixed(2)} s`,
    truth,
    grade.said,
  ]),
});
