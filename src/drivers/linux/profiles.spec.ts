/** Levels in time: none too soon, none after a stop, and those that are overtaken are passed over. */
import { describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { Profiles, type Level } from './profiles.js';

const never = (error: unknown): void => {
  throw error as Error;
};

/** Levels every 30 ms, and when each was entered. */
function levels(count: number, work: (at: number) => Promise<void> = async () => undefined) {
  const entered: { at: number; ms: number }[] = [];
  const made = Array.from({ length: count }, (_, at): Level => ({
    afterNs: (at + 1) * 30e6,
    enter: async () => {
      entered.push({ at, ms: performance.now() });
      await work(at);
    },
  }));
  return { entered, made };
}

const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await sleep(5);
};

describe('a profile', () => {
  it('comes to its levels in order, none before it is due', async () => {
    const { entered, made } = levels(4);
    const beganMs = performance.now();
    new Profiles().start('ramp', made, beganMs, never);
    await until(() => entered.at(-1)?.at === 3);
    for (const { at, ms } of entered) expect(ms - beganMs).toBeGreaterThanOrEqual((at + 1) * 30);
    expect(entered.map(({ at }) => at)).toEqual([...entered.map(({ at }) => at)].sort());
  });

  it('passes over levels that are overtaken, and ends with the last', async () => {
    const { entered, made } = levels(20, () => sleep(100));
    new Profiles().start('ramp', made, performance.now(), never);
    await until(() => entered.at(-1)?.at === 19);
    expect(entered.length).toBeLessThan(20);
  });

  it('that is stopped waits for the level under way, and no other comes', async () => {
    let under = 0;
    const { entered, made } = levels(50, async () => {
      under++;
      await sleep(50);
      under--;
    });
    const profiles = new Profiles();
    profiles.start('ramp', made, performance.now(), never);
    await until(() => under === 1);
    await profiles.stop('ramp');
    expect(under).toBe(0);
    const before = entered.length;
    await sleep(100);
    expect(entered).toHaveLength(before);
    await profiles.stop('ramp');
  });

  it('of which a level fails goes no further, and says why', async () => {
    const { entered, made } = levels(3, async () => {
      throw new Error('no answer');
    });
    const failure = await new Promise((resolve) =>
      new Profiles().start('ramp', made, performance.now(), resolve),
    );
    expect(failure).toEqual(new Error('no answer'));
    await sleep(80);
    expect(entered).toHaveLength(1);
  });
});
