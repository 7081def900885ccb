/**
 * One setting of one element that an impairment turns: how it is read and written on the simulator.
 *
 * The setting is what a real device would show: a port's admin status, a cable, a negotiated speed. Settings with two
 * values and settings with figures differ only in which values they accept and which of two is worse.
 */
import type { z } from 'zod';
import type { ImpairedSetting } from '../../fabric-api/overrides.js';
import { sameSetting, type Figures, type SettingValue } from '../../fabric-api/setting.js';

export interface Control extends ImpairedSetting {
  read(): SettingValue;
  /** @param value one that `accepts` takes */
  write(value: SettingValue): void;
}

type Place = Pick<Control, 'element' | 'setting'>;

/** A setting that is either well or not. */
export function twoValued(
  place: Place,
  healthy: string,
  impaired: string,
  knob: { healthy(): boolean; set(healthy: boolean): void },
): Control {
  return {
    ...place,
    impaired,
    read: () => (knob.healthy() ? healthy : impaired),
    write: (value) => knob.set(value === healthy),
    accepts: (value) => value === healthy || value === impaired,
    worse: (one, other) => (one === impaired ? one : other),
  };
}

/** What figures a setting has, and how the simulator takes them; undefined is untouched. */
interface Figured<Value extends Figures> {
  schema: z.ZodType<Value>;
  /** Word for a setting that nobody has touched, where it has no figures then. */
  untouched?: string;
  read(): Value | undefined;
  set(value: Value | undefined): void;
}

/** A setting with figures, of which the graver hurt more; what is untouched does not. */
export function graded<Value extends Figures>(
  place: Place,
  wanted: Value,
  { schema, untouched, ...figures }: Figured<Value>,
  gravity: (value: Value) => number,
): Control {
  const gravityOf = (value: SettingValue): number =>
    value === untouched ? -Infinity : gravity(schema.parse(value));
  return {
    ...place,
    impaired: wanted,
    read: () => figures.read() ?? untouched!,
    write: (value) => figures.set(value === untouched ? undefined : schema.parse(value)),
    accepts: (value) => value === untouched || schema.safeParse(value).success,
    worse: (one, other) => (gravityOf(one) > gravityOf(other) ? one : other),
  };
}

/** A setting with figures; the last who turns it decides. */
export function described<Value extends Figures>(
  place: Place,
  wanted: Value,
  figured: Figured<Value>,
): Control {
  const control = graded(place, wanted, figured, () => 0);
  return {
    ...control,
    write: (value) => {
      // What stands already must not begin anew.
      if (!sameSetting(value, control.read())) control.write(value);
    },
    worse: (_, last) => last,
  };
}
