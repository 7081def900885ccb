/**
 * How long a port or its control plane takes: as the file says, else as drawn, else as in a quiet world.
 */
import type { TimeKind, TimingNoise } from '../noise/timing-noise.js';
import { QUIET_TIMES, type FabricSettings } from '../settings.js';

export const delayOf = (
  kind: TimeKind,
  port: number,
  settings: FabricSettings,
  timing: TimingNoise | undefined,
): number => settings[kind] ?? timing?.drawNs(kind, port, QUIET_TIMES[kind]) ?? QUIET_TIMES[kind];
