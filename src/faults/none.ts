/**
 * Fault kind `none`: a control. Nothing is injected, and whoever is asked must answer "no fault".
 *
 * Without controls a diagnosis that always finds something would score full marks, and a false alarm sends people after
 * healthy cables. Thirty quiet controls bound the rate of false alarms to a tenth (rule of three, 95 %). A control has
 * a place in time, like every fault, and no target.
 */
import { z } from 'zod';
import type { FaultKind, Symptom } from './fault.js';

const parametersSchema = z.strictObject({}).prefault({});

export type NoneParameters = z.output<typeof parametersSchema>;

const SYMPTOMS: readonly Symptom[] = [
  {
    text: 'nothing changes that was not changing before',
    metrics: [],
    citation: 'follows from nothing being injected',
  },
];

export const none: FaultKind<NoneParameters> = {
  name: 'none',
  summary: 'a control: nothing is injected, and the right answer is "no fault"',
  parameters: parametersSchema,
  withoutTarget: true,
  targetTypes: () => [],
  compile: () => ({ impairments: [], truth: [] }),
  symptoms: () => SYMPTOMS,
  allSymptoms: () => ({ none: SYMPTOMS }),
  limits: ['touches nothing', 'recovery and isolation have no score in a drill that holds nothing else'],
  example: ['- kind: none', '  at: 20s', '  duration: 20s'].join('\n'),
};
