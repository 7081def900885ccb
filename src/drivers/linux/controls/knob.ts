/**
 * One setting of one element of a lab: how it is read from the kernel, written, and given back by a timer.
 *
 * Settings bear the names that a configuration snapshot uses on every fabric. A knob is read anew each time: what was
 * written last is no proof of what is there now.
 */
import type { ImpairedSetting } from '../../../fabric-api/overrides.js';
import type { SettingValue } from '../../../fabric-api/setting.js';
import type { Step } from '../undo/shell.js';
import type { UndoSpot } from '../undo/timers.js';

export interface Knob extends ImpairedSetting {
  /** The device, or the host, on which it is turned, and on which its undo timer waits. */
  node: UndoSpot;
  read(): Promise<SettingValue>;
  /**
   * Makes the impaired value ready, so that to write it is a matter of an instant; nothing is turned by it. Safe to call
   * again. Left out where there is nothing to make ready.
   * @returns what takes it back, and does nothing once the value was written
   */
  prepare?(): Promise<() => Promise<void>>;
  /** @param value one that `accepts` takes */
  write(value: SettingValue): Promise<void>;
  /** Commands on `node` that write the value; safe to run twice. */
  undo(value: SettingValue): Step[];
  /** The same for a person, where a timer's commands do more than he would. */
  byHand?(value: SettingValue): Step[];
  /** To write is to run these commands on `node` and nothing else, so that the timer there can watch over it. */
  readonly byCommands: boolean;
}

/** A knob whose writing is nothing but commands. */
export function commanded(
  knob: Omit<Knob, 'write' | 'undo' | 'byCommands'> & { steps: (value: SettingValue) => Step[] },
): Knob {
  const { steps, ...rest } = knob;
  return {
    ...rest,
    undo: steps,
    byCommands: true,
    write: async (value) => {
      for (const { command, input } of steps(value)) {
        await knob.node.place.run(command, input === undefined ? {} : { input });
      }
    },
  };
}
