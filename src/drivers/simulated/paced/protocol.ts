/**
 * What is said between a paced simulation and whoever drills it: HTTP over a unix socket in a folder that only their account
 * may enter, JSON both ways, evidence as frames of structured clones.
 *
 * Structured clones keep what JSON has no words for: typed arrays, NaN, infinities. Both ends are the same version of the
 * same program; a frame holds a limited number of bytes, so that neither end holds all evidence twice.
 */
import { deserialize, serialize } from 'node:v8';
import { EnvironmentError, InputError, type InputIssue } from '../../../core/problem.js';
import type { Evidence, Series } from '../../../model/telemetry/series.js';

/** Calls that need the lease of whoever calls; undoing needs none. */
export const CALLS = [
  'attach',
  'renew',
  'status',
  'readBack',
  'apply',
  'revert',
  'startJobs',
  'advance',
  'untilBoundary',
  'jobsCrossing',
  'observe',
  'end',
] as const;
export type Call = (typeof CALLS)[number];

export interface PacedStatus {
  nowNs: number;
  /** Ids of impairments that are in place. */
  inPlace: string[];
  /** ms; 0 when nobody holds it. */
  leaseLeftMs: number;
  /** How far it was behind the wall clock at most, ms of wall clock. */
  behindMs: number;
}

/** An error as it crosses the socket. */
export interface SentError {
  kind: 'input' | 'environment' | 'bug';
  message: string;
  hint?: string;
  issues?: readonly InputIssue[];
}

export function sentError(error: unknown): SentError {
  if (error instanceof InputError) return { kind: 'input', message: error.message, issues: error.issues };
  if (error instanceof EnvironmentError) {
    return { kind: 'environment', message: error.message, ...(error.hint && { hint: error.hint }) };
  }
  return { kind: 'bug', message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

export function receivedError({ kind, message, hint, issues }: SentError): Error {
  if (kind === 'input') return new InputError(issues ?? [{ pointer: '', message }]);
  return kind === 'environment' ? new EnvironmentError(message, hint) : new Error(message);
}

const FRAME_BYTES = 8 * 2 ** 20;

/** A header frame with the window, then frames of series; each with its length before it. */
export function* evidenceFrames({ fromNs, toNs, series }: Evidence): Generator<Buffer> {
  yield frame({ fromNs, toNs });
  let batch: Series[] = [];
  let bytes = 0;
  for (const one of series) {
    const plain = plainSeries(one);
    batch.push(plain);
    bytes += plain.timesNs.byteLength + plain.values.byteLength + plain.quality.byteLength;
    if (bytes < FRAME_BYTES) continue;
    yield frame(batch);
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield frame(batch);
}

/** A view that works its samples out when asked would arrive empty. */
function plainSeries(series: Series): Series {
  const { metric, element, timesNs, values, quality, regular, constant } = series;
  return {
    ...{ metric, element, timesNs, values, quality },
    ...(regular === undefined ? {} : { regular }),
    ...(constant === undefined ? {} : { constant }),
  };
}

function frame(content: unknown): Buffer {
  const body = serialize(content);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(body.length);
  return Buffer.concat([length, body]);
}

/** @throws EnvironmentError when the stream is cut short */
export async function readEvidence(chunks: AsyncIterable<Uint8Array>): Promise<Evidence> {
  let window: { fromNs: number; toNs: number } | undefined;
  const series: Series[] = [];
  for await (const body of bodies(chunks)) {
    const content: unknown = deserialize(body);
    if (window === undefined) window = content as { fromNs: number; toNs: number };
    else series.push(...(content as Series[]));
  }
  if (window === undefined) throw new EnvironmentError('the paced simulation sent no evidence');
  return { ...window, series };
}

async function* bodies(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let held: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    held.push(chunk);
    size += chunk.byteLength;
    while (size >= 4) {
      const [head] = held.length === 1 || held[0].byteLength >= 4 ? held : (held = [Buffer.concat(held)]);
      const length = Buffer.from(head.buffer, head.byteOffset, head.byteLength).readUInt32LE(0);
      if (size < 4 + length) break;
      const all = Buffer.concat(held);
      yield all.subarray(4, 4 + length);
      held = [all.subarray(4 + length)];
      size -= 4 + length;
    }
  }
  if (size > 0) throw new EnvironmentError('the paced simulation ended while it sent evidence');
}
