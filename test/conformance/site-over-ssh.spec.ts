/**
 * The contract, kept over SSH: a lab that is told by a real sshd in each namespace, and a whole drill on it with jobs on hosts
 * whose clocks differ by hours, as those of machines do that were booted at different times.
 *
 * One fabric is opened for all checks, since each opening logs in to every device. Skipped, with the reason, where there can
 * be no lab or no sshd.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { revertEntry } from '../../src/drill/undo.js';
import { openFabric } from '../../src/drivers/catalog.js';
import type { Fabric } from '../../src/fabric-api/fabric.js';
import { whyNoSshd } from '../../src/drivers/linux/transport/testing/real-sshd.js';
import { TimerActedError } from '../../src/drivers/linux/undo/timers.js';
import { EnvironmentError, InputError } from '../../src/core/problem.js';
import { EvidenceIndex } from '../../src/model/telemetry/series.js';
import { drillLab } from '../support/lab-drill.js';
import { whyNoLab } from '../support/linux-lab.js';
import { until } from '../support/until.js';
import { checkForeignRevert, checkProfile, checkProfileCutShort, checkRoundTrip, timeOf } from './checks.js';
import { LINK, PROFILE, SAMPLES, SMALLEST } from './samples.js';
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

  it('goes through a profile level by level, and leaves nothing of one that is cut short', async () => {
    await checkProfile(fabric, PROFILE, timeOf(fabric));
    await checkProfileCutShort(fabric, PROFILE, timeOf(fabric));
  });

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

  it('undoes what it can when a device is lost, and says by which command the rest is undone', async () => {
    const { known } = SAMPLES['link-cut'];
    const saved = await fabric.readBack(known);
    const entry = { id: 'cut', fault: 'f', impairment: known, saved };
    await fabric.apply('cut', known, 600e9);
    const port = site.sshPorts['spine-1'];
    site.sshd.lose(port);
    const failure = await revertEntry(fabric, entry);
    expect(failure).toMatch(/no SSH connection to root@127\.0\.0\.1:\d+.*; by hand: ssh -i /);
    await site.sshd.find(port);
    expect(await fabric.readBack(known)).toEqual({
      ...saved,
      'port:spine-1/p1': { 'admin-status': 'down' },
    });
    const byHand = /by hand: (.*)$/.exec(failure!)![1];
    // its sshd is started by this very process, which must not stand still
    await promisify(execFile)('sh', ['-c', byHand]);
    expect(await fabric.readBack(known)).toEqual(saved);
    expect(await revertEntry(fabric, entry)).toBeUndefined();
  });

  it('runs a whole drill: jobs, telemetry, a fault that is named and undone, on hosts whose clocks differ', async () => {
    const { known } = SAMPLES['link-cut'];
    const saved = await fabric.readBack(known);
    const { spec } = site.definition;
    // what other checks want soon is, on a busy machine, too soon for a drill
    const patient = { ...site.definition, spec: { ...spec, lab: { ...spec.lab!, undoMargin: 60e9 } } };
    const { record, judgement, evidence, undo } = await drillLab(patient, {
      duration: '8s',
      faults: [
        {
          kind: 'link-down',
          params: { variant: 'cut' },
          target: { type: 'link', names: [LINK] },
          at: '2s',
          duration: '3s',
        },
      ],
    });
    expect(undo.map((entry) => entry.saved)).toEqual([saved]);
    expect(await fabric.readBack(known)).toEqual(saved);
    // blamed, or told as odd where it cost the job nothing
    const { culprits, remarks } = judgement.verdict!;
    const named = [...culprits.slice(0, 3), ...(remarks ?? [])];
    expect(named.map(({ kind, element }) => `${kind} ${element.id}`)).toContain(`link-down ${LINK}`);

    const index = new EvidenceIndex(evidence);
    const samples = (metric: string, element: string): number =>
      index.get(metric, element)?.timesNs.length ?? 0;
    for (const port of Object.keys(saved)) {
      const status = index.get('port_oper_status', port)!;
      const wentDown = status.timesNs[status.values.indexOf(0)];
      // stamped half way between question and answer, which are far apart on a busy machine
      expect(wentDown).toBeGreaterThan(record.injectedNs! - 1e9);
      expect(samples('bfd_session_status', port)).toBeGreaterThan(1);
      expect(samples('queue_tx_bytes', `queue:${port.slice('port:'.length)}/3`)).toBeGreaterThan(1);
    }
    expect(samples('nic_local_ack_timeouts', 'nic:host-1/nic-0')).toBeGreaterThan(1);
    const steps = index.get('job_step_time_s', 'job:llm')!;
    expect(steps.timesNs.length).toBeGreaterThan(3);
    expect(steps.timesNs.every((timeNs) => timeNs <= record.endNs)).toBe(true);
    // stamps of two machines make steps of hours, or of less than their computation, where clocks are not told apart
    expect(Math.min(...steps.values)).toBeGreaterThan(0.05);
    expect(Math.max(...steps.values)).toBeLessThan(record.endNs / 1e9);
    expect(judgement.notes.join()).toMatch(/clocks of their hosts, which are known to within \d+\.\d ms/);
  });

  it('names the device that can’t be reached and the interface that is not there', async () => {
    const { definition } = site;
    const nodes = definition.spec.transport!.nodes;
    const other = (change: Partial<(typeof nodes)[string]>): Promise<Fabric> => {
      const changed = { ...nodes, 'leaf-1': { ...nodes['leaf-1'], ...change } };
      const transport = { ...definition.spec.transport!, nodes: changed };
      return open({ ...site, definition: { ...definition, spec: { ...definition.spec, transport } } });
    };
    await expect(other({ host: 'nowhere' })).rejects.toThrow(
      /leaf-1: no SSH connection to root@127\.0\.0\.1:1/,
    );
    await expect(other({ interfaces: { p1: 'swp1' } })).rejects.toThrow(/leaf-1 has no interface swp1/);
  });
});
