/**
 * What stands between a device's counters and the operator's database: clocks that are off, devices nobody collects
 * from, answers that are late, lost, N/A or stale, counters that wrap or start again when read.
 *
 * Everything is drawn by the seed and by name or place, never in order, so a fault shifts no draw. Which kinds of flaw
 * a fabric has is the operator's setting (telemetry/settings.ts). Names: SONiC CMIS document (flags that clear on
 * read), InfiniBand counters of 32 bits. Not modelled: samples that overtake each other, a collector that restarts.
 */
import { compileGlob } from '../../core/glob.js';
import { listChoices, nearestHint } from '../../core/nearest.js';
import { hashText } from '../../core/prng.js';
import { InputError } from '../../core/problem.js';
import type { MetricName } from '../../model/telemetry/catalog.js';
import { ABSENT } from '../../model/telemetry/columns/poll-column.js';
import { QUALITY } from '../../model/telemetry/series.js';
import type { TelemetrySettings } from '../../model/telemetry/settings.js';
import type { Topology } from '../../model/topology/model.js';
import { uniformAt } from '../noise/draws.js';

/** The owner of an element that no device answers for: a job's figures come from its scheduler. */
export const NO_DEVICE = -1;
/** A late sample still comes before the next one. */
const LATEST_SHARE = 0.9;

/** @throws InputError when the pattern is none, or means no device of the fabric */
function matcher(pattern: string, index: number, devices: Topology['devices']): (name: string) => boolean {
  const matches = compileGlob(pattern);
  if (matches !== undefined && devices.some(({ name }) => matches(name))) return matches;
  const names = devices.map(({ name }) => name);
  throw InputError.at(
    `/spec/telemetry/silentDevices/${index}`,
    matches === undefined
      ? `"${pattern}" is no pattern of names`
      : `"${pattern}" matches no device; devices are ${listChoices(names)}`,
    nearestHint(pattern, names),
  );
}

export class TelemetryFlaws {
  /** By device, ns, and ns per ns. */
  private readonly offsetNs: Float64Array;
  private readonly drift: Float64Array;
  private readonly silentDevice: Uint8Array;
  private readonly lateSeed: number;
  private readonly unsupported: ReadonlySet<MetricName>;
  private readonly cleared: ReadonlySet<MetricName>;
  private readonly short: ReadonlySet<MetricName>;
  /** Some sample may not arrive as it was measured. */
  readonly disturbing: boolean;
  /** Some sample may be stamped with another time. */
  readonly restamping: boolean;

  constructor(
    private readonly settings: TelemetrySettings,
    private readonly seed: number,
    topology: Pick<Topology, 'devices'>,
  ) {
    const { devices } = topology;
    const between = (name: string, salt: string): number =>
      2 * uniformAt(hashText(salt, seed), hashText(name, 0), 0) - 1;
    this.offsetNs = Float64Array.from(devices, ({ name }) =>
      Math.round(settings.clockSkew * between(name, 'clock-skew')),
    );
    this.drift = Float64Array.from(
      devices,
      ({ name }) => settings.clockDrift * 1e-6 * between(name, 'clock-drift'),
    );
    const named = settings.silentDevices.map((pattern, index) => matcher(pattern, index, devices));
    this.silentDevice = Uint8Array.from(devices, ({ name }) =>
      Number(
        uniformAt(hashText('silent', seed), hashText(name, 0), 0) < settings.silent ||
          named.some((matches) => matches(name)),
      ),
    );
    this.lateSeed = hashText('late', seed);
    this.unsupported = new Set(settings.unsupported);
    this.cleared = new Set(settings.clearOnRead);
    this.short = new Set(settings.counters32);
    this.disturbing =
      settings.loss + settings.notAvailable + settings.repeated > 0 ||
      this.silentDevice.includes(1) ||
      this.unsupported.size > 0;
    this.restamping = settings.late > 0 || settings.clockSkew > 0 || settings.clockDrift > 0;
  }

  isSilent(device: number): boolean {
    return device >= 0 && this.silentDevice[device] === 1;
  }

  isUnsupported(metric: MetricName): boolean {
    return this.unsupported.has(metric);
  }

  isCleared(metric: MetricName): boolean {
    return this.cleared.has(metric);
  }

  isShort(metric: MetricName): boolean {
    return this.short.has(metric);
  }

  /** What becomes of the answer of a series in a round: a code of QUALITY, or ABSENT. */
  codeOf(series: number, round: number): number {
    const { loss, notAvailable, repeated } = this.settings;
    const draw = uniformAt(this.seed, series, round);
    if (draw < loss) return ABSENT;
    if (draw < loss + notAvailable) return QUALITY.notAvailable;
    return draw < loss + notAvailable + repeated ? QUALITY.repeated : QUALITY.fresh;
  }

  /** The time that a device's clock shows. */
  clockNs(device: number, timeNs: number): number {
    return device < 0 ? timeNs : timeNs + this.offsetNs[device] + this.drift[device] * timeNs;
  }

  /** How late a sample of a series comes, ns; below its poll interval. */
  latenessNs(series: number, round: number, intervalNs: number): number {
    const { late, lateBy } = this.settings;
    const draw = late === 0 ? 1 : uniformAt(this.lateSeed, series, round);
    return draw >= late ? 0 : (draw / late) * Math.min(lateBy, LATEST_SHARE * intervalNs);
  }
}
