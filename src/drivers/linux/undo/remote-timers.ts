/**
 * Undo timers on devices that are reached over SSH: each waits on the device it acts on, whoever is still connected.
 *
 * One command starts the timer in a session of its own and ends; a second connects again and reads back that it sleeps there
 * and is who it says (pid and start time from /proc). So what is proved is a timer that has outlived the session that armed
 * it. Its file on the device says what it gives back; renamed to `.fired` it has acted. To disarm is to kill its group.
 * Not modelled: a reboot of the device, after which the timer is gone and what was set by command mostly, too; systems
 * that end all of a user's processes with his last session (logind's KillUserProcesses, off as shipped).
 */
import { EnvironmentError } from '../../../core/problem.js';
import type { ProcessIdentity } from '../../../system/process-identity.js';
import { ARM, END, LIST, PROVE } from './programs.js';
import { quoteCommand, script, type Step } from './shell.js';
import { turnGuarded, type Undo, type UndoKeeper, type UndoSpot, type UndoTimer } from './timers.js';

/** What is written down before the timer runs; which process it is, it says itself. */
type Note = Omit<UndoTimer, 'process'>;

const PROVED_WITHIN_MS = 5000;

export class RemoteUndoTimers implements UndoKeeper {
  /** @param folder on the devices */
  constructor(private readonly folder: string) {}

  async arm(undo: Undo, leaseS: number, owner: ProcessIdentity): Promise<void> {
    const { node, setting, steps } = undo;
    const firesAtMs = Date.now() + 1000 * leaseS;
    const there = (await this.armed([node])).filter((timer) => timer.setting === setting);
    if (there.some((timer) => timer.firesAtMs >= firesAtMs)) return;
    const text = script(steps);
    const file = `${this.stemOf(setting)}${firesAtMs}.json`;
    const note: Note = {
      setting,
      node: node.name,
      owner,
      armedAt: new Date().toISOString(),
      firesAtMs,
      commands: quoteCommand(node.place.byHand(['sh', '-c', text])),
    };
    const words = [this.folder, file, JSON.stringify(note), String(leaseS), text];
    await node.place.run(['sh', '-c', ARM, 'sh', ...words]);
    await this.prove(node, file, setting);
  }

  turn(undo: Undo, steps: readonly Step[]): Promise<void> {
    return turnGuarded(undo, steps, this.stemOf(undo.setting));
  }

  /** Timers that are armed on these devices, of whatever process. */
  async armed(nodes: readonly UndoSpot[]): Promise<UndoTimer[]> {
    const lists = await Promise.all([...new Set(nodes)].map((node) => this.list(node)));
    return lists.flat();
  }

  async disarm(setting: string, node: UndoSpot): Promise<boolean> {
    return this.end(node, setting);
  }

  /** Over another session than the one that armed it; those that it replaces are ended then. */
  private async prove(node: UndoSpot, file: string, setting: string): Promise<void> {
    const untilMs = performance.now() + PROVED_WITHIN_MS;
    for (;;) {
      const { stdout } = await node.place.run(['sh', '-c', PROVE, 'sh', this.stemOf(setting), file]);
      if (stdout.trim() === 'waits') return;
      if (performance.now() > untilMs) break;
    }
    await this.end(node, setting);
    throw new EnvironmentError(`the undo timer on ${node.name} did not start`, 'nothing has been injected');
  }

  private async list(node: UndoSpot): Promise<UndoTimer[]> {
    const { stdout } = await node.place.run(['sh', '-c', LIST, 'sh', this.folder]);
    return stdout
      .split('\n')
      .filter((line) => line !== '')
      .flatMap((line) => {
        const [, note, identity] = line.split('\t');
        return identity === '' ? [] : [{ ...(JSON.parse(note) as Note), process: identity }];
      });
  }

  /** @returns whether a timer of the setting had acted */
  private async end(node: UndoSpot, setting: string): Promise<boolean> {
    const { stdout } = await node.place.run(['sh', '-c', END, 'sh', this.stemOf(setting), '']);
    return stdout.trim() === '1';
  }

  /** `@` ends it, which no encoded name holds, so that no name is the begin of another. */
  private stemOf(setting: string): string {
    return `${this.folder}/${encodeURIComponent(setting)}@`;
  }
}
