/**
 * The signal on each direction of a link: errors as the receiver counts them, and light at both of its ends.
 *
 * Forward error correction hides bit errors until they are many, so the ratio before FEC tells first, uncorrectable
 * codewords and damaged frames later (SONiC FEC BER and FLR designs). Light tells where it comes from: less at the
 * receiver with as much at the sender is lost on the way, less at the sender is its laser, unchanged at both is neither
 * (SONiC CMIS design). Modules differ by design, so light is compared with the same port's past.
 *
 * Healthy ports of one plant lie decades apart before FEC, and what FEC corrects hurts nobody. So a ratio stands out
 * against the port's own past and its peers, not against a limit, and is trouble only where damage comes with it:
 * codewords beyond correction, damaged frames, or a ratio that the code is not made for.
 */
import type { MetricName } from '../../../model/telemetry/catalog.js';
import type { Context, Interval } from '../../series/context.js';
import {
  firstAfter,
  freshColumn,
  freshCount,
  freshSamples,
  passingColumn,
  rises,
  samplesWithin,
} from '../../series/samples.js';
import type { Column } from '../../series/samples.js';
import { median, quantile, robustSpread } from '../../series/statistics.js';

/** How far a ratio must stand out from the port's own past, or where it was always so from the worst tenth of ports. */
const STANDS_OUT = 30;
/** The quieter polls of a port are its past, and what came before a rise. */
const OWN_SHARE = 0.25;
/** Where nothing was damaged, a single poll is not worth a remark. */
const FEWEST_ODD_POLLS = 3;
/** Fewer corrected bits in a second are chance: ratios are told in steps of one bit. */
const FEWEST_BITS = 100;
/** RS(544,514) over PAM4 is specified up to this ratio (IEEE 802.3bs, 121.1.1). */
const MOST_CORRECTABLE = 2.4e-4;
/** Counters of damage whose rise is a sign; the second takes damaged frames of any origin. */
const DAMAGE_METRICS = ['port_fec_uncorrected_codewords', 'port_rx_errors'] as const;
type DamageMetric = (typeof DAMAGE_METRICS)[number];

export interface SignalObservation {
  /** Whether a ratio that stands out did damage, or FEC gives up again and again; null when no ratio was read. */
  errs: boolean | null;
  /** Highest ratio that stands out; NaN without any, as where errors took the link down and left no ratio to read. */
  worstBer: number;
  damage: Readonly<Record<DamageMetric, boolean | null>>;
  /** From the first to the last sign; null without any. */
  during: Interval | null;
  /** Within the polls around the first sign; null when it was there from the start. */
  onsetNs: number | null;
  /** When the ratio was far above the port's own past and nothing was damaged; null when it was not. */
  odd: Odd | null;
}

export interface Odd extends Interval {
  worstBer: number;
}

/** Nearly all ports of a fabric. */
const HEALTHY: SignalObservation = {
  errs: false,
  worstBer: NaN,
  damage: { port_fec_uncorrected_codewords: false, port_rx_errors: false },
  during: null,
  onsetNs: null,
  odd: null,
};

/** By port: what arrives there. */
export function observeSignals(context: Context): SignalObservation[] {
  const { topology } = context;
  const { ports } = topology;
  const usual: number[] = [];
  /** By port; -Infinity where no ratio was read. */
  const worst = new Float64Array(ports.length).fill(-Infinity);
  for (const { index } of ports) {
    const { count, values } = passingColumn(context.readPort('port_fec_pre_ber', index));
    if (count > 0) usual.push(median(values));
    for (let at = 0; at < count; at++) if (values[at] > worst[index]) worst[index] = values[at];
  }
  const [middle, high] = [0.5, 0.9].map((share) => (usual.length === 0 ? 0 : quantile(usual, share)));
  return ports.map(({ index, link }) => {
    const rises = DAMAGE_METRICS.map((metric) => damageOf(context, metric, index));
    const undamaged = rises.every((some) => some !== null && some.length === 0);
    const fewest = FEWEST_BITS / (1e9 * topology.links[link].rateGbps);
    if (undamaged && worst[index] >= 0 && worst[index] < fewest) return HEALTHY;
    const { count, values } = passingColumn(context.readPort('port_fec_pre_ber', index));
    const own = count === 0 ? 0 : quantile(values.subarray(0, count), OWN_SHARE);
    const limit = Math.max(fewest, high, STANDS_OUT * Math.min(Math.max(own, middle), high));
    return undamaged && worst[index] >= 0 && worst[index] < Math.min(limit, MOST_CORRECTABLE)
      ? calm(context, index, Math.max(fewest, STANDS_OUT * own))
      : observeSignal(context, index, rises, limit);
  });
}

/** Nothing is damaged; a ratio that left its own past is worth a remark all the same. */
function calm(context: Context, port: number, limit: number): SignalObservation {
  const bad = badPolls(freshColumn(context.readPort('port_fec_pre_ber', port)), limit, context.window);
  return bad.length < FEWEST_ODD_POLLS ? HEALTHY : { ...HEALTHY, odd: oddOf(bad) };
}

const oddOf = (bad: readonly BadPoll[]): Odd => ({
  fromNs: bad[0].fromNs,
  toNs: bad[bad.length - 1].toNs,
  worstBer: Math.max(...bad.map(({ ratio }) => ratio)),
});

function observeSignal(
  context: Context,
  port: number,
  rises: readonly (readonly Interval[] | null)[],
  limit: number,
): SignalObservation {
  const ratios = freshColumn(context.readPort('port_fec_pre_ber', port));
  const bad = badPolls(ratios, limit, context.window);
  const worstBer = bad.length === 0 ? NaN : Math.max(...bad.map(({ ratio }) => ratio));
  const signs: Interval[] = [...bad, ...rises.flatMap((some) => some ?? [])];
  const first = signs.reduce<Interval | null>(
    (one, other) => (one === null || other.toNs < one.toNs ? other : one),
    null,
  );
  const during = first && { fromNs: first.fromNs, toNs: Math.max(...signs.map(({ toNs }) => toNs)) };
  const hurts = worstBer >= MOST_CORRECTABLE || rises.some((some) => some !== null && some.length > 0);
  if (!hurts) {
    const odd = bad.length < FEWEST_ODD_POLLS ? null : oddOf(bad);
    return { ...HEALTHY, errs: ratios.count > 0 ? false : null, damage: damages(rises), odd };
  }
  return {
    errs: bad.length > 0 || steady(rises[0], ratios) || (wasRead(ratios, during) ? false : alone(rises)),
    worstBer,
    damage: damages(rises),
    during,
    onsetNs: first === null || first.fromNs <= context.window.fromNs ? null : (first.fromNs + first.toNs) / 2,
    odd: null,
  };
}

const damages = (rises: readonly (readonly Interval[] | null)[]): SignalObservation['damage'] => ({
  port_fec_uncorrected_codewords: seen(rises[0]),
  port_rx_errors: seen(rises[1]),
});

interface BadPoll extends Interval {
  ratio: number;
}

const NONE: readonly BadPoll[] = [];

/** Polls with a ratio that stands out, each from the poll before it on. */
function badPolls({ count, timesNs, values }: Column, limit: number, window: Interval): readonly BadPoll[] {
  let found: BadPoll[] | null = null;
  for (let index = 0; index < count; index++) {
    if (values[index] < limit) continue;
    const fromNs = index === 0 ? window.fromNs : timesNs[index - 1];
    (found ??= []).push({ fromNs, toNs: timesNs[index], ratio: values[index] });
  }
  return found ?? NONE;
}

/** A ratio from when errors took the link down before the next poll is missing, and those of other times say nothing. */
const wasRead = (ratios: Column, during: Interval | null): boolean =>
  during === null ? ratios.count > 0 : nextNs(ratios, during.fromNs) <= during.toNs;

/** Where nobody counts what is corrected, what could not be is all that shows; too few times tell nothing. */
const alone = ([codewords, frames]: readonly (readonly Interval[] | null)[]): boolean | null =>
  codewords !== null || frames === null || frames.length < STEADY_POLLS ? null : unbroken(frames);

/** Losing or finding a link may cost a few codewords each time. */
const STEADY_POLLS = 3;

/** FEC gave up in poll after poll, and no ratio in between was healthy: errors are steady, outages are not. */
function steady(rises: readonly Interval[] | null, ratios: Column): boolean {
  if (rises === null || rises.length < STEADY_POLLS) return false;
  const [first, last] = [rises[0], rises[rises.length - 1]];
  return nextNs(ratios, first.toNs) >= last.fromNs;
}

/** Time of the first sample after an instant; infinite without one. */
function nextNs({ count, timesNs }: Column, afterNs: number): number {
  const next = firstAfter(timesNs, count, afterNs);
  return next < count ? timesNs[next] : Infinity;
}

/** Damage in so many polls one after the other: a link that is lost and found does it now and then. */
function unbroken(rises: readonly Interval[] | null): boolean {
  let inRow = 0;
  return (rises ?? []).some(({ fromNs }, at) => {
    inRow = at > 0 && rises?.[at - 1].toNs === fromNs ? inRow + 1 : 1;
    return inRow >= STEADY_POLLS;
  });
}

const seen = (rises: readonly Interval[] | null): boolean | null => rises && rises.length > 0;

function damageOf(context: Context, metric: MetricName, port: number): readonly Interval[] | null {
  const series = context.readPort(metric, port);
  return freshCount(series) < 2 ? null : rises(series);
}

/** Less light than this is less; sensors are noisier than that only when they are broken, dB. */
const LEAST_FALL_DB = 0.5;
const SPREADS = 6;

/** Whether a power fell in a stretch, against the port's own past; null when either was not read. */
function fell(
  context: Context,
  metric: 'optic_rx_power_dbm' | 'optic_tx_power_dbm',
  port: number,
  during: Interval,
): boolean | null {
  const series = context.readPort(metric, port);
  const past = freshSamples(series)
    .filter(({ timeNs }) => timeNs < during.fromNs)
    .map(({ value }) => value);
  const inside = samplesWithin(series, during).map(({ value }) => value);
  if (past.length === 0 || inside.length === 0) return null;
  return median(past) - Math.min(...inside) > Math.max(LEAST_FALL_DB, SPREADS * robustSpread(past));
}

export interface Light {
  /** Less arrives, although the sender launches as much as before. */
  lostOnTheWay: boolean | null;
  /** The sender launches less. */
  laserWeak: boolean | null;
}

export function observeLight(context: Context, sender: number, receiver: number, during: Interval): Light {
  const arriving = fell(context, 'optic_rx_power_dbm', receiver, during);
  const launched = fell(context, 'optic_tx_power_dbm', sender, during);
  if (launched === true) return { lostOnTheWay: false, laserWeak: true };
  // What arrives unchanged was launched unchanged.
  if (arriving === false) return { lostOnTheWay: false, laserWeak: false };
  return { lostOnTheWay: launched === null ? null : arriving, laserWeak: launched };
}
