/**
 * Every culprit family the diagnoser knows; a new one is a file beside this and a line here.
 */
import type { Hypothesise } from './hypothesis.js';
import { hypothesiseLinkDown } from './link-down.js';
import { hypothesiseNodeDown } from './node-down.js';
import { hypothesiseOneWayLoss } from './one-way-loss.js';

export const FAMILIES: readonly Hypothesise[] = [
  hypothesiseNodeDown,
  hypothesiseLinkDown,
  hypothesiseOneWayLoss,
];
