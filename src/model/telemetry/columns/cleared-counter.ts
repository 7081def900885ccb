/**
 * A counter that starts again at every read, added up by whoever collects it.
 *
 * An answer that is lost on its way has cleared the counter all the same: what it had counted is in no database. One that
 * was not asked for (the device is down) has cleared nothing, nor has one that is N/A or a stale copy.
 */
import { QUALITY } from '../series.js';
import { ABSENT, type PollColumn } from './poll-column.js';

export class ClearedCounter {
  /** By element: the device's count since it started, and how much of it was read; what the answers add up to. */
  private readonly counted: Float64Array;
  private readonly read: Float64Array;
  private readonly sum: Float64Array;
  /** By element of this round: 1 when the device was asked. */
  private readonly asked: Uint8Array;

  constructor(private readonly column: PollColumn) {
    this.counted = new Float64Array(column.size);
    this.read = new Float64Array(column.size);
    this.sum = new Float64Array(column.size);
    this.asked = new Uint8Array(column.size);
  }

  /** Takes note of what the devices count, before answers get lost. */
  ask(): void {
    for (let element = 0; element < this.column.size; element++) {
      this.asked[element] = Number(this.column.codeNow(element) === QUALITY.fresh);
      if (this.asked[element] === 1) this.counted[element] = this.column.valueNow(element);
    }
  }

  /** Puts sums in place of counts, once it is known which answers arrived. */
  collect(): void {
    for (let element = 0; element < this.column.size; element++) {
      if (this.asked[element] === 0) continue;
      const code = this.column.codeNow(element);
      if (code === QUALITY.notAvailable || code === QUALITY.repeated) continue;
      const gain = this.counted[element] - this.read[element];
      this.read[element] = this.counted[element];
      if (code === ABSENT) continue;
      this.sum[element] += Math.max(0, gain);
      this.column.replaceNow(element, this.sum[element]);
    }
  }
}
