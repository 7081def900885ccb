/** Results of made-up cases, for specs of what is reported about them. */
import type { Counted } from '../figures.js';
import type { Grade } from '../grade.js';

/** Nothing named, and nothing right. */
export const gradeWith = (change: Partial<Grade>): Grade => ({
  ...{ top1: 0, top3: 0, setF1: 0, kindRight: null, sideRight: null, abstained: false },
  ...{
    onsetErrorS: null,
    falseAlarm: false,
    claims: [],
    brier: null,
    aggressorNamed: null,
    said: 'no fault',
  },
  ...change,
});

/** A single hard fault that was felt, watched well. */
export const countedCase = (change: Partial<Counted>): Counted => ({
  ...{ seed: 10_001, name: 'link-down-cut-10001', control: null, quality: 'clean' },
  ...{ entries: ['link-down/cut'], classes: ['hard'], family: 'leaf-spine', gpus: 64, outcome: 'counted' },
  ...{ baselines: {}, timeToExplainS: null, diagnosisS: 0.1, truth: '' },
  impact: { stepChange: 0.5, stalled: false, silent: false, firstImpactNs: 15e9 },
  ours: gradeWith({}),
  ...change,
});
