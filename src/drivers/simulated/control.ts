/**
 * One setting of one element that an impairment turns, as text: what a configuration snapshot holds.
 *
 * The setting is what a real device would show: a port's admin status, a cable, a negotiated speed. Settings with two
 * values and settings with a number behind them differ only in which values they accept and which of two is worse.
 */

export interface Control {
  /** Element id and setting, as in a configuration snapshot. */
  element: string;
  setting: string;
  healthy: string;
  /** What the impairment wants. */
  impaired: string;
  read(): string;
  /** @param value one that `accepts` takes */
  write(value: string): void;
  accepts(value: string): boolean;
  worse(one: string, other: string): string;
}

/** A setting that is either well or not. */
export function twoValued(
  element: string,
  setting: string,
  healthy: string,
  impaired: string,
  knob: { healthy(): boolean; set(healthy: boolean): void },
): Control {
  return {
    element,
    setting,
    healthy,
    impaired,
    read: () => (knob.healthy() ? healthy : impaired),
    write: (value) => knob.set(value === healthy),
    accepts: (value) => value === healthy || value === impaired,
    worse: (one, other) => (one === impaired ? one : other),
  };
}

/** How a number is written, and what it is when nothing is wrong. */
export interface Measure {
  healthy: number;
  wanted: number;
  unit: string;
  /** Which of two is worse. */
  worst: 'lower' | 'higher';
  /** Text for the healthy number, where that is not a number people would write. */
  healthyText?: string;
}

/** A setting with a number, such as a speed. */
export function measured(
  element: string,
  setting: string,
  measure: Measure,
  knob: { read(): number; set(value: number): void },
): Control {
  const { healthy, unit, healthyText } = measure;
  const text = (value: number): string =>
    value === healthy && healthyText !== undefined ? healthyText : `${value}${unit}`;
  const parse = (value: string): number => {
    if (value === healthyText) return healthy;
    return value.endsWith(unit) ? Number(value.slice(0, value.length - unit.length) || NaN) : NaN;
  };
  const lower = measure.worst === 'lower';
  return {
    element,
    setting,
    healthy: text(healthy),
    impaired: text(measure.wanted),
    read: () => text(knob.read()),
    write: (value) => knob.set(parse(value)),
    accepts: (value) => parse(value) > 0,
    worse: (one, other) => (parse(one) < parse(other) === lower ? one : other),
  };
}

/** A value as a person would write it, and back; undefined for a text that is none. */
export interface Wording<Value> {
  text(value: Value): string;
  parse(text: string): Value | undefined;
}

/** A setting with a value of several parts, or none; the last who turns it decides. */
export function described<Value>(
  place: { element: string; setting: string; untouched: string },
  wanted: Value,
  wording: Wording<Value>,
  knob: { read(): Value | undefined; set(value: Value | undefined): void },
): Control {
  const { element, setting, untouched } = place;
  return {
    element,
    setting,
    healthy: untouched,
    impaired: wording.text(wanted),
    read: () => {
      const value = knob.read();
      return value === undefined ? untouched : wording.text(value);
    },
    write: (value) => {
      const now = knob.read();
      // What stands already must not begin anew.
      if (value === (now === undefined ? untouched : wording.text(now))) return;
      knob.set(value === untouched ? undefined : wording.parse(value));
    },
    accepts: (value) => value === untouched || wording.parse(value) !== undefined,
    worse: (_, last) => last,
  };
}
