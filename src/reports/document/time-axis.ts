/**
 * Where a moment lies on an axis on which long waits are cut short: a drill of a minute stays visible in an afternoon of
 * talk.
 */

export interface Span {
  fromMs: number;
  toMs: number;
}

/** A stretch of the axis; `cut` ones are shorter than their time. */
export interface Stretch extends Span {
  /** 0 to 1. */
  from: number;
  to: number;
  cut: boolean;
}

/** A wait is cut when it is longer than this share of what was busy. */
const LONG_SHARE = 0.5;
/** A cut wait takes this share of what was busy. */
const CUT_SHARE = 0.12;

/**
 * @param whole what the axis shows
 * @param busy what must be seen; waits are what lies between
 */
export function timeAxis(whole: Span, busy: readonly Span[]): Stretch[] {
  const merged = mergedWithin(whole, busy);
  const busyMs = merged.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
  const pieces: (Span & { cut: boolean; weight: number })[] = [];
  const add = (fromMs: number, toMs: number, isWait: boolean): void => {
    if (toMs <= fromMs) return;
    const cut = isWait && busyMs > 0 && toMs - fromMs > busyMs * LONG_SHARE;
    pieces.push({ fromMs, toMs, cut, weight: cut ? busyMs * CUT_SHARE : toMs - fromMs });
  };
  let atMs = whole.fromMs;
  for (const { fromMs, toMs } of merged) {
    add(atMs, fromMs, true);
    add(fromMs, toMs, false);
    atMs = toMs;
  }
  add(atMs, whole.toMs, true);
  const total = pieces.reduce((sum, { weight }) => sum + weight, 0);
  let at = 0;
  return pieces.map(({ fromMs, toMs, cut, weight }) => {
    const from = at;
    at += weight / total;
    return { fromMs, toMs, cut, from, to: at };
  });
}

/** @returns 0 to 1; what lies outside is at an end */
export function placeOn(axis: readonly Stretch[], ms: number): number {
  const stretch = axis.find(({ toMs }) => ms <= toMs);
  if (stretch === undefined) return axis.length === 0 ? 0 : 1;
  const share = Math.max(0, ms - stretch.fromMs) / (stretch.toMs - stretch.fromMs);
  return stretch.from + share * (stretch.to - stretch.from);
}

function mergedWithin(whole: Span, spans: readonly Span[]): Span[] {
  const inside = spans
    .map(({ fromMs, toMs }) => ({
      fromMs: Math.max(fromMs, whole.fromMs),
      toMs: Math.min(toMs, whole.toMs),
    }))
    .filter(({ fromMs, toMs }) => toMs > fromMs)
    .sort((one, other) => one.fromMs - other.fromMs);
  const merged: Span[] = [];
  for (const span of inside) {
    const last = merged.at(-1);
    if (last !== undefined && span.fromMs <= last.toMs) last.toMs = Math.max(last.toMs, span.toMs);
    else merged.push({ ...span });
  }
  return merged;
}
