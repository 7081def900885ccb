/**
 * Checkpoints and restarts as files say them.
 */
import { describe, expect, it } from '@jest/globals';
import { InputError } from '../../core/problem.js';
import { buildJobs } from './build-jobs.js';
import { jobSchema, type JobInput } from './job-schema.js';
import type { Job } from './job.js';
import { smallTopology } from './testing/small-topology.js';

const fabric = smallTopology({ hosts: 4, gpusPerHost: 2, leaves: 2 });
const base: JobInput = {
  name: 'job',
  hosts: ['host-1', 'host-2'],
  step: { compute: '1s', collectives: [{ collective: 'all-reduce', bytes: '1GB' }] },
};
const build = (extra: Partial<JobInput>): Job =>
  buildJobs([jobSchema.parse({ ...base, ...extra })], fabric, '/jobs')[0];
const messages = (checkpoint: unknown): string[] => {
  const parsed = jobSchema.safeParse({ ...base, checkpoint });
  return parsed.success ? [] : parsed.error.issues.map(({ message }) => message);
};

describe('a checkpoint', () => {
  it('takes the time it is said to take, else two seconds', () => {
    expect(build({ checkpoint: { every: 10, duration: '500ms' } }).checkpoint).toEqual({
      everySteps: 10,
      durationNs: 500e6,
    });
    expect(build({ checkpoint: { every: 10 } }).checkpoint?.durationNs).toBe(2e9);
  });

  it('that leaves the fabric takes as long as the fullest host needs', () => {
    const checkpoint = { every: 5, bytesPerRank: '10GB', hostRate: '80Gbps' };
    expect(build({ checkpoint }).checkpoint?.durationNs).toBeCloseTo(2e9, 0);
  });

  it('to hosts of the fabric goes to them in turn, to the NIC of the same position', () => {
    const { traffic } = build({
      checkpoint: { every: 5, bytesPerRank: '1GB', to: 'host-[3-4]' },
    }).checkpoint!;
    expect(traffic?.bytesPerRank).toBe(1e9);
    const receivers = Array.from(traffic!.receivers, (gpu) => fabric.gpus[gpu]);
    expect(receivers.map(({ host }) => fabric.devices[host].name)).toEqual([
      'host-3',
      'host-4',
      'host-3',
      'host-4',
    ]);
    expect(receivers.map(({ nic }) => fabric.nics[nic].position)).toEqual([0, 1, 0, 1]);
  });

  it('to a host that is not there is refused with the nearest name', () => {
    const wrong = () => build({ checkpoint: { every: 5, bytesPerRank: '1GB', to: 'hots-3' } });
    expect(wrong).toThrow(InputError);
    expect(wrong).toThrow(/hots-3/);
  });

  it.each([
    [{ every: 0 }, /1/],
    [{ every: 5, duration: '1s', bytesPerRank: '1GB', to: 'host-3' }, /follows from bytesPerRank/],
    [{ every: 5, bytesPerRank: '1GB' }, /say where it goes/],
    [{ every: 5, to: 'host-3' }, /how much goes there/],
    [{ every: 5, bytesPerRank: '1GB', to: 'host-3', hostRate: '100Gbps' }, /leave hostRate out/],
    [{ every: 5, bytesPerRank: '1GB', hostRate: '0Gbps' }, /more than 0bps/],
  ])('%j is refused', (checkpoint, message) => {
    expect(messages(checkpoint).join('\n')).toMatch(message);
  });
});

describe('a restart', () => {
  it('is nobody’s business unless the file says so', () => {
    expect(build({}).restart).toBeUndefined();
    expect(build({ restart: {} }).restart).toEqual({ detectNs: 2e9, rescheduleNs: 3e9, loadNs: 2e9 });
    expect(build({ restart: { detect: '30s', load: '1s' } }).restart).toEqual({
      detectNs: 30e9,
      rescheduleNs: 3e9,
      loadNs: 1e9,
    });
  });
});
