/**
 * What a computing program is told and what it tells: plain values, so that they cross to a thread or a process.
 *
 * Every report is a sign of life. `progress` comes many times a second while a fabric is simulated, and goes on while
 * a diagnosis or a score is worked out, so that a host can tell computing from stuck.
 */
import { EnvironmentError, InputError, messageOf, type InputIssue } from '../../core/problem.js';
import type { Verdict } from '../../diagnosis/verdict.js';
import type { Experiment } from '../../documents/experiment.js';
import type { FabricDocument } from '../../documents/fabric-document.js';
import type { RunState } from '../../scoring/scorecard.js';
import type { TruthEntry } from '../../faults/ground-truth.js';
import type { EvidenceRoom } from '../plan/evidence-room.js';
import type { Judgement } from '../judge.js';
import type { Plan } from '../plan/plan.js';
import { FabricError } from '../plan/fabric-error.js';
import type { DrillRecord } from '../record.js';
import type { UndoEntry } from '../undo.js';
import type { QuestionName } from './questions.js';

/** What is computed beyond the drill itself. */
export interface Needs {
  diagnosis: boolean;
  twin: boolean;
}

/** All that a drill on a simulated fabric depends on. */
export interface DrillTask {
  /** Parsed. */
  experiment: Experiment;
  /** Parsed; without jobs of its own it takes the experiment's. */
  fabric: FabricDocument;
  seed: number;
  /** As it was made before; planned by the program when left out. */
  plan?: Plan;
  /** Where the evidence is to be kept, looked at when the program plans. */
  room?: EvidenceRoom;
  /** Everything when left out. */
  needs?: Needs;
  /** Put in the scorecard in place of those that the experiment states. */
  objectives?: readonly string[];
  /** Where the evidence goes as an Arrow file, and the Fabric document that goes with it; nowhere when left out. */
  evidence?: { descriptor: number; document: unknown };
}

/** In the order in which they come. */
export type DrillReport =
  | { type: 'planned'; plan: Plan }
  | { type: 'state'; state: RunState; detail: string | null }
  | { type: 'progress'; nowNs: number; durationNs: number }
  | { type: 'intended'; entry: UndoEntry }
  | { type: 'applied'; id: string }
  | { type: 'verified'; id: string }
  | { type: 'failed'; id: string; reason: string }
  /** Before anything has compared it with the truth. */
  | { type: 'verdict'; verdict: Verdict }
  | { type: 'truth'; truth: TruthEntry[]; record: DrillRecord }
  | { type: 'judged'; judgement: Judgement }
  /** Comes after the judgement: a person who waits is told the verdict before anything is kept. */
  | { type: 'evidence'; bytes: number; rows: number; sha256: string }
  | { type: 'ended' }
  | { type: 'thrown'; error: Thrown };

/** What comes of a question; and, before anything else, that the program can be asked. */
export type Reply =
  { type: 'answer'; answer: unknown } | { type: 'thrown'; error: Thrown } | { type: 'loaded' };

export type Tell = (report: DrillReport) => void;

/** To the program. */
export type DrillOrder =
  | { type: 'task'; task: DrillTask }
  | { type: 'question'; name: QuestionName; asked: unknown }
  | { type: 'abort'; reason: string };

/** An error that goes to another process or thread. */
export type Thrown =
  | { kind: 'input'; issues: InputIssue[]; ofFabric: boolean }
  | { kind: 'environment'; message: string; hint?: string }
  | { kind: 'bug'; message: string; stack?: string };

export function thrownOf(error: unknown): Thrown {
  if (error instanceof InputError)
    return { kind: 'input', issues: [...error.issues], ofFabric: error instanceof FabricError };
  const message = messageOf(error);
  if (error instanceof EnvironmentError) return { kind: 'environment', message, hint: error.hint };
  return { kind: 'bug', message, stack: error instanceof Error ? error.stack : undefined };
}

export function errorOf(thrown: Thrown): Error {
  if (thrown.kind === 'input') {
    return thrown.ofFabric ? new FabricError(thrown.issues) : new InputError(thrown.issues);
  }
  if (thrown.kind === 'environment') return new EnvironmentError(thrown.message, thrown.hint);
  const error = new Error(thrown.message);
  if (thrown.stack !== undefined) error.stack = thrown.stack;
  return error;
}
