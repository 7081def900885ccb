/**
 * Several impairments on one setting: the worst of them holds, and the setting goes back to where it stood before the first
 * only when the last is lifted. So reverting one never lifts another, and a port that was shut down before stays so.
 *
 * Drivers keep one override for each setting that is held; how a setting is written is theirs.
 */
import { InputError } from '../core/problem.js';
import { settingText, type ConfigurationSnapshot, type SettingValue } from './setting.js';

/** A setting of an element, as an impairment means it. */
export interface ImpairedSetting {
  /** Element id and setting, as in a configuration snapshot. */
  element: string;
  setting: string;
  /** What the impairment wants it to be. */
  impaired: SettingValue;
  /** Whether the device can be told this value. */
  accepts(value: SettingValue): boolean;
  /** Which of two values hurts more. */
  worse: (one: SettingValue, other: SettingValue) => SettingValue;
}

export const keyOf = ({ element, setting }: Pick<ImpairedSetting, 'element' | 'setting'>): string =>
  `${element} ${setting}`;

export class Override {
  private readonly wanted = new Map<string, SettingValue>();

  /** @param before where the setting stood before the first impairment */
  constructor(
    readonly before: SettingValue,
    private readonly worse: ImpairedSetting['worse'],
  ) {}

  /** What holds now. */
  get value(): SettingValue {
    return [this.before, ...this.wanted.values()].reduce((one, other) => this.worse(one, other));
  }

  /** Whether an impairment wants something still. */
  get isHeld(): boolean {
    return this.wanted.size > 0;
  }

  has(id: string): boolean {
    return this.wanted.has(id);
  }

  want(id: string, value: SettingValue): void {
    this.wanted.set(id, value);
  }

  drop(id: string): void {
    this.wanted.delete(id);
  }
}

/**
 * What a setting goes back to for an id that was never applied here (a crash, another process).
 * @throws InputError when that is nothing the device can be told
 */
export function savedValue(wanted: ImpairedSetting, saved: ConfigurationSnapshot): SettingValue {
  const { element, setting, impaired } = wanted;
  const value = saved[element]?.[setting];
  if (value !== undefined && wanted.accepts(value)) return value;
  throw InputError.at(
    '/saved',
    `${setting} of ${element} was saved as ${value === undefined ? 'nothing' : JSON.stringify(value)}`,
    `write a value such as ${JSON.stringify(impaired)} (${settingText(impaired)})`,
  );
}
