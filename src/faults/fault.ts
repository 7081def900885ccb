/**
 * The fault contract: one object per kind, from which CLI help, JSON Schema, OpenAPI, docs and plan are all made.
 *
 * A kind is what an operator calls a failure. It compiles, purely, to timed impairments and to the truth entry that
 * scoring will compare the verdict with. It never touches a fabric.
 */
import type { z } from 'zod';
import type { Prng } from '../core/prng.js';
import type { ElementRef, ElementType } from '../model/telemetry/vocabulary.js';
import type { Topology } from '../model/topology/model.js';
import type { TruthEntry } from './ground-truth.js';
import type { Job } from '../model/workload/job.js';
import type { CongestionDescription } from '../fabric-api/fabric.js';
import type { TimedImpairment } from '../fabric-api/impairment.js';

/** What a kind may look at when it compiles. */
export interface FaultContext {
  topology: Topology;
  /** Jobs on the fabric: a host without a rank of any of them is idle. */
  jobs: readonly Job[];
  /** How the fabric is set against congestion; undefined where it can't tell, and what needs it is not checked. */
  congestion?: CongestionDescription;
  /** How long the fault is held, ns. */
  durationNs: number;
  /** A stream of its own, derived from the run's seed and the fault's name. */
  random: Prng;
}

/** Times of truth are ns from the injection instant here; the drill shifts them to what really happened. */
export interface CompiledFault {
  impairments: TimedImpairment[];
  truth: TruthEntry[];
}

/** What an operator would see, with where that is known from; `metrics` are catalogue names expected to move. */
export interface Symptom {
  text: string;
  metrics: readonly string[];
  citation: string;
}

export interface FaultKind<Parameters = unknown> {
  name: string;
  /** One line. */
  summary: string;
  parameters: z.ZodType<Parameters>;
  /** Set for a kind that acts on nothing: a fault of it has no target in the file. */
  withoutTarget?: true;
  /** Element types a target may have under these parameters. */
  targetTypes(parameters: Parameters): readonly ElementType[];
  /** @throws InputError when parameters and targets don't fit each other */
  compile(parameters: Parameters, targets: readonly ElementRef[], context: FaultContext): CompiledFault;
  symptoms(parameters: Parameters): readonly Symptom[];
  /** Symptoms per variant, for help and documentation. */
  allSymptoms(): Readonly<Record<string, readonly Symptom[]>>;
  /** Hard limits of the kind in words: what it will never do. */
  limits: readonly string[];
  /** A YAML fragment of `spec.faults[]` that runs as it stands. */
  example: string;
}
