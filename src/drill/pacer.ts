/**
 * Whose clock a drill follows: a simulator's, driven forward, or the wall clock of a real fabric.
 *
 * Both count ns from the run's start; a real fabric that keeps time of its own is asked, so that evidence and drill agree. Waits are cut into short pieces so that an abort is seen soon and progress can
 * be shown; between the pieces the event loop runs.
 */
import { setImmediate as yieldToEventLoop, setTimeout as sleep } from 'node:timers/promises';
import { advancesTime, keepsTime, watchesJobs, type Fabric, type JobBoundary } from '../fabric-api/fabric.js';

export interface Pacer {
  readonly nowNs: number;
  /** Goes on to `toNs`, or stops early when the signal is aborted. */
  until(toNs: number, signal: AbortSignal, progress: (nowNs: number) => void): Promise<void>;
}

/**
 * Goes on until the first of these boundaries of jobs begins, to `toNs`, or to an abort.
 * @returns which of them began, and when; undefined when none did
 */
export async function untilBoundary(
  fabric: Fabric,
  pacer: Pacer,
  boundaries: readonly JobBoundary[],
  toNs: number,
  signal: AbortSignal,
  progress: (nowNs: number) => void,
): Promise<{ index: number; beganNs: number } | undefined> {
  if (!watchesJobs(fabric)) throw new Error('the fabric does not tell what its jobs begin');
  while (pacer.nowNs < toNs && !signal.aborted) {
    const found = await fabric.untilBoundary(boundaries, Math.min(toNs, pacer.nowNs + SIMULATED_PIECE_NS));
    progress(pacer.nowNs);
    if (found !== undefined) return found;
    await yieldToEventLoop();
  }
  return undefined;
}

const SIMULATED_PIECE_NS = 1e9;
const WALL_PIECE_MS = 250;

export function pacerFor(fabric: Fabric, wallClockMs: () => number = Date.now): Pacer {
  if (advancesTime(fabric)) return simulatedPacer(fabric);
  return wallPacer(keepsTime(fabric) ? () => fabric.clockNs() : sinceNow(wallClockMs));
}

function simulatedPacer(fabric: Fabric & { nowNs: number; advance(toNs: number): Promise<void> }): Pacer {
  return {
    get nowNs() {
      return fabric.nowNs;
    },
    async until(toNs, signal, progress) {
      while (fabric.nowNs < toNs && !signal.aborted) {
        await fabric.advance(Math.min(toNs, fabric.nowNs + SIMULATED_PIECE_NS));
        progress(fabric.nowNs);
        await yieldToEventLoop();
      }
    },
  };
}

/** A clock that starts now, ns. */
function sinceNow(wallClockMs: () => number): () => number {
  const startMs = wallClockMs();
  return () => Math.round((wallClockMs() - startMs) * 1e6);
}

function wallPacer(now: () => number): Pacer {
  return {
    get nowNs() {
      return now();
    },
    async until(toNs, signal, progress) {
      while (now() < toNs && !signal.aborted) {
        const leftMs = (toNs - now()) / 1e6;
        await sleep(Math.max(1, Math.min(WALL_PIECE_MS, leftMs)), undefined, { signal }).catch(
          () => undefined,
        );
        progress(now());
      }
    },
  };
}
