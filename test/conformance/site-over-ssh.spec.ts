/**
 * The contract, kept over SSH: the port settings of a lab that is told by a real sshd in each namespace, on hosts whose clocks
 * differ by hours, as those of machines do that were booted at different times.
 *
 * One fabric is opened for all checks, since each opening logs in to every device. Skipped, with the reason, where there can
 * be no lab or no sshd.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openFabric } from '../../src/fabrics/catalog.js';
import type { Fabric } from '../../src/fabrics/contract/fabric.js';
import { whyNoSshd } from '../../src/fabrics/linux/transport/testing/real-sshd.js';
import { TimerActedError } from '../../src/fabrics/linux/undo/timers.js';
import { EnvironmentError, InputError } from '../../src/kernel/problem.js';
import { whyNoLab } from '../support/linux-lab.js';
import { until } from '../support/until.js';
import { checkForeignRevert, checkRoundTrip } from './checks.js';
import { SAMPLES, SMALLEST } from './samples.js';
import { siteOverSsh, type SiteOverSsh } from './site-over-ssh.js';

const why = whyNoSshd() ?? whyNoLab('the driver linux over SSH');
if (why !== undefined) process.stderr.write(`skipped: the driver linux over SSH: ${why}\n`);

const [job] = SMALLEST.jobs;
const SPEC = {
  ...SMALLEST,
  lab: { undoMargin: '1s' },
  telemetry: { switchInterval: '500ms', nicInterval: '500ms', jobInterval: '500ms' },
  jobs: [{ ...job, name: 'llm', step: { ...job.step, compute: '60ms' } }],
};

(why === undefined ? describe : describe.skip)('the driver linux over SSH', () => {
  let site: SiteOverSsh;
  let fabric: Fabric;
  const open = ({ definition: { name, spec } }: SiteOverSsh): Promise<Fabric> =>
    openFabric({ metadata: { name }, spec }, 1);

  beforeAll(async () => {
    site = await siteOverSsh(SPEC);
    fabric = await open(site);
  });

  afterAll(async () => {
    await fabric?.close();
    await site?.down();
  });

  it.each(['link-admin-down', 'link-cut', 'blackhole', 'link-rate', 'bit-errors'] as const)(
    'applies %s, reads it back and reverts it, each as often as one likes',
    (type) => checkRoundTrip(fabric, SAMPLES[type].known),
  );

  it('reverts what another process had applied to the saved state', () =>
    checkForeignRevert(fabric, SAMPLES.blackhole.known));

  it('refuses what is not there, and changes nothing', async () => {
    for (const wrong of SAMPLES['link-cut'].unknown)
      await expect(fabric.apply('wrong', wrong)).rejects.toThrow(InputError);
  });

  it('gives a setting back by a timer on the device, though every session to it has ended', async () => {
    const { known } = SAMPLES['link-admin-down'];
    const before = await fabric.readBack(known);
    // a lease runs from when it is armed: on a busy machine to inject alone takes seconds
    for (let holdS = 1; ; holdS *= 3) {
      const injected = await fabric.apply('left alone', known, holdS * 1e9).catch((error: unknown) => error);
      if (injected === undefined) break;
      expect(injected).toBeInstanceOf(TimerActedError);
      await fabric.revert('left alone', known, before);
      expect(await fabric.readBack(known)).toEqual(before);
    }
    site.sshd.cut();
    await until(async () => JSON.stringify(await fabric.readBack(known)) === JSON.stringify(before));
    await fabric.revert('left alone', known, before);
    // a timer that acted before the drill reverted makes the drill none
    await expect(fabric.observe({ fromNs: 0, toNs: 1 })).rejects.toThrow(EnvironmentError);
  });

  it('names the device that can’t be reached and the interface that is not there', async () => {
    const { definition } = site;
    const nodes = definition.spec.transport!.nodes;
    const other = (change: Partial<(typeof nodes)[string]>): Promise<Fabric> => {
      const changed = { ...nodes, 'leaf-1': { ...nodes['leaf-1'], ...change } };
      const transport = { ...definition.spec.transport!, nodes: changed };
      return open({ ...site, definition: { ...definition, spec: { ...definition.spec, transport } } });
    };
    await expect(other({ port: 1 })).rejects.toThrow(/leaf-1: no SSH connection to root@127\.0\.0\.1:1/);
    await expect(other({ interfaces: { p1: 'swp1' } })).rejects.toThrow(/leaf-1 has no interface swp1/);
  });
});
