/**
 * How long ranks compute in an untidy world: lasting differences of GPUs and hosts, scatter from step to step, a swing
 * over the day, and stops for garbage collection, by the operating system and for want of data.
 *
 * Drawn by rank and step, so that step n is the same however long those before took. Rates by the step count short steps
 * by their length: those of training take seconds, and a toy job of many steps a second must not stop in every one.
 */
import { jobId } from '../../core/elements.js';
import { hashText } from '../../core/prng.js';
import { NS_PER } from '../../core/units.js';
import type { Topology } from '../../model/topology/model.js';
import type { Job } from '../../model/workload/job.js';
import { between, logNormalOf, normalOf, poissonOf, uniformAt } from './draws.js';
import type { Level } from './levels.js';
import { idsOf, type World } from './world.js';

/** Step that rates by the step are meant for, and the shortest time between two collections of garbage. */
const USUAL_STEP_NS = NS_PER.s;
const GC_LEAST_NS = NS_PER.m;

/** What one step of a job is made of, by rank. */
export interface StepNoise {
  /** How many times longer than normal it computes. */
  readonly factors: Float64Array;
  /** Stops beside its work, ns. */
  readonly stopsNs: Float64Array;
}

/** GPU by rank, and where to put its stops. */
type StopsOf = Pick<StepNoise, 'stopsNs'> & { placement: Int32Array };

/** How long a stop lasts that a file states. G4, G7 */
const STATED_STOP_NS = { loaderStall: 0.5e9, gcPause: 0.15e9 } as const;

const clamp = (value: number, most: number): number => Math.max(-most, Math.min(most, value));

/** Work of a step as its program says, ns. */
const workOf = ({ program }: Job): number =>
  program.operations.reduce((sum, one) => sum + (one.type === 'compute' ? one.durationNs : 0), 0);

/** The last stage of a pipeline also computes the loss. */
function stageFactors({ placement, program }: Job, more: number): Float64Array {
  const factors = new Float64Array(placement.length).fill(1);
  const groups = program.operations.flatMap((one) =>
    one.type === 'collective' && one.parallelism === 'pipeline' ? one.groups : [],
  );
  const senders = new Set(groups.map((group) => group[0]));
  for (const group of groups) {
    const last = group[group.length - 1];
    if (!senders.has(last)) factors[last] = 1 + more;
  }
  return factors;
}

export class ComputeNoise {
  /** By GPU. */
  private readonly lasting: Float64Array;
  /** By GPU: coefficient of variation, and a hash of its id. */
  private readonly scatter: Float64Array;
  private readonly streams: Int32Array;
  private readonly stepSeed: number;
  private readonly daySeed: number;
  private readonly stopSeed: number;
  /** By job: work of a step, ns, and a hash of its name. */
  private readonly workNs: Float64Array;
  private readonly jobStreams: Int32Array;
  /** By job and rank: what its place in the pipeline makes of its work. */
  private readonly stage: readonly Float64Array[];
  private readonly gpuIds: readonly string[];
  private readonly stated: {
    event: keyof typeof STATED_STOP_NS;
    host: number;
    atNs: number;
    done: boolean;
  }[];

  constructor(
    private readonly world: World,
    private readonly topology: Topology,
    private readonly jobs: readonly Job[],
  ) {
    const ids = idsOf(topology);
    const { level } = world;
    const hostFactor = topology.devices.map(({ index, role }) =>
      level === undefined || role === 'switch' ? 1 : this.hostFactor(level, ids.devices[index]),
    );
    this.lasting = Float64Array.from(topology.gpus, ({ host }, gpu) =>
      world.lasting(
        'computeFactor',
        ids.gpus[gpu],
        ({ gpuFactor: { spread, cut } }, uniform) =>
          hostFactor[host] * (1 + clamp(spread * normalOf(uniform), cut)),
        1,
        ids.devices[host],
      ),
    );
    this.scatter = Float64Array.from(
      topology.gpus,
      ({ host }, gpu) =>
        world.lasting(
          'stepNoise',
          ids.gpus[gpu],
          ({ stepNoise, sequenceNoise }) => 100 * Math.hypot(stepNoise, sequenceNoise),
          0,
          ids.devices[host],
        ) / 100,
    );
    this.streams = Int32Array.from(ids.gpus, (id) => hashText(id));
    this.stepSeed = world.seedOf('step-noise');
    this.daySeed = world.seedOf('day');
    this.stopSeed = world.seedOf('stop');
    this.gpuIds = ids.gpus;
    this.workNs = Float64Array.from(jobs, workOf);
    this.stage = jobs.map((job) => stageFactors(job, level?.lastStage ?? 0));
    this.jobStreams = Int32Array.from(jobs, ({ name }) => hashText(name));
    this.stated = (['loaderStall', 'gcPause'] as const).flatMap((event) =>
      [...world.allStated(event)].map(([id, atS]) => ({
        event,
        host: ids.devices.indexOf(id),
        atNs: atS * NS_PER.s,
        done: false,
      })),
    );
  }

  /** Draws a step of a job. @param placement GPU by rank */
  draw(job: number, step: number, nowNs: number, placement: Int32Array, out: StepNoise): void {
    const { factors, stopsNs } = out;
    const { level } = this.world;
    const common = level === undefined ? 1 : this.dayFactor(level, nowNs);
    for (let rank = 0; rank < factors.length; rank++) {
      const gpu = placement[rank];
      const scatter = this.scatter[gpu];
      const drawn =
        scatter === 0 ? 1 : Math.exp(scatter * normalOf(uniformAt(this.stepSeed, this.streams[gpu], step)));
      factors[rank] = common * this.lasting[gpu] * this.stage[job][rank] * drawn;
      stopsNs[rank] = 0;
    }
    const by = { placement, stopsNs };
    if (level !== undefined) this.stop(level, job, step, nowNs, by);
    if (this.stated.length > 0) this.stopAsStated(nowNs, by);
  }

  private hostFactor(level: Level, id: string): number {
    const { share, factor } = level.slowHosts;
    const slow = this.world.uniform('slow-host', id) < share ? factor : 1;
    return slow * (1 + level.hostFactor.spread * normalOf(this.world.uniform('host-factor', id)));
  }

  private dayFactor({ daySwing }: Level, nowNs: number): number {
    const phase = uniformAt(this.daySeed, 0, 0);
    return 1 + (daySwing / 2) * Math.sin(2 * Math.PI * (nowNs / NS_PER.d + phase));
  }

  private stop(level: Level, job: number, step: number, nowNs: number, by: StopsOf): void {
    const { gc, loaderStall, osStall } = level;
    const ranks = by.stopsNs.length;
    const workNs = this.workNs[job];
    if (workNs === 0) return;
    const everySteps = Math.max(gc.everySteps, Math.ceil(GC_LEAST_NS / workNs));
    if (gc.together) {
      const first = Math.floor(everySteps * uniformAt(this.stopSeed, this.jobStreams[job], 0));
      if (step % everySteps === first) {
        for (let rank = 0; rank < ranks; rank++) by.stopsNs[rank] += gc.medianS * NS_PER.s;
        this.note('gcPause', jobId(this.jobs[job].name), nowNs, gc.medianS * NS_PER.s);
      }
    } else {
      this.pick('gcPause', job, step, ranks / everySteps, nowNs, by, (uniform) =>
        logNormalOf(uniform, gc.medianS, gc.sigma),
      );
    }
    const { perStep, medianS, sigma, capS } = loaderStall;
    const share = Math.min(1, workNs / USUAL_STEP_NS);
    this.pick('loaderStall', job, step, perStep * share, nowNs, by, (uniform) =>
      Math.min(capS, logNormalOf(uniform, medianS, sigma)),
    );
    this.pick('osStall', job, step, (ranks * osStall.perMinute * workNs) / NS_PER.m, nowNs, by, (uniform) =>
      between(uniform, osStall.lastS),
    );
  }

  /** Stops as many ranks as a Poisson draw about `mean` says. @param lasts s, of a uniform number */
  private pick(
    event: string,
    job: number,
    step: number,
    mean: number,
    nowNs: number,
    { placement, stopsNs }: StopsOf,
    lasts: (uniform: number) => number,
  ): void {
    if (mean === 0) return;
    const seed = this.world.seedOf(event);
    const stream = this.jobStreams[job];
    const count = poissonOf(uniformAt(seed, stream, step), mean);
    for (let one = 1; one <= count; one++) {
      const rank = Math.floor(stopsNs.length * uniformAt(seed + one, stream, step));
      const stopNs = NS_PER.s * lasts(uniformAt(seed - one, stream, step));
      stopsNs[rank] += stopNs;
      this.note(event, this.gpuIds[placement[rank]], nowNs, stopNs);
    }
  }

  /** Stops that a file states, in the first step that begins from their time on. */
  private stopAsStated(nowNs: number, { placement, stopsNs }: StopsOf): void {
    for (const stop of this.stated) {
      if (stop.done || nowNs < stop.atNs) continue;
      const rank = placement.findIndex((gpu) => this.topology.gpus[gpu].host === stop.host);
      if (rank < 0) continue;
      stop.done = true;
      const lastsNs = STATED_STOP_NS[stop.event];
      if (stop.event === 'loaderStall') stopsNs[rank] += lastsNs;
      else {
        placement.forEach((gpu, at) => {
          if (this.topology.gpus[gpu].host === stop.host) stopsNs[at] += lastsNs;
        });
      }
      this.note(stop.event, this.gpuIds[placement[rank]], nowNs, lastsNs);
    }
  }

  private note(event: string, element: string, fromNs: number, lastsNs: number): void {
    this.world.happened({ event, element, fromNs, toNs: fromNs + lastsNs });
  }
}
