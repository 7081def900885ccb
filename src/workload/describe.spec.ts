import { describe, expect, it } from '@jest/globals';
import { InputError } from '../kernel/problem.js';
import { buildJobs } from './build-jobs.js';
import { describeJob } from './describe.js';
import { jobSchema } from './job-schema.js';
import { selectJobs } from './selectors.js';
import { smallTopology } from './testing/small-topology.js';

const topology = smallTopology({ hosts: 4, gpusPerHost: 2 });
const row = 'layer -1 1000 ALLREDUCE 500 1000 ALLREDUCE 500 1000 REDUCESCATTER 700 10';
const text = `HYBRID_TRANSFORMER model_parallel_NPU_group: 2\n3\n${row}\n${row}\n${row}`;
const jobs = buildJobs(
  [
    { name: 'llm-a', gpus: 4, workload: { text } },
    { name: 'llm-b', gpus: 2, step: { compute: '1ms' } },
    { name: 'etl', gpus: 2, step: { compute: '1ms' } },
  ].map((job) => jobSchema.parse(job)),
  topology,
);

describe('describeJob', () => {
  it('lists hosts with their ranks and each kind of collective once', () => {
    const description = describeJob(jobs[0], topology);
    expect(description).toMatchObject({
      name: 'llm-a',
      ranks: 4,
      computeNs: 9030,
      hosts: [
        { host: 'host-1', ranks: [0, 1] },
        { host: 'host-2', ranks: [2, 3] },
      ],
      collectives: [
        {
          collective: 'all-reduce',
          parallelism: 'tensor',
          bytes: 500,
          count: 6,
          groups: 2,
          ranksPerGroup: 2,
        },
        {
          collective: 'reduce-scatter',
          parallelism: 'data',
          bytes: 700,
          count: 3,
          groups: 2,
          ranksPerGroup: 2,
        },
      ],
    });
    expect(JSON.parse(JSON.stringify(description))).toEqual(description);
  });
});

describe('selectJobs', () => {
  it('picks by name and pattern, each job once, in the order of the jobs', () => {
    expect(selectJobs(['etl', 'llm-*', 'llm-a'], jobs, '/jobs').map((job) => job.name)).toEqual([
      'llm-a',
      'llm-b',
      'etl',
    ]);
  });

  it('a name that matches nothing is refused with the nearest one', () => {
    expect(() => selectJobs(['llm-*', 'lmm-a'], jobs, '/spec/objectives')).toThrow(
      '/spec/objectives/1: no job is called "lmm-a"; there are llm-a, llm-b, etl (did you mean "llm-a"?)',
    );
    expect(() => selectJobs(['x*'], [], '')).toThrow(InputError);
  });
});
