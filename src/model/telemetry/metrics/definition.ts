/**
 * What the catalogue says of a metric: which element it belongs to, what kind of number it is, where it is read.
 */
import type { ElementType } from '../../../core/elements.js';

export type MetricKind = 'gauge' | 'counter' | 'state';
/** `poll`: at the source's interval. `on-change`: at the instant of change, plus one sample at the start. */
export type Sampling = 'poll' | 'on-change';

export interface MetricSources {
  mlx5?: string;
  sonic?: string;
  openconfig?: string;
  prometheus?: string;
  /** NCCL, framework or scheduler figures. */
  training?: string;
}

export interface MetricDefinition {
  name: string;
  element: ElementType;
  kind: MetricKind;
  unit: string;
  sampling: Sampling;
  description: string;
  sources: MetricSources;
}
