/**
 * Injection with its undo: nothing is changed before what will undo it has been written down.
 *
 * The order for one impairment is fixed: read back the present settings, journal the intent with them, apply, journal
 * that. Reverting reads back again and compares with what was saved; an adapter's word alone is never believed. A
 * process that finds an open journal after a crash calls `revertEntry` with what the journal holds.
 */
import { messageOf } from '../core/problem.js';
import type { Fabric } from '../fabric-api/fabric.js';
import type { Impairment } from '../fabric-api/impairment.js';
import { mapSettings, sameSetting, settingText, type ConfigurationSnapshot } from '../fabric-api/setting.js';

/** One line of the undo journal, enough for another process to revert. */
export interface UndoEntry {
  id: string;
  fault: string;
  impairment: Impairment;
  saved: ConfigurationSnapshot;
}

/** Where the journal lives. Every call resolves only once its record is durable. */
export interface UndoJournal {
  intend(entry: UndoEntry): Promise<void>;
  applied(id: string): Promise<void>;
  /** Reverted and read back as found. */
  verified(id: string): Promise<void>;
  failed(id: string, reason: string): Promise<void>;
}

/** What is still different after a revert, in words; empty when all is as found. */
export function differences(saved: ConfigurationSnapshot, found: ConfigurationSnapshot): string[] {
  const keysOf = (...records: object[]): string[] => [...new Set(records.flatMap(Object.keys))].sort();
  return keysOf(saved, found).flatMap((element) =>
    keysOf(saved[element] ?? {}, found[element] ?? {}).flatMap((setting) => {
      const [was, is] = [saved[element]?.[setting], found[element]?.[setting]];
      if (sameSetting(was, is)) return [];
      return `${element} ${setting} is ${settingText(is ?? 'unreadable')}, was ${settingText(was ?? 'absent')}`;
    }),
  );
}

/** How often a revert that did not read back clean is tried in all. */
const REVERT_TRIES = 3;

/** Whether a setting of an element is held by another impairment of the same drill. */
type IsHeld = (element: string, setting: string) => boolean;

/**
 * Reverts one entry and proves it by reading back. Safe for entries that were never applied and to call again.
 * @param isHeld settings that are not expected to be as saved yet
 * @returns undefined when all is as found, else why not
 */
export async function revertEntry(
  fabric: Fabric,
  entry: UndoEntry,
  isHeld: IsHeld = () => false,
): Promise<string | undefined> {
  const unheld = (snapshot: ConfigurationSnapshot): ConfigurationSnapshot =>
    mapSettings(snapshot, (element, setting, value) => (isHeld(element, setting) ? undefined : value));
  let reason: string | undefined;
  for (let attempt = 0; attempt < REVERT_TRIES; attempt++) {
    try {
      await fabric.revert(entry.id, entry.impairment, entry.saved);
      const found = await fabric.readBack(entry.impairment);
      const left = differences(unheld(entry.saved), unheld(found));
      if (left.length === 0) return undefined;
      reason = left.join('; ');
    } catch (error) {
      reason = messageOf(error);
    }
  }
  return reason;
}

/**
 * Applies and reverts on one fabric, keeping journal and fabric in step.
 *
 * Impairments may overlap on one setting. What the first of them found is then what undoes each of them, since what
 * the second found was the first one's doing; and the setting is looked at when the last of them is reverted.
 */
export class Injector {
  /** Entries that may be in place, in the order of application. */
  private readonly open = new Map<string, UndoEntry>();
  /** Reverted and proved, but the journal could not be told yet. */
  private readonly unrecorded = new Set<string>();

  constructor(
    private readonly fabric: Fabric,
    private readonly journal: UndoJournal,
    /** Called when an impairment is in place, before the journal is told. */
    private readonly inPlace: (id: string) => void = () => undefined,
  ) {}

  /** @returns false when an abort came while the intent was written; nothing was applied then */
  async apply(
    id: string,
    fault: string,
    impairment: Impairment,
    signal: AbortSignal,
    holdNs?: number,
  ): Promise<boolean> {
    const entry: UndoEntry = { id, fault, impairment, saved: await this.readOriginal(impairment) };
    await this.journal.intend(entry);
    this.open.set(id, entry);
    if (signal.aborted) return false;
    await this.fabric.apply(id, impairment, holdNs);
    this.inPlace(id);
    await this.journal.applied(id);
    return true;
  }

  /** @returns why the undo could not be proved, or undefined */
  async revert(id: string): Promise<string | undefined> {
    const entry = this.open.get(id);
    if (entry === undefined) return undefined;
    const others = [...this.open.values()].filter((other) => other !== entry);
    const reason = await revertEntry(this.fabric, entry, (element, setting) =>
      others.some((other) => other.saved[element]?.[setting] !== undefined),
    );
    // The fabric comes first: a journal that can't be written must not keep the other faults in place.
    if (reason === undefined) {
      this.open.delete(id);
      this.unrecorded.add(id);
      await this.record(id);
      return undefined;
    }
    await this.journal.failed(id, reason);
    return `${id}: ${reason}`;
  }

  private async record(id: string): Promise<void> {
    await this.journal.verified(id);
    this.unrecorded.delete(id);
  }

  /** The settings as they were before the first impairment that holds them. */
  private async readOriginal(impairment: Impairment): Promise<ConfigurationSnapshot> {
    const held = [...this.open.values()].map((entry) => entry.saved);
    const found = await this.fabric.readBack(impairment);
    return mapSettings(found, (element, setting, value) => {
      const first = held.find((saved) => saved[element]?.[setting] !== undefined);
      return first?.[element][setting] ?? value;
    });
  }

  /** Reverts all that is open, newest first, going on past failures. */
  async revertAll(): Promise<string[]> {
    const failures: string[] = [];
    for (const id of [...this.open.keys()].reverse()) {
      try {
        const failure = await this.revert(id);
        if (failure !== undefined) failures.push(failure);
      } catch (error) {
        if (this.open.has(id)) failures.push(`${id}: ${messageOf(error)}`);
      }
    }
    // A journal that has come back must not go on saying that something is in place which is not.
    for (const id of [...this.unrecorded]) await this.record(id).catch(() => undefined);
    return failures;
  }
}
