/**
 * From job definitions to jobs on a fabric: placement, parallel groups, step program.
 *
 * Jobs with `fit` are made smaller first, where they must. Pinned jobs (explicit hosts or an offset) are placed first, the others in file order on what is free; the result
 * is in file order. All jobs are tried, so that one pass reports every mistake.
 */
import { listChoices } from '../../core/nearest.js';
import { InputError, type InputIssue } from '../../core/problem.js';
import type { Topology } from '../topology/model.js';
import { parallelGroups, resolveParallelism, type Parallelism } from './groups.js';
import { parseWorkload, type Workload } from './import-workload.js';
import { fitJobs } from './fit-jobs.js';
import type { JobDefinition } from './job-schema.js';
import { checkpointPlan, restartTimes } from './durability.js';
import type { Job, StepProgram } from './job.js';
import { GpuPool, isPinned, type PlacementRequest } from './placement.js';
import { syntheticProgram } from './step-program.js';
import { workloadProgram } from './workload-program.js';

/**
 * @param pointer of the list of jobs, such as `/spec/jobs`
 * @throws InputError with an issue per mistake: unknown host, too few GPUs, a GPU wanted twice, degrees that don't
 *   fit the ranks, a name used twice, a malformed workload
 */
export function buildJobs(
  definitions: readonly JobDefinition[],
  topology: Topology,
  pointer = '/jobs',
): Job[] {
  const pool = new GpuPool(topology);
  const issues: InputIssue[] = sameNames(definitions, pointer);
  const jobs = new Array<Job | undefined>(definitions.length);
  const fitted = fitJobs(definitions, topology, pointer);
  const build = (index: number): void => {
    const definition = fitted[index];
    if (definition === undefined) return;
    try {
      jobs[index] = buildJob(definition, pool, topology, `${pointer}/${index}`);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      issues.push(...error.issues);
    }
  };
  const pinned = definitions.map((definition) => isPinned(placementOf(definition)));
  definitions.forEach((_, index) => pinned[index] && build(index));
  definitions.forEach((_, index) => !pinned[index] && build(index));
  if (issues.length > 0) throw new InputError(issues);
  return jobs.filter((job) => job !== undefined);
}

function sameNames(definitions: readonly JobDefinition[], pointer: string): InputIssue[] {
  const first = new Map<string, number>();
  const issues: InputIssue[] = [];
  definitions.forEach(({ name }, index) => {
    const earlier = first.get(name);
    if (earlier === undefined) first.set(name, index);
    else {
      const message = `"${name}" is already the name of job ${earlier}; names: ${listChoices(first.keys())}`;
      issues.push({ pointer: `${pointer}/${index}/name`, message });
    }
  });
  return issues;
}

function placementOf(definition: JobDefinition): Pick<PlacementRequest, 'strategy' | 'hosts' | 'offset'> {
  if (definition.hosts !== undefined) return { strategy: 'explicit', hosts: definition.hosts, offset: 0 };
  return definition.placement ?? { strategy: 'packed', offset: 0 };
}

function buildJob(definition: JobDefinition, pool: GpuPool, topology: Topology, pointer: string): Job {
  const workload = workloadOf(definition, pointer);
  const wanted: Partial<Parallelism> = { ...workload?.parallelism, ...definition.parallelism };
  const request: PlacementRequest = {
    job: definition.name,
    ...placementOf(definition),
    tensor: wanted.tensor ?? 1,
    gpus: definition.gpus,
    pointer,
    hostsPointer: definition.hosts === undefined ? `${pointer}/placement/hosts` : `${pointer}/hosts`,
  };
  request.gpus ??= Math.max(0, pool.countOn(request) - request.offset);
  if (workload !== undefined) checkSize(workload, request.gpus, definition, pointer);
  const parallelism = resolveParallelism(wanted, request.gpus, `${pointer}/parallelism`);
  const program = programOf(definition, workload, parallelism, pointer);
  const placement = pool.place(request);
  const checkpoint = checkpointPlan(definition, placement, topology, `${pointer}/checkpoint`);
  const restart = restartTimes(definition);
  return {
    name: definition.name,
    placement,
    program,
    startNs: definition.start,
    queuePairs: definition.queuePairs,
    priority: definition.priority,
    ...(checkpoint === undefined ? {} : { checkpoint }),
    ...(restart === undefined ? {} : { restart }),
    ...(definition.steps === undefined ? {} : { steps: definition.steps }),
  };
}

function workloadOf(definition: JobDefinition, pointer: string): Workload | undefined {
  if (definition.workloadFile !== undefined) {
    const hint = 'send the text of the file as workload: { text }';
    throw InputError.at(`${pointer}/workloadFile`, 'a path can only be read where the file is', hint);
  }
  if (definition.workload === undefined) return undefined;
  return parseWorkload(definition.workload.text, {
    file: definition.workload.file,
    pointer: `${pointer}/workload/text`,
  });
}

function checkSize(workload: Workload, ranks: number, definition: JobDefinition, pointer: string): void {
  const wanted = workload.allGpus;
  if (wanted === undefined || wanted <= ranks) return;
  const place = definition.gpus === undefined ? pointer : `${pointer}/gpus`;
  const message = `the workload names ${wanted} ranks (all_gpus); job "${definition.name}" has ${ranks}`;
  throw InputError.at(place, message, `give the job ${wanted} GPUs or a smaller workload`);
}

function programOf(
  definition: JobDefinition,
  workload: Workload | undefined,
  parallelism: Parallelism,
  pointer: string,
): StepProgram {
  const groups = parallelGroups(parallelism);
  if (workload !== undefined) return workloadProgram(workload, groups, `${pointer}/workload`);
  return syntheticProgram(definition.step!, groups, `${pointer}/step`);
}
