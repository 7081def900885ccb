/**
 * A run's progress on stderr: a line per phase, and a clock: at a terminal one that moves, elsewhere now and then a
 * line, so that a log shows that something is going on.
 */
import type { RunEventMessage } from '../client/api-client.js';

const PHASES: Record<string, string> = {
  pending: 'waiting for a worker',
  preflight: 'checking that every target answers',
  baseline: 'watching the healthy fabric',
  injecting: 'injecting',
  holding: 'holding the fault',
  reverting: 'reverting',
  observing: 'watching the recovery',
  diagnosing: 'diagnosing from evidence alone',
  scoring: 'comparing with the truth',
};

const LOG_LINE_EVERY_MS = 10_000;

export class ProgressPrinter {
  private moving = false;
  private lastLineMs: number;

  /** @param stream usually stderr; `live` when it is a terminal that may be overwritten */
  constructor(
    private readonly stream: { write(text: string): unknown },
    private readonly live: boolean,
    private readonly clockMs: () => number = () => performance.now(),
  ) {
    this.lastLineMs = clockMs();
  }

  show({ type, data }: Omit<RunEventMessage, 'id'> & Partial<RunEventMessage>): void {
    if (type === 'progress') this.clock(Number(data.now_s), Number(data.duration_s));
    else if (type === 'state') this.line(this.phase(data));
    else if (type === 'abort-requested') this.line(`abort requested: ${String(data.reason)}`);
    else if (type === 'revert-failed') this.line(`COULD NOT UNDO ${String(data.id)}: ${String(data.reason)}`);
  }

  /** Ends a moving line, so that what follows starts on a new one. */
  finish(): void {
    if (this.moving) this.stream.write('\r\u001b[K');
    this.moving = false;
  }

  private phase(data: Record<string, unknown>): string {
    const state = String(data.state);
    const detail = typeof data.detail === 'string' && data.detail !== '' ? ` (${data.detail})` : '';
    return `${state.padEnd(11)} ${PHASES[state] ?? ''}${detail}`.trimEnd();
  }

  private line(text: string): void {
    this.finish();
    this.stream.write(`${text}\n`);
    this.lastLineMs = this.clockMs();
  }

  private clock(nowS: number, durationS: number): void {
    const place = `${nowS.toFixed(0)} of ${durationS.toFixed(0)} s`;
    if (!this.live) {
      if (this.clockMs() - this.lastLineMs >= LOG_LINE_EVERY_MS) this.line(`            ${place}`);
      return;
    }
    const width = 30;
    const done = Math.max(0, Math.min(width, Math.round((nowS / durationS) * width)));
    this.stream.write(`\r\u001b[K${'█'.repeat(done)}${'░'.repeat(width - done)} ${place}`);
    this.moving = true;
  }
}
