/**
 * What a lab and the faults in it leave behind when things go wrong: killed processes, killed builds, taken names, switches
 * that vanish. One small lab, without jobs running.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { openFabric } from '../../src/drivers/catalog.js';
import type { Fabric } from '../../src/fabric-api/fabric.js';
import type { Impairment } from '../../src/fabric-api/impairment.js';
import { revertEntry } from '../../src/drill/undo.js';
import { EnvironmentError } from '../../src/core/problem.js';
import { identityOf } from '../../src/system/process-identity.js';
import { compileProgram, startProgram, type ChildProgram } from '../support/child-program.js';
import { inNamespace, labDefinition, labDown, labNamespaces, labUp, whyNoLab } from '../support/linux-lab.js';
import { until } from '../support/until.js';
import { PROFILE } from '../conformance/samples.js';

const why = whyNoLab('undo on a lab of Linux namespaces');

const spec = {
  topology: {
    builder: 'leaf-spine',
    leaves: 2,
    spines: 1,
    hostsPerLeaf: 1,
    hostRate: '50Mbps',
    fabricRate: '50Mbps',
  },
  settings: { mtu: '1448B', bfd: false },
  lab: { undoMargin: '1s' },
  jobs: [],
};
const definition = labDefinition(spec);
const LINK = 'link:leaf-1/p2--spine-1/p1';
const CUT: Impairment = { type: 'link-cut', link: LINK };
const LOSS: Impairment = { type: 'blackhole', link: LINK, fromPort: 'port:leaf-1/p2' };

const namespaces = (): string[] => labNamespaces(definition.name);

const inDevice = (device: string, ...command: string[]): string =>
  inNamespace(`${definition.name}-${device}`, ...command);

const adminState = (device: string, port: string): string =>
  /[<,]UP[,>]/.test(inDevice(device, 'ip', 'link', 'show', port)) ? 'up' : 'down';

const open = (): Promise<Fabric> =>
  openFabric({ metadata: { name: definition.name }, spec: definition.spec }, 1);

/** Opens the lab, applies what it is given as JSON for so many ns, and stays. */
const PROGRAM = `
import { openFabric } from './src/drivers/catalog.js';
const [definition, holdNs, ...impairments] = process.argv.slice(2).map((word) => JSON.parse(word));
const fabric = await openFabric({ metadata: { name: definition.name }, spec: definition.spec }, 1);
for (const [index, impairment] of impairments.entries()) await fabric.apply('run/' + index, impairment, holdNs);
console.log('in place');
setInterval(() => undefined, 1000);
`;

(why === undefined ? describe : describe.skip)('a lab of Linux namespaces', () => {
  let program: ChildProgram;

  beforeAll(async () => {
    program = compileProgram(PROGRAM);
    await labUp(definition);
  });

  afterAll(async () => {
    program.remove();
    await labDown(definition);
    expect(namespaces()).toEqual([]);
  });

  afterEach(() => {
    inDevice('leaf-1', 'ip', 'link', 'set', 'p2', 'up');
    inDevice('spine-1', 'ip', 'link', 'set', 'p1', 'up');
  });

  /** A process of its own that has applied these, killed without a chance to undo anything. */
  async function killedAfter(holdNs: number, ...impairments: Impairment[]): Promise<void> {
    const words = [definition, holdNs, ...impairments].map((word) => JSON.stringify(word));
    const running = startProgram(program, words);
    expect(await running.line()).toBe('in place');
    running.process.kill('SIGKILL');
    await running.ended;
  }

  it('is as it was when the lease ends, though the drill was killed', async () => {
    await killedAfter(6e9, CUT, LOSS);
    expect(adminState('leaf-1', 'p2')).toBe('down');
    expect(inDevice('spine-1', 'nft', 'list', 'tables')).toContain('loss_p1');
    await until(
      () => adminState('leaf-1', 'p2') === 'up' && adminState('spine-1', 'p1') === 'up',
      'the link that comes back',
    );
    await until(
      () => !inDevice('spine-1', 'nft', 'list', 'tables').includes('loss_p1'),
      'the end of the losses',
    );
  });

  it('is as it was when the lease ends, though the drill was killed in the midst of a profile', async () => {
    const fabric = await open();
    const before = await fabric.readBack(PROFILE);
    await killedAfter(12e9, PROFILE);
    const during = await fabric.readBack(PROFILE);
    expect(during).not.toEqual(before);
    // levels are turned by the drill: none comes after it
    await sleep(2500);
    expect(await fabric.readBack(PROFILE)).toEqual(during);
    await until(
      async () => JSON.stringify(await fabric.readBack(PROFILE)) === JSON.stringify(before),
      'the end of the errors',
    );
    await fabric.close();
  });

  it('keeps a port down that was down before the drill', async () => {
    inDevice('leaf-1', 'ip', 'link', 'set', 'p2', 'down');
    await killedAfter(1e9, CUT);
    await until(() => adminState('spine-1', 'p1') === 'up', 'the other end');
    const fabric = await open();
    expect((await fabric.readBack(CUT))['port:leaf-1/p2']).toEqual({ 'admin-status': 'down' });
    await fabric.close();
  });

  it('is not drilled where the timer of a killed drill would interfere, and another process can clear that', async () => {
    await killedAfter(60e9, CUT);
    const fabric = await open();
    await expect(fabric.apply('mine', CUT)).rejects.toThrow(/undo timer of another drill/);
    const saved = { 'port:leaf-1/p2': { 'admin-status': 'up' }, 'port:spine-1/p1': { 'admin-status': 'up' } };
    expect(await revertEntry(fabric, { id: 'run/0', fault: 'f', impairment: CUT, saved })).toBeUndefined();
    await fabric.apply('mine', CUT);
    await fabric.revert('mine', CUT, saved);
    expect(adminState('leaf-1', 'p2')).toBe('up');
    await fabric.close();
  });

  it('says what to do by hand when a switch vanishes, and undoes the others', async () => {
    const fabric = await open();
    const saved = await fabric.readBack(CUT);
    await fabric.apply('cut', CUT);
    const name = `${definition.name}-spine-1`;
    const [pid] = execFileSync('ip', ['netns', 'pids', name], { encoding: 'utf8' }).split('\n');
    execFileSync('ip', ['netns', 'del', name]);
    try {
      const failure = await revertEntry(fabric, { id: 'cut', fault: 'f', impairment: CUT, saved });
      expect(failure).toContain(`by hand: ip netns exec ${name} ip link set dev p1 up`);
      expect(adminState('leaf-1', 'p2')).toBe('up');
    } finally {
      execFileSync('ip', ['netns', 'attach', name, pid]);
    }
    expect(await revertEntry(fabric, { id: 'cut', fault: 'f', impairment: CUT, saved })).toBeUndefined();
    await fabric.close();
  });

  it('that has lost a namespace is not drilled, and is removed with what still runs in it', async () => {
    const name = `${definition.name}-spine-1`;
    const pids = execFileSync('ip', ['netns', 'pids', name], { encoding: 'utf8' }).trim().split('\n');
    expect(pids.length).toBeGreaterThan(0);
    execFileSync('ip', ['netns', 'del', name]);
    await expect(open()).rejects.toThrow(
      new RegExp(`no longer whole: the network namespace ${name} is gone`),
    );
    await labDown(definition);
    expect(pids.filter((pid) => identityOf(Number(pid)) !== undefined)).toEqual([]);
    expect(namespaces()).toEqual([]);
    await labUp(definition);
  });

  it('that is up is not built again', async () => {
    await expect(labUp(definition)).rejects.toThrow(/is up already/);
    expect(namespaces()).toHaveLength(5);
  });

  it('that an interrupted build has left is cleared by the next one', async () => {
    const file = `/run/fabricdrill/labs/${definition.name}/record.json`;
    const record = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    writeFileSync(file, JSON.stringify({ ...record, state: 'building', owner: '4194301-0' }));
    await expect(open()).rejects.toThrow(/half built/);
    const before = execFileSync('stat', ['-c', '%i', `/run/netns/${definition.name}-leaf-1`], {
      encoding: 'utf8',
    });
    await labUp(definition);
    const after = execFileSync('stat', ['-c', '%i', `/run/netns/${definition.name}-leaf-1`], {
      encoding: 'utf8',
    });
    expect(after).not.toBe(before);
    expect(namespaces()).toHaveLength(5);
  });

  it('leaves namespaces of others alone, whatever they are called', async () => {
    const foreign = `${definition.name}-leaf-3`;
    execFileSync('ip', ['netns', 'add', foreign]);
    const taken = labDefinition(spec);
    const name = `${taken.name}-host-1`;
    execFileSync('ip', ['netns', 'add', name]);
    const lab = { ...definition.spec.lab, prefix: definition.name };
    const sameNames = { ...taken, spec: { ...taken.spec, lab } } as typeof taken;
    try {
      await expect(labUp(sameNames)).rejects.toThrow(`the lab "${definition.name}" has made`);
      await expect(labUp(taken)).rejects.toThrow(EnvironmentError);
      await labDown(definition);
      expect(namespaces()).toEqual([foreign]);
      expect(spawnSync('ip', ['netns', 'pids', name]).status).toBe(0);
    } finally {
      execFileSync('ip', ['netns', 'del', foreign]);
      execFileSync('ip', ['netns', 'del', name]);
    }
    await expect(open()).rejects.toThrow(/is not up/);
    await labUp(definition);
  });
});
