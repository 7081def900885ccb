import { describe, expect, it } from '@jest/globals';
import { InputError } from '../../core/problem.js';
import { oneWire, simulatedFabric, twoJobs } from '../../../test/support/simulated-fabric.js';
import type { Impairment } from '../../fabric-api/impairment.js';

const cut: Impairment = { type: 'link-cut', link: 'link:host-1/nic-0--leaf-1/p1' };
const shut: Impairment = {
  type: 'link-admin-down',
  link: 'link:host-1/nic-0--leaf-1/p1',
  port: 'port:leaf-1/p1',
};

describe('overlapping impairments of one element', () => {
  it('are lifted only with the last of them', async () => {
    const fabric = simulatedFabric(oneWire);
    const healthy = await fabric.readBack(cut);
    await fabric.apply('first', cut);
    const savedBySecond = await fabric.readBack(cut);
    await fabric.apply('second', cut);
    await fabric.revert('first', cut, healthy);
    expect(await fabric.readBack(cut)).toEqual({ [cut.link]: { cable: 'cut' } });
    // What the second saved was the first's doing, and must not stay.
    await fabric.revert('second', cut, savedBySecond);
    expect(await fabric.readBack(cut)).toEqual(healthy);
  });

  it('of different kinds do not lift each other', async () => {
    const fabric = simulatedFabric(oneWire);
    const [savedCut, savedShut] = [await fabric.readBack(cut), await fabric.readBack(shut)];
    await fabric.apply('cut', cut);
    await fabric.apply('shut', shut);
    await fabric.revert('cut', cut, savedCut);
    expect(await fabric.readBack(shut)).toEqual({ [shut.port]: { 'admin-status': 'down' } });
    await fabric.revert('shut', shut, savedShut);
    expect(await fabric.readBack(shut)).toEqual(savedShut);
  });

  it("never lift a port that was shut down before, whoever's revert comes last", async () => {
    const fabric = simulatedFabric(oneWire);
    await fabric.apply('operator', shut);
    const operatorsChoice = await fabric.readBack(shut);
    await fabric.apply('drill', shut);
    await fabric.revert('drill', shut, operatorsChoice);
    expect(await fabric.readBack(shut)).toEqual(operatorsChoice);
    await fabric.revert('drill', shut, { [shut.port]: { 'admin-status': 'up' } });
    expect(await fabric.readBack(shut)).toEqual(operatorsChoice);
  });

  it('are not lifted by an id that was never applied', async () => {
    const fabric = simulatedFabric(oneWire);
    const healthy = await fabric.readBack(cut);
    await fabric.apply('mine', cut);
    await fabric.revert('unknown', cut, healthy);
    expect(await fabric.readBack(cut)).toEqual({ [cut.link]: { cable: 'cut' } });
  });
});

describe('a revert without a usable saved state', () => {
  it('is refused when the id is unknown, and changes nothing', async () => {
    const fabric = simulatedFabric(oneWire);
    await expect(fabric.revert('unknown', cut, {})).rejects.toThrow(InputError);
    expect(await fabric.readBack(cut)).toEqual({ [cut.link]: { cable: 'connected' } });
  });
});

describe('jobs crossing an element', () => {
  it('follow the routes as they change', async () => {
    const fabric = simulatedFabric(twoJobs);
    const uplinks = fabric
      .describe()
      .topology.links.filter(({ id }) => id.includes('leaf-1/') && id.includes('spine-'))
      .map(({ id }) => id);
    expect(uplinks).toHaveLength(4);
    const link = uplinks[0];
    expect(await fabric.jobsCrossing(link)).toEqual(['llm-a']);
    expect(await fabric.jobsCrossing('device:spine-1')).toEqual(['llm-a', 'llm-b']);
    expect(await fabric.jobsCrossing('device:host-8')).toEqual(['llm-b']);
    expect(await fabric.jobsCrossing('nic:host-1/nic-3')).toEqual(['llm-a']);
    expect(await fabric.jobsCrossing('port:host-5/nic-0')).toEqual(['llm-b']);
    await fabric.startJobs();
    await fabric.apply('cut', { type: 'link-cut', link });
    await fabric.advance(1e9);
    expect(await fabric.jobsCrossing(link)).toEqual([]);
    await fabric.revert('cut', { type: 'link-cut', link }, {});
    await fabric.advance(5e9);
    expect(await fabric.jobsCrossing(link)).toEqual(['llm-a']);
  });
});

describe('jobs', () => {
  it('do not run before they are started', async () => {
    const fabric = simulatedFabric(oneWire);
    await fabric.advance(3e9);
    const evidence = await fabric.observe({ fromNs: 0, toNs: 3e9 });
    const sent = evidence.series.filter(({ metric }) => metric === 'port_tx_bytes');
    expect(sent.length).toBeGreaterThan(0);
    expect(sent.every(({ values }) => values.every((value) => value === 0))).toBe(true);
  });
});

describe('a simulation that has failed', () => {
  it('undoes what was applied, and does not go on', async () => {
    const fabric = simulatedFabric(oneWire);
    const healthy = await fabric.readBack(cut);
    await fabric.startJobs();
    await fabric.advance(1e9);
    await fabric.apply('mine', cut);
    fabric.onWork(() => {
      throw new Error('the computing has failed');
    });
    await expect(fabric.advance(2e9)).rejects.toThrow('the computing has failed');
    await fabric.revert('mine', cut, healthy);
    expect(await fabric.readBack(cut)).toEqual(healthy);
    await expect(fabric.advance(3e9)).rejects.toThrow(/a simulation that has failed can not go on/);
  });
});
