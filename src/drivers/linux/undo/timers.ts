/**
 * Undo timers: processes that outlive us and undo a fault by themselves when its lease ends.
 *
 * A timer is armed in the namespace that it acts on, in a session of its own, before anything is injected; kill -9 of
 * every process of ours then leaves the fault in place for the rest of the lease and no longer. Its file says which
 * process it is (pid and start time, since pids are given out again) and, renamed to `.fired`, that it acted. To disarm
 * is to kill its whole group. What it runs may be run twice. It does not outlive a reboot; neither do namespaces.
 */
import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EnvironmentError } from '../../../core/problem.js';
import { identityOf, isRunning, type ProcessIdentity } from '../../../system/process-identity.js';
import type { LabNode } from '../lab/parts.js';
import { CommandError } from '../transport/place.js';
import { NO_TIMER, SLEEPER, TURN, UNDO_NAME } from './programs.js';
import { quoteCommand, script, strictScript, type Step } from './shell.js';

export interface UndoTimer {
  /** `port:leaf-1/p4 admin-status`: what it gives back; there is one timer for each. */
  setting: string;
  /** Device it acts on. */
  node: string;
  process: ProcessIdentity;
  /** The process that armed it. */
  owner: ProcessIdentity;
  armedAt: string;
  /** ms since 1970. */
  firesAtMs: number;
  /** For a person who has to do it by hand. */
  commands: string;
}

/** Where a timer waits: a device, or the host on which a scheduler is told. */
export type UndoSpot = Pick<LabNode, 'name' | 'namespace' | 'place'>;

export interface Undo {
  setting: string;
  node: UndoSpot;
  steps: readonly Step[];
}

/** Who arms timers, wherever they wait. */
export interface UndoKeeper {
  /**
   * Arms a timer and proves by reading back that it waits where it is to act. One that is there and fires no sooner will do;
   * one that fires sooner is replaced, the new one first.
   * @throws EnvironmentError when it does not; nothing more is armed then
   */
  arm(undo: Undo, leaseS: number, owner: ProcessIdentity): Promise<void>;
  /**
   * Turns a setting while its timer waits: not at all once the timer has begun to act, and what it undoes is undone at once
   * where it began meanwhile, or is gone. Holds even if this process is killed in the midst of it.
   * @throws TimerActedError when no timer waited; CommandError when a step failed
   */
  turn(undo: Undo, steps: readonly Step[]): Promise<void>;
  /** Timers that are armed, of whatever process. @param nodes the devices that are asked about */
  armed(nodes: readonly UndoSpot[]): UndoTimer[] | Promise<UndoTimer[]>;
  /** Ends the timer of a setting. @returns whether it had acted by itself */
  disarm(setting: string, node: UndoSpot): boolean | Promise<boolean>;
}

/** A timer had begun to act before what it guards was done; all is as the timer leaves it. */
export class TimerActedError extends EnvironmentError {
  constructor({ setting, node }: Undo) {
    super(
      `the undo timer of ${setting} acted before the fault was in place, which was taken back`,
      `${node.name} answers too slowly for a fault this short: lengthen the fault or lab.undoMargin`,
    );
  }
}

/** @param stem begin of the names of the files of its timers, where they wait. @throws as `UndoKeeper.turn` */
export async function turnGuarded(undo: Undo, steps: readonly Step[], stem: string): Promise<void> {
  const { node } = undo;
  const words = [stem, strictScript(steps), script(undo.steps)];
  const command = ['sh', '-c', TURN, 'sh', ...words];
  const { code, stdout, stderr } = await node.place.run(command, { anyExit: true });
  if (code === 0) return;
  if (code === NO_TIMER) throw new TimerActedError(undo);
  const said = stderr.trim() || stdout.trim() || `exit code ${code}`;
  throw new CommandError(node.place.name, [strictScript(steps)], said, code);
}

export class UndoTimers implements UndoKeeper {
  constructor(private readonly folder: string) {}

  async arm(undo: Undo, leaseS: number, owner: ProcessIdentity): Promise<void> {
    const file = this.fileOf(undo.setting);
    const there = this.armed().find(({ setting }) => setting === undo.setting);
    const firesAtMs = Date.now() + 1000 * leaseS;
    if (there !== undefined && there.firesAtMs >= firesAtMs) return;
    mkdirSync(this.folder, { recursive: true });
    for (const trace of TRACES) rmSync(`${file}${trace}`, { force: true });
    const text = script(undo.steps);
    const process = await this.start(undo, leaseS, text, file);
    const timer: UndoTimer = {
      setting: undo.setting,
      node: undo.node.name,
      process,
      owner,
      armedAt: new Date().toISOString(),
      firesAtMs,
      commands: quoteCommand(undo.node.place.byHand(['sh', '-c', text])),
    };
    writeFileSync(`${file}.part`, JSON.stringify(timer));
    renameSync(`${file}.part`, file);
    if (there !== undefined) stopGroup(there.process);
  }

  /** @returns who it is, once it sleeps where it should */
  private async start(undo: Undo, leaseS: number, text: string, file: string): Promise<ProcessIdentity> {
    const command = undo.node.place.argv(['sh', '-c', SLEEPER, UNDO_NAME, String(leaseS), text, file]);
    const child = spawn(command[0], command.slice(1), { detached: true, stdio: 'ignore' });
    const failure = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('exit', () => resolve('it ended at once'));
    });
    child.unref();
    const identity = child.pid === undefined ? undefined : identityOf(child.pid);
    if (child.pid === undefined || identity === undefined) {
      throw new EnvironmentError(`no undo timer on ${undo.node.name}: ${await failure}`);
    }
    if (await sleepsThere(child.pid, undo.node.namespace, `${file}.pid`)) return identity;
    stopGroup(identity);
    throw new EnvironmentError(
      `the undo timer on ${undo.node.name} did not start`,
      'nothing has been injected',
    );
  }

  turn(undo: Undo, steps: readonly Step[]): Promise<void> {
    return turnGuarded(undo, steps, this.fileOf(undo.setting));
  }

  armed(): UndoTimer[] {
    return this.read().filter((timer) => isRunning(timer.process));
  }

  disarm(setting: string): boolean {
    const file = this.fileOf(setting);
    const timer = this.read().find((one) => one.setting === setting);
    if (timer !== undefined) stopGroup(timer.process);
    const acted = TRACES.some((trace) => existsSync(`${file}${trace}`));
    for (const end of ['', '.pid', ...TRACES]) rmSync(`${file}${end}`, { force: true });
    return acted;
  }

  private read(): UndoTimer[] {
    let names: string[];
    try {
      names = readdirSync(this.folder).filter((name) => name.endsWith('.json'));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
    return names.sort().flatMap((name) => {
      try {
        return [JSON.parse(readFileSync(join(this.folder, name), 'utf8')) as UndoTimer];
      } catch (error) {
        // renamed by the timer itself since the folder was read
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
        throw error;
      }
    });
  }

  private fileOf(setting: string): string {
    return join(this.folder, `${encodeURIComponent(setting)}.json`);
  }
}

/** The group: a shell without its sleep would undo too soon, a sleep without its shell undoes nothing. */
function stopGroup(identity: ProcessIdentity): void {
  if (!isRunning(identity)) return;
  try {
    process.kill(-Number(identity.split('-')[0]), 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** What a timer leaves that has begun to act. */
const TRACES = ['.firing', '.fired'];
const PROVED_WITHIN_MS = 5000;

/**
 * Whether the process has become our timer within the namespace ('': that of this process), and says who it is: `ip` gives way
 * to the shell in a moment.
 */
async function sleepsThere(pid: number, namespace: string, own: string): Promise<boolean> {
  const untilMs = performance.now() + PROVED_WITHIN_MS;
  for (;;) {
    try {
      const wanted =
        namespace === ''
          ? readlinkSync('/proc/self/ns/net')
          : `net:[${statSync(join('/run/netns', namespace)).ino}]`;
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      const isThere = words[0] === 'sh' && words.includes(UNDO_NAME);
      if (isThere && readlinkSync(`/proc/${pid}/ns/net`) === wanted && saysItIs(own, pid)) return true;
    } catch {
      return false;
    }
    if (performance.now() > untilMs) return false;
    await sleep(2);
  }
}

function saysItIs(file: string, pid: number): boolean {
  return existsSync(file) && readFileSync(file, 'utf8').startsWith(`${pid} `);
}
