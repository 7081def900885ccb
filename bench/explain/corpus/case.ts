/**
 * One case of the corpus from its seed: a scene, how it is watched, and what goes wrong in it, as an experiment.
 *
 * A fifth of the cases and more are controls. Of the others, one in seven has two faults at once; those are watched well,
 * so that one difficulty is judged at a time. The fault begins when every connection has sent for some steps, and lasts for
 * seconds: longer than polls and detection, shorter than the run, so that the repair is watched as well.
 */
import type { ExperimentSpec } from '../../../src/documents/experiment.js';
import { experimentSpecSchema } from '../../../src/documents/experiment.js';
import { InputError } from '../../../src/core/problem.js';
import type { Prng } from '../../../src/core/prng.js';
import { CONTROL_WEIGHTS, STRAGGLER, type Control } from './control.js';
import { between, weightedAt, type Weights } from './draw.js';
import { entryAt } from './entries.js';
import type { FaultEntry, Target } from './fault-entry.js';
import { QUALITY_WEIGHTS, type Quality } from './quality.js';
import { drawScene, type Scene, type SceneNeeds } from './scene.js';
import { caseRandom } from './seeds.js';
import { evenDraws, type EvenDraws } from './strata.js';

export const WINDOW_NS = 45e9;

type Sort = Control | 'one fault' | 'two faults';

/** Two cases of five are controls, so that the usual seeds hold more than 150. */
const CONTROL_SHARE = 0.4;
const TWO_FAULTS_SHARE = 1 / 7;
const SORT_WEIGHTS: Weights<Sort> = [
  ...CONTROL_WEIGHTS.map(([control, weight]) => [control, CONTROL_SHARE * weight] as const),
  ['two faults', (1 - CONTROL_SHARE) * TWO_FAULTS_SHARE],
  ['one fault', (1 - CONTROL_SHARE) * (1 - TWO_FAULTS_SHARE)],
];

export interface CorpusCase {
  seed: number;
  /** `link-down-cut-10001`; never shown to a diagnosis. */
  name: string;
  control: Control | null;
  entries: readonly FaultEntry[];
  quality: Quality;
  scene: Scene;
  /** What may be tried, in order, for each fault; the first whose target exists and is in use is injected. */
  attempts: readonly (readonly Attempt[])[];
}

export type Attempt = Record<string, unknown> & { kind: string; target: Target };

/**
 * The case of a seed; the same seed gives the same case.
 * @param redraw another scene for the same fault, and another second fault, where the last one has no target for them
 */
export function caseOf(seed: number, redraw = 0): CorpusCase {
  const random = caseRandom(seed);
  const even = evenDraws(seed);
  const sort = weightedAt(even.sort, SORT_WEIGHTS);
  const control = sort === 'one fault' || sort === 'two faults' ? null : sort;
  const entries =
    control === null
      ? drawEntries(even, sort === 'two faults' ? random.stream(`second ${redraw}`) : null, redraw)
      : controlEntries(control);
  const needs = needsOf(entries);
  const lateStartNs = Math.round(between(random, 14e9, 18e9));
  const scene = drawScene(
    random.stream(`scene ${redraw}`),
    even.size,
    control === 'load-change' ? { ...needs, lateStartNs } : needs,
  );
  const quality =
    entries.length > 1 ? 'clean' : weightedAt(random.stream('quality').uniform(), QUALITY_WEIGHTS);
  const attempts = entries.map((entry, index) => attemptsOf(entry, scene, random.stream(`fault ${index}`)));
  const what = control ?? entries.map((entry) => entry.name.replace('/', '-')).join('-and-');
  return { seed, name: `${what}-${seed}`, control, entries, quality, scene, attempts };
}

const controlEntries = (control: Control): FaultEntry[] => (control === 'straggler' ? [STRAGGLER] : []);

/**
 * One entry, or with `others` a second one, near where it falls, of another kind that one scene can have as well.
 * @param farther how often the two have found no place beside each other
 */
function drawEntries(even: EvenDraws, others: Prng | null, farther: number): FaultEntry[] {
  const first = entryAt(even.entry);
  for (let attempt = farther; others !== null && attempt < farther + 50; attempt++) {
    const second = entryAt((even.second + (attempt * others.uniform()) / 10) % 1);
    if (second.kind !== first.kind && agree(first, second)) return [first, second];
  }
  return [first];
}

/** Whether one scene can have both: faults that need certain families can't meet those that need others. */
function agree({ needs: one = {} }: FaultEntry, { needs: other = {} }: FaultEntry): boolean {
  if (one.perUplink !== undefined && other.perUplink !== undefined && one.perUplink !== other.perUplink) {
    return false;
  }
  if (one.settings !== undefined && other.settings !== undefined) return false;
  const [a, b] = [one.families, other.families];
  return a === undefined || b === undefined || a.some((family) => b.includes(family));
}

function needsOf(entries: readonly FaultEntry[]): SceneNeeds {
  return entries.reduce((all: SceneNeeds, { needs = {} }): SceneNeeds => {
    const families =
      all.families === undefined || needs.families === undefined
        ? (needs.families ?? all.families)
        : needs.families.filter((family) => all.families?.includes(family));
    return {
      ...(families === undefined ? {} : { families }),
      spare: all.spare === true || needs.spare === true,
      checkpoints: all.checkpoints === true || needs.checkpoints === true,
      storage: all.storage === true || needs.storage === true,
      settings: { ...all.settings, ...needs.settings },
      ...(all.perUplink === undefined && needs.perUplink === undefined
        ? {}
        : { perUplink: needs.perUplink ?? all.perUplink }),
      hostsAtLeast: Math.max(all.hostsAtLeast ?? 0, needs.hostsAtLeast ?? 0) || undefined,
    };
  }, {});
}

function attemptsOf(entry: FaultEntry, scene: Scene, random: Prng): Attempt[] {
  const times = {
    at: `${Math.round(between(random, 14_000, 18_000))}ms`,
    duration: `${Math.round(between(random, 8_000, 18_000))}ms`,
  };
  const params = entry.parameters(random, scene);
  return entry.targets(random, scene).map((target) => ({ kind: entry.kind, params, target, ...times }));
}

/** The experiment of a choice of attempts, as a file would state it. @throws InputError when it is none */
export function experimentOf(attempts: readonly Attempt[]): ExperimentSpec {
  const parsed = experimentSpecSchema.safeParse({
    fabric: 'corpus',
    duration: `${WINDOW_NS / 1e9}s`,
    faults: attempts.length === 0 ? [{ kind: 'none', at: '15s', duration: '10s' }] : attempts,
  });
  if (parsed.success) return parsed.data;
  throw InputError.at('', parsed.error.issues.map(({ message }) => message).join('; '));
}
