/**
 * What a plan is made of: a fault with its targets, its times and its impairments.
 *
 * Apart from the plan, since the parts that make and check it are asked before there is one.
 */
import type { Impairment } from '../../fabric-api/impairment.js';
import type { JobBoundary } from '../../fabric-api/fabric.js';
import type { ElementRef } from '../../model/telemetry/vocabulary.js';
import type { TruthEntry } from '../../faults/ground-truth.js';

export interface PlannedImpairment {
  /** Unique within the plan, `cut/0`; a run prefixes its own id. */
  id: string;
  impairment: Impairment;
  /** ns from the run's start. */
  atNs: number;
  untilNs: number;
}

/** A boundary of a job with which a fault begins, in place of a planned instant. */
export interface PlannedTrigger {
  boundary: JobBoundary;
  /** It is watched for from here on, ns from the run's start … */
  fromNs: number;
  /** … and given up here. */
  untilNs: number;
}

export interface PlannedFault {
  name: string;
  kind: string;
  parameters: unknown;
  targets: ElementRef[];
  /** With a trigger: the earliest that it could be, or about when it should; all times of the fault move with it. */
  atNs: number;
  trigger?: PlannedTrigger;
  durationNs: number;
  impairments: PlannedImpairment[];
  /** Times are ns from the injection instant. */
  truth: TruthEntry[];
  /** Catalogue metrics that this fault is expected to move. */
  expectedMetrics: string[];
}
