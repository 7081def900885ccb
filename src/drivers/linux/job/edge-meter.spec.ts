import { describe, expect, it } from '@jest/globals';
import { EdgeMeter } from './edge-meter.js';

describe('the meter of connections', () => {
  it('counts as stalled only time in which something was under way and nothing arrived', () => {
    const meter = new EdgeMeter();
    meter.open(1);
    const look = (atMs: number, sent: number, arrivedInAll: number): void => {
      meter.sent(1, sent);
      meter.arrived(1, arrivedInAll);
      meter.look(atMs * 1e6);
    };
    look(0, 0, 0);
    look(50, 0, 0);
    expect(meter.counters()).toEqual([{ toRank: 1, deliveredBytes: 0, stalledNs: 0 }]);
    look(100, 16_384, 0);
    look(150, 16_384, 4096);
    expect(meter.counters()[0]).toEqual({ toRank: 1, deliveredBytes: 4096, stalledNs: 0 });
    look(200, 0, 4096);
    look(350, 16_384, 4096);
    // not yet a quarter of a second
    expect(meter.counters()[0].stalledNs).toBe(0);
    look(400, 0, 4096);
    expect(meter.counters()[0].stalledNs).toBe(250e6);
    look(500, 0, 4096);
    expect(meter.counters()[0].stalledNs).toBe(350e6);
    expect(meter.stuckLongerThan(349e6, 500e6)).toEqual({ toRank: 1, stillNs: 350e6 });
    look(550, 0, 49_152);
    expect(meter.counters()[0]).toEqual({ toRank: 1, deliveredBytes: 49_152, stalledNs: 350e6 });
    expect(meter.stuckLongerThan(1, 550e6)).toBeUndefined();
    look(900, 0, 49_152);
    expect(meter.counters()[0].stalledNs).toBe(350e6);
  });

  it('takes no old word for a new one', () => {
    const meter = new EdgeMeter();
    meter.open(1);
    meter.sent(1, 100);
    meter.arrived(1, 80);
    meter.arrived(1, 40);
    expect(meter.counters()[0].deliveredBytes).toBe(80);
  });
});
