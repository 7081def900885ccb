/** The simulated twin of a lab: a fabric file that holds, with what the lab's own file states. */
import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { fabricSpecSchema } from '../../fabric-api/definition.js';
import { linuxDriver } from './driver.js';

const shipped = parse(readFileSync('experiments/fabrics/linux-lab.yaml', 'utf8')) as {
  spec: Record<string, unknown>;
};

const twinOf = (spec: Record<string, unknown>) =>
  fabricSpecSchema.parse(linuxDriver.twin({ name: 'lab', spec: fabricSpecSchema.parse(spec) }, spec));

describe('the twin of a lab', () => {
  it('is the same fabric with the same jobs, simulated', () => {
    const [lab, twin] = [fabricSpecSchema.parse(shipped.spec), twinOf(shipped.spec)];
    expect(twin.driver).toBe('simulated');
    expect([twin.topology, twin.jobs, twin.telemetry]).toEqual([lab.topology, lab.jobs, lab.telemetry]);
    const { bfdInterval, bfdMultiplier, bgpHold, staleNextHops, mtu, headerBytes } = lab.settings;
    expect(twin.settings).toMatchObject({
      ...{ bfdInterval, bfdMultiplier, bgpHold, staleNextHops, mtu, headerBytes },
    });
  });

  it('shares links as TCP does, drops and cuts nothing, and knows the classes of its jobs', () => {
    const jobs = (shipped.spec.jobs as Record<string, unknown>[]).map((job) => ({ ...job, priority: 5 }));
    const { contention, sourcePorts, dcqcn, ecn, pfc } = twinOf({ ...shipped.spec, jobs }).settings;
    expect([contention, sourcePorts]).toEqual(['fair', 'spread']);
    expect([dcqcn.on, ecn.pmax, pfc.on, pfc.priorities]).toEqual([false, 0, false, [5]]);
  });

  it('probes for what was lost after two round trips of a full window', () => {
    // 64 kB at 50 Mbit/s take 10.24 ms
    expect(twinOf(shipped.spec).settings.adaptiveBase).toBe(20.48e6);
    expect(twinOf({ ...shipped.spec, lab: { sendBuffer: '32kB' } }).settings.adaptiveBase).toBe(10.24e6);
  });

  it('has its sessions back later where FRR waits longer between two tries', () => {
    const lab = { bgpConnectRetry: '5s' };
    expect(twinOf({ ...shipped.spec, lab }).settings.sessionRestore).toBe(3.9e9);
  });

  it('takes what the file states rather than what Linux does', () => {
    const settings = {
      ...(shipped.spec.settings as Record<string, unknown>),
      routeRepair: '1s',
      pfc: { on: true },
    };
    const twin = twinOf({ ...shipped.spec, settings }).settings;
    expect([twin.routeRepair, twin.pfc.on, twin.bgpPropagation]).toEqual([1e9, true, 53e6]);
  });
});
