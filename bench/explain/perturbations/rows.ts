/** The table of perturbations: right element first, false alarms and "no fault", by what was added to the evidence. */
import type { BenchSection } from '../../../src/cli/commands/bench-row.js';
import { measured, unmeasured, type BenchRow, type Yardstick } from '../../row.js';
import { shareOf } from '../figures.js';
import { BLINKERS } from './index.js';
import { PERTURBATIONS, type Answer, type Answers } from './measure.js';

const TOP1: Yardstick = { unit: 'share', better: 'higher', floor: 0.85, aim: 0.95 };
const ALARMS: Yardstick = { unit: 'share', floor: 0.03, aim: 0 };
const SHARE: Yardstick = { unit: 'share', better: 'higher' };

const isBlinker = (name: string): boolean => BLINKERS.some((one) => one.name === name);

const told = (results: readonly (Answers | null)[], name: string): Answer[] =>
  results.flatMap((answers) => answers?.[name] ?? []);

export function perturbationRows(results: readonly (Answers | null)[], names: readonly string[]): BenchRow[] {
  return PERTURBATIONS.filter(({ name }) => names.includes(name)).flatMap(({ name }) => {
    const answers = told(results, name);
    const faults = answers.filter(({ isControl }) => !isControl);
    const controls = answers.filter(({ isControl }) => isControl);
    const asked = controls.filter(({ saysNone }) => saysNone !== null);
    const row = (
      measure: string,
      of: readonly Answer[],
      holds: (one: Answer) => boolean,
      limits: Yardstick,
    ) => {
      const value = shareOf(of, holds);
      if (value === null) return unmeasured(name, measure, 'share', 'no such case among these seeds');
      return { ...measured(name, measure, value, limits), reason: `n = ${of.length}` };
    };
    return [
      row('top1_element', faults, ({ right }) => right, isBlinker(name) ? SHARE : TOP1),
      row('false_alarms', controls, ({ alarm }) => alarm, ALARMS),
      row('said_no_fault', asked, ({ saysNone }) => saysNone === true, SHARE),
    ];
  });
}

export function perturbationTable(
  results: readonly (Answers | null)[],
  names: readonly string[],
): BenchSection {
  const percent = (value: number | null): string => (value === null ? '-' : `${Math.round(100 * value)} %`);
  return {
    heading: 'Perturbations: one everyday property added to recorded evidence',
    columns: [
      'added to the evidence',
      'faults',
      'right first',
      'controls',
      'false alarms',
      'said "no fault"',
    ],
    lines: PERTURBATIONS.filter(({ name }) => names.includes(name)).map(({ name, what }) => {
      const answers = told(results, name);
      const faults = answers.filter(({ isControl }) => !isControl);
      const controls = answers.filter(({ isControl }) => isControl);
      const asked = controls.filter(({ saysNone }) => saysNone !== null);
      return [
        what,
        `${faults.length}`,
        shareOf(faults, ({ right }) => right)?.toFixed(2) ?? '-',
        `${controls.length}`,
        percent(shareOf(controls, ({ alarm }) => alarm)),
        percent(shareOf(asked, ({ saysNone }) => saysNone === true)),
      ];
    }),
  };
}

/** Asks for the whole table. */
export const ALL_PERTURBATIONS = 'perturbations';

/** Names of the perturbations among what is asked for. */
export const perturbationsIn = (only: readonly string[]): string[] =>
  PERTURBATIONS.map(({ name }) => name).filter(
    (name) => only.includes(ALL_PERTURBATIONS) || only.includes(name),
  );
