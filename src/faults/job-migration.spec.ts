import { describe, expect, it } from '@jest/globals';
import { Prng } from '../core/prng.js';
import { InputError } from '../core/problem.js';
import { buildTopology, topologySchema } from '../model/topology/topology-spec.js';
import { buildJobs } from '../model/workload/build-jobs.js';
import { jobSchema, type JobInput } from '../model/workload/job-schema.js';
import { jobMigration } from './job-migration.js';

const topology = buildTopology(
  topologySchema.parse({ builder: 'leaf-spine', leaves: 2, spines: 2, hostsPerLeaf: 4, gpusPerHost: 2 }),
);
const step: JobInput['step'] = {
  compute: '100ms',
  collectives: [{ collective: 'all-reduce', bytes: '1GB' }],
};
const jobsOf = (...inputs: Partial<JobInput>[]) =>
  buildJobs(
    inputs.map((input, index) => jobSchema.parse({ name: `job-${index + 1}`, step, ...input })),
    topology,
  );
/** Two jobs: on the first host of each leaf, and on the second; the other four hosts are idle. */
const two = jobsOf({ hosts: ['host-1', 'host-5'] }, { hosts: ['host-2', 'host-6'] });

const compile = (params: object, hosts: string[], jobs = two) =>
  jobMigration.compile(
    jobMigration.parameters.parse(params),
    hosts.map((name) => ({ type: 'device', id: `device:${name}` })),
    { topology, jobs, durationNs: 10e9, random: new Prng(1) },
  );
const impairments = (params: object, hosts: string[], jobs = two) =>
  compile(params, hosts, jobs).impairments.map(({ impairment }) => impairment);
const move = { type: 'job-move', job: 'job:job-1', fromHost: 'device:host-1' } as const;

describe('job-migration', () => {
  it('planned drains the host and moves its ranks to the nearest idle one', () => {
    expect(impairments({ variant: 'planned' }, ['host-1'])).toEqual([
      { type: 'host-drain', device: 'device:host-1' },
      { ...move, toHost: 'device:host-3', mode: 'planned' },
    ]);
    expect(impairments({ variant: 'planned' }, ['host-5'])[1]).toMatchObject({ toHost: 'device:host-7' });
    expect(compile({ variant: 'planned' }, ['host-1']).truth).toEqual([
      {
        kind: 'job-migration',
        elements: [{ type: 'device', id: 'device:host-1' }],
        side: 'configuration',
        direction: 'both',
        fromNs: 0,
        toNs: 10e9,
      },
    ]);
  });

  it('after a lost host is that loss, with the move as what follows from it', () => {
    const { truth } = compile({ variant: 'after-host-loss' }, ['host-1']);
    expect(truth.map(({ kind, side }) => [kind, side])).toEqual([['node-down', 'device']]);
    expect(impairments({ variant: 'after-host-loss', to: 'host-8' }, ['host-1'])).toEqual([
      { type: 'node-down', device: 'device:host-1' },
      { ...move, toHost: 'device:host-8', mode: 'after-loss' },
    ]);
  });

  it('without a spare sends nobody anywhere, even where a host is free', () => {
    expect(impairments({ variant: 'no-spare' }, ['host-1'])).toEqual([
      { type: 'node-down', device: 'device:host-1' },
      { ...move, mode: 'after-loss' },
    ]);
  });

  it('of one pod evicts it from a host that stays up', () => {
    expect(impairments({ variant: 'one-of-n' }, ['host-1'])).toEqual([
      { type: 'host-drain', device: 'device:host-1' },
      { ...move, toHost: 'device:host-3', mode: 'evict' },
    ]);
  });

  it('promises no GPU twice, and none of a host that is left itself', () => {
    const destinations = impairments({ variant: 'planned' }, ['host-1', 'host-2', 'host-5']).flatMap((one) =>
      one.type === 'job-move' ? [one.toHost] : [],
    );
    expect(destinations).toEqual(['device:host-3', 'device:host-4', 'device:host-7']);
  });

  it('moves every job on the host, or the one that is named', () => {
    // The first job keeps GPU 0 of host-1 and host-5; the second has GPU 1 of both.
    const gpusAt = (position: number) =>
      Int32Array.from(
        ['host-1', 'host-5'].map((name) =>
          topology.gpus.findIndex(
            (gpu) => gpu.position === position && topology.devices[gpu.host].name === name,
          ),
        ),
      );
    const shared = two.map((job, index) => ({ ...job, placement: gpusAt(index) }));
    const jobs = (params: object) =>
      impairments({ variant: 'planned', ...params }, ['host-1'], shared).flatMap((one) =>
        one.type === 'job-move' ? [one.job] : [],
      );
    expect(jobs({})).toEqual(['job:job-1', 'job:job-2']);
    expect(jobs({ job: 'job-2' })).toEqual(['job:job-2']);
  });

  it('spares hosts that store checkpoints', () => {
    const storing = jobsOf({
      hosts: ['host-1', 'host-5'],
      checkpoint: { every: 10, bytesPerRank: '1GB', to: 'host-[2-4]' },
    });
    expect(impairments({ variant: 'planned' }, ['host-1'], storing)[1]).toMatchObject({
      toHost: 'device:host-6',
    });
  });
});

describe('job-migration refuses', () => {
  const full = jobsOf({ gpus: 16 });
  it.each([
    ['a switch', { variant: 'planned' }, 'leaf-1', two, /switch, on which no job runs/],
    ['an idle host', { variant: 'planned' }, 'host-3', two, /no job has a rank on host-3/],
    ['a job that is not there', { variant: 'planned', job: 'job-3' }, 'host-1', two, /job-1, job-2/],
    ['a job that is elsewhere', { variant: 'planned', job: 'job-2' }, 'host-1', two, /only job-1 has a rank/],
    ['a full fabric', { variant: 'planned' }, 'host-1', full, /nowhere are their GPUs free/],
    ['a lost host on a full fabric', { variant: 'after-host-loss' }, 'host-1', full, /no-spare/],
    ['a busy host to go to', { variant: 'planned', to: 'host-2' }, 'host-1', two, /GPUs 0, 1 of host-2/],
    ['a host of the same job', { variant: 'planned', to: 'host-5' }, 'host-1', two, /hosts that can: host-3/],
    ['a host that is not there', { variant: 'planned', to: 'host-9' }, 'host-1', two, /no host "host-9"/],
  ])('%s', (_, params, host, jobs, message) => {
    const refused = () => compile(params, [host], jobs);
    expect(refused).toThrow(InputError);
    expect(refused).toThrow(message);
  });

  it('to move one pod of a job that has a single host', () => {
    const alone = jobsOf({ hosts: ['host-1'] });
    expect(() => compile({ variant: 'one-of-n' }, ['host-1'], alone)).toThrow(/nobody would wait/);
  });

  it('a lost host on a full fabric only where a spare is needed', () => {
    expect(compile({ variant: 'no-spare' }, ['host-1'], full).impairments).toHaveLength(2);
  });
});
