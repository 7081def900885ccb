/**
 * Jobs that shrink to the fabric they meet (`fit`), so that one experiment runs on a cluster and on a desk.
 *
 * Where there is room for all of them as they are written, each on two hosts or more, nothing changes. Else they share the
 * hosts: as many jobs as get two each, the first ones, and each as many GPUs as its hosts have. Degrees of parallelism
 * shrink with them: tensor groups stay within a host, and every job keeps at least two data-parallel replicas, since
 * without these it would send nothing over the fabric. Not modelled: hosts with different numbers of GPUs.
 */
import { InputError } from '../../core/problem.js';
import type { Topology } from '../topology/model.js';
import type { JobDefinition } from './job-schema.js';

/** Fewer, and a job may have no traffic between hosts. */
const FEWEST_HOSTS = 2;

/**
 * The definitions by index; undefined where the fabric has no hosts left for a job.
 * @throws InputError at the list of jobs where the fabric has one GPU
 */
export function fitJobs(
  definitions: readonly JobDefinition[],
  topology: Topology,
  pointer: string,
): (JobDefinition | undefined)[] {
  const fitting = definitions.filter(({ fit }) => fit !== undefined);
  if (fitting.length === 0) return [...definitions];
  const { gpusPerHost } = topology;
  if (topology.gpus.length < 2) {
    const message =
      'the fabric has one GPU: a job there has nobody to talk to, so no fault could slow it down';
    throw InputError.at(pointer, message, 'take a fabric of two hosts or more');
  }
  const hosts = topology.devices.filter(({ role }) => role === 'host').map(({ name }) => name);
  const spare = Math.max(...fitting.map(({ fit }) => fit!.spareHosts));
  const usable = Math.max(1, Math.min(hosts.length, Math.max(FEWEST_HOSTS, hosts.length - spare)));
  const wanted = fitting.map(({ gpus }) => Math.ceil(gpus! / gpusPerHost));
  const asWritten = wanted.every((count) => count >= FEWEST_HOSTS);
  if (asWritten && wanted.reduce((sum, count) => sum + count, 0) <= usable) return [...definitions];
  const kept = Math.max(1, Math.min(fitting.length, Math.floor(usable / FEWEST_HOSTS)));
  const share = Math.floor(usable / kept);
  const fitted = new Map(
    fitting.slice(0, kept).map((definition, index) => {
      const count = Math.min(share, Math.max(FEWEST_HOSTS, wanted[index]));
      // taking turns, so that neighbours of a job sit under different leaves where there are several
      const own = hosts
        .slice(0, usable)
        .filter((_, at) => at % kept === index)
        .slice(0, count);
      return [definition, shrunk(definition, own, gpusPerHost)];
    }),
  );
  return definitions.map((definition) =>
    definition.fit === undefined ? definition : fitted.get(definition),
  );
}

function shrunk(definition: JobDefinition, hosts: readonly string[], gpusPerHost: number): JobDefinition {
  const room = Math.min(definition.gpus!, hosts.length * gpusPerHost);
  const { tensor = 1, pipeline = 1, expert = 1 } = definition.parallelism;
  // two replicas at least, where there are two GPUs
  const most = Math.max(1, Math.min(gpusPerHost, Math.floor(room / FEWEST_HOSTS)));
  const keptTensor = largestDivisor(tensor, (degree) => degree <= most && gpusPerHost % degree === 0);
  const keptPipeline = largestDivisor(
    pipeline,
    (degree) => keptTensor * degree * FEWEST_HOSTS <= Math.max(room, keptTensor * FEWEST_HOSTS),
  );
  const model = keptTensor * keptPipeline;
  const replicas = Math.max(1, Math.floor(room / model));
  const keptExpert = Math.min(expert, replicas);
  const data = Math.floor(replicas / keptExpert) * keptExpert;
  return {
    ...definition,
    gpus: model * data,
    parallelism: { tensor: keptTensor, pipeline: keptPipeline, expert: keptExpert },
    // packed, the ranks might all be in the first of them
    placement: { strategy: 'spread', hosts: [...hosts], offset: 0 },
  };
}

function largestDivisor(of: number, fits: (degree: number) => boolean): number {
  for (let degree = of; degree > 1; degree--) if (of % degree === 0 && fits(degree)) return degree;
  return 1;
}

/** What fitting has changed, a sentence a job; empty where nothing has. */
export function fitNotes(
  definitions: readonly JobDefinition[],
  jobs: readonly { name: string; placement: { length: number } }[],
): string[] {
  return definitions.flatMap(({ name, gpus, fit }) => {
    if (fit === undefined) return [];
    const job = jobs.find((one) => one.name === name);
    if (job === undefined) return [`the fabric is too small for the job ${name}: it is left out`];
    if (job.placement.length === gpus) return [];
    return [`the job ${name} has ${job.placement.length} GPUs here instead of ${gpus}, to fit the fabric`];
  });
}
