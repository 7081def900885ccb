import { describe, expect, it } from '@jest/globals';
import { EdgeMeter, parseSocketTable } from './edge-meter.js';

const HEAD =
  '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode';
const line = (local: number, remote: number, state: string, queue: number): string => {
  const hex = (value: number, digits: number): string =>
    value.toString(16).toUpperCase().padStart(digits, '0');
  return `   1: 0100000A:${hex(local, 4)} 0200000A:${hex(remote, 4)} ${state} ${hex(queue, 8)}:00000000 01:00000014 00000000     0        0 1 2 0`;
};
const table = (...lines: string[]): string => [HEAD, ...lines, ''].join('\n');

describe('the meter of connections', () => {
  it('reads the waiting bytes of connections, not of listening sockets', () => {
    const queues = parseSocketTable(table(line(10_000, 20_001, '01', 4096), line(20_000, 0, '0A', 7)));
    expect([...queues]).toEqual([['10000>20001', 4096]]);
  });

  it('counts as stalled only time in which something waited and nothing moved', () => {
    let queue = 0;
    const meter = new EdgeMeter(() => table(line(10_000, 20_001, '01', queue)));
    meter.open(1, 10_000, 20_001);
    const look = (atMs: number, flushed: number, waiting: number): void => {
      meter.flushed(1, flushed);
      queue = waiting;
      meter.look(atMs * 1e6);
    };
    look(0, 0, 0);
    look(50, 0, 0);
    expect(meter.counters()).toEqual([{ toRank: 1, deliveredBytes: 0, stalledNs: 0 }]);
    look(100, 16_384, 16_384);
    look(150, 16_384, 16_384);
    expect(meter.counters()[0]).toMatchObject({ deliveredBytes: 16_384, stalledNs: 0 });
    look(200, 0, 16_384);
    look(250, 0, 16_384);
    expect(meter.counters()[0].stalledNs).toBe(100e6);
    expect(meter.stuckLongerThan(99e6, 250e6)).toEqual({ toRank: 1, stillNs: 100e6 });
    look(300, 0, 0);
    expect(meter.counters()[0]).toEqual({ toRank: 1, deliveredBytes: 32_768, stalledNs: 100e6 });
    expect(meter.stuckLongerThan(1, 300e6)).toBeUndefined();
  });
});
