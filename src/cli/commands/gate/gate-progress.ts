/** Now and then a line on how far a gate is, so that a log shows that something is going on. */
import type { CommandContext } from '../../context.js';

const PROGRESS_EVERY_MS = 5000;

export function gateProgress({ note }: CommandContext): (done: number, planned: number) => void {
  let lastMs = performance.now();
  return (done, planned) => {
    const nowMs = performance.now();
    if (nowMs - lastMs < PROGRESS_EVERY_MS) return;
    lastMs = nowMs;
    note(`${done} of at least ${planned} runs`);
  };
}
