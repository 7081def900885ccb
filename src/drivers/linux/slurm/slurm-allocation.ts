/**
 * The nodes that Slurm has given to one job of the fabric: submitted, followed through requeues, cancelled in the end.
 *
 * The job's script holds the nodes as long as whoever drills is there, which it sees by a number in a file that goes up;
 * its ranks are steps. So a drill that was killed leaves no job behind. Ranks stay where their node stays; others go to the
 * nodes that are new. Not modelled: jobs that share a node, ranks that share a host.
 */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EnvironmentError } from '../../../core/problem.js';
import type { Topology } from '../../../model/topology/model.js';
import type { Job } from '../../../model/workload/job.js';
import { movedPlacement } from '../../../model/workload/spares.js';
import type { Allocation } from '../job/orchestrator.js';
import { quoteWord } from '../undo/shell.js';
import { CommandError, type Place } from '../transport/place.js';
import type { SlurmClient, Submission } from './slurm-client.js';
import type { SlurmScheduler } from './slurm-scheduler.js';
import { StepPlace } from './step-place.js';

const LOOK_MS = 150;
/** The script gives up after so long without a sign of life. */
const LEASE_S = 15;
const GONE_WITHIN_MS = 15_000;
/** sshd lets ten sessions into one connection. */
const RANKS_A_CONNECTION = 5;

/** What an allocation needs of its fabric. */
export interface AllocationSite {
  client: SlurmClient;
  scheduler: SlurmScheduler;
  topology: Topology;
  job: Job;
  /** On the disk that all hosts share. */
  leaseFile: string;
  nodeOf: (host: number) => string;
  hostOf: (node: string) => number;
  placeOf: (host: number) => Place;
  /** Where Slurm's commands run. */
  login: Place;
  submission: Omit<Submission, 'nodes' | 'script' | 'name'>;
  startWithinMs: number;
  /** It runs: what kept other nodes free for it can go. */
  arrived: () => Promise<void>;
}

export class SlurmAllocation implements Allocation {
  readonly retryMs = LOOK_MS;
  /** Of the job in Slurm; undefined before it was submitted. */
  id: number | undefined;
  private life = 0;

  constructor(private readonly site: AllocationSite) {}

  async acquire(): Promise<void> {
    const { client, scheduler, job, startWithinMs } = this.site;
    this.renew();
    this.id = await client.submit(this.submission());
    const untilMs = performance.now() + startWithinMs;
    for (;;) {
      const found = await scheduler.look(this.id);
      if (found === undefined) throw this.lost('ended before it ran');
      if (found.nodes.length > 0) return;
      if (performance.now() > untilMs) {
        await this.release();
        throw new EnvironmentError(
          `Slurm has not started the job "${job.name}" within ${startWithinMs / 1000} s: it was ${found.why}`,
          'free its hosts, or give it others; orchestrator.slurm.startWithin may be longer',
        );
      }
      await sleep(LOOK_MS);
    }
  }

  /** What is to be submitted, or asked about. */
  submission(): Submission {
    const { job, submission, leaseFile, topology, nodeOf } = this.site;
    const nodes = Array.from(job.placement, (gpu) => nodeOf(topology.gpus[gpu].host));
    return { name: job.name, ...submission, nodes, script: holdScript(leaseFile) };
  }

  async replace(placement: Int32Array): Promise<Int32Array | null> {
    const { hostOf, topology } = this.site;
    const nodes = await this.nodes();
    if (nodes.length === 0) return null;
    const given = nodes.map(hostOf);
    const before = Array.from(placement, (gpu) => topology.gpus[gpu].host);
    const fresh = given.filter((host) => !before.includes(host));
    let next = placement;
    for (const host of before.filter((one) => !given.includes(one))) {
      const to = fresh.shift();
      if (to === undefined) return null;
      next = movedPlacement(next, topology, host, to);
    }
    return next;
  }

  /** None while it waits, is over, or Slurm does not answer: it is asked again. */
  private async nodes(): Promise<string[]> {
    if (this.id === undefined) return [];
    try {
      const found = await this.site.scheduler.look(this.id);
      if (found === undefined || found.nodes.length === 0) return [];
      await this.site.arrived();
      return found.nodes;
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      return [];
    }
  }

  placeOf(host: number, rank: number): Place {
    const { client, login, nodeOf, placeOf } = this.site;
    const from = login.lane(`ranks-${Math.floor(rank / RANKS_A_CONNECTION)}`);
    return new StepPlace(client, from, { job: this.id!, node: nodeOf(host) }, placeOf(host));
  }

  renew(): void {
    const { leaseFile } = this.site;
    mkdirSync(dirname(leaseFile), { recursive: true });
    writeFileSync(`${leaseFile}.part`, `${++this.life}\n`);
    renameSync(`${leaseFile}.part`, leaseFile);
  }

  async release(): Promise<void> {
    const { id } = this;
    if (id === undefined) return;
    this.id = undefined;
    try {
      await endJob(this.site.client, id);
    } catch (error) {
      // A Slurm that does not answer now: without signs of life the job ends by itself.
      if (!(error instanceof CommandError)) throw error;
    }
  }

  private lost(what: string): EnvironmentError {
    const hint = 'the log of slurmctld says why; scontrol show job tells more';
    return new EnvironmentError(`the job "${this.site.job.name}" (${this.id}) of Slurm ${what}`, hint);
  }
}

/** Cancels a job, and returns when its nodes are free for the next. */
export async function endJob(client: SlurmClient, id: number): Promise<void> {
  if ((await client.job(id)) === undefined) return;
  await client.cancel(id);
  const untilMs = performance.now() + GONE_WITHIN_MS;
  while (performance.now() < untilMs) {
    const job = await client.job(id);
    if (job === undefined) return;
    await sleep(LOOK_MS);
  }
}

/** Any number in the file is a sign of life, as long as it is another one than before: clocks need not agree. */
const holdScript = (leaseFile: string): string => `#!/bin/sh
# Holds the nodes of a drill's job; its ranks are steps of this job.
last=; silent=0
while [ $silent -lt ${LEASE_S} ]; do
  now=$(cat ${quoteWord(leaseFile)} 2>/dev/null)
  if [ "$now" = "$last" ]; then silent=$((silent + 1)); else last=$now; silent=0; fi
  sleep 1
done
`;
