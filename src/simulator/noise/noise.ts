/**
 * The noise of one run, by who applies it; all undefined in a quiet world, so that nothing is asked there.
 */
import type { TelemetrySettings } from '../../model/telemetry/settings.js';
import type { Topology } from '../../model/topology/model.js';
import type { Job } from '../../model/workload/job.js';
import { ComputeNoise } from './compute-noise.js';
import { CounterNoise } from './counter-noise.js';
import { OpticNoise } from './optic-noise.js';
import { PollNoise } from './poll-noise.js';
import { TimingNoise } from './timing-noise.js';
import type { World } from './world.js';

export interface Noise {
  compute?: ComputeNoise;
  optics?: OpticNoise;
  counters?: CounterNoise;
  polls?: PollNoise;
  /** Undefined where times are not drawn, too. */
  timing?: TimingNoise;
}

export const noiseOf = (
  world: World,
  topology: Topology,
  jobs: readonly Job[],
  telemetry: TelemetrySettings,
): Noise =>
  world.isQuiet
    ? {}
    : {
        compute: new ComputeNoise(world, topology, jobs),
        optics: new OpticNoise(world, topology),
        counters: new CounterNoise(world, topology, telemetry.clearOnRead),
        polls: new PollNoise(world, topology),
        timing: world.level === undefined ? undefined : new TimingNoise(world.level, world, topology),
      };
