/**
 * Load towards a host as a setting: `none`, or what is sent to it and from whom.
 *
 * Programs take a second to start on a busy machine, so they are started ahead and wait at a gate: to inject is to make one
 * file. Their permit holds the value; a load is there when its gate is open and its receiver runs. Taking the permit away
 * ends all of them within a moment, at the gate or behind it, so that is what an undo timer does. A load that was there before a drill can
 * only be stopped by one, never begun again: a receiver whose senders are gone reads as `none`.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { elementName } from '../../../core/elements.js';
import { EnvironmentError } from '../../../core/problem.js';
import { identityOf, isRunning } from '../../../system/process-identity.js';
import { nicOf } from '../../../fabric-api/lookups.js';
import type { Impairment } from '../../../fabric-api/impairment.js';
import { sameSetting, type SettingValue } from '../../../fabric-api/setting.js';
import type { Knob } from '../controls/knob.js';
import type { Lab } from '../lab/lab.js';
import type { LabNode } from '../lab/parts.js';
import { programPath } from '../../../system/program-path.js';

type Traffic = Extract<Impairment, { type: 'traffic' }>;

interface Permit {
  load: SettingValue;
  /** Identities of the receiver and the senders. */
  processes: string[];
}

const NONE = 'none';
const FIRST_PORT = 9100;
const PORTS = 900;
const ENDS_WITHIN_MS = 4000;
/** Programs may take this long to come to their gate. */
const ARMED_WITHIN_MS = 20_000;

const gateOf = (permit: string): string => `${permit}.go`;

/**
 * @param leaseS the longest that the processes run, whatever happens
 * @throws InputError for NICs that are not there
 */
export function trafficKnob(lab: Lab, impairment: Traffic, leaseS: number): Knob {
  const { topology } = lab;
  const { toNic, name } = impairment;
  const hostOf = (id: string, pointer: string): LabNode =>
    lab.nodes[topology.nics[nicOf(topology, id, pointer)].host];
  const receiver = hostOf(toNic, '/toNic');
  const senders = impairment.fromNics.map((id, index) => hostOf(id, `/fromNics/${index}`));
  const permit = join(lab.undoFolder, `load-${encodeURIComponent(`${elementName(toNic)} ${name}`)}.permit`);
  const impaired = figuresOf(impairment);
  const makeReady = async (): Promise<void> => {
    const found = readPermit(permit);
    if (
      sameSetting(found?.load, impaired) &&
      !existsSync(gateOf(permit)) &&
      found!.processes.every(isRunning)
    )
      return;
    await stop(permit);
    await start(lab, permit, { ...impairment, senders, receiver, leaseS });
  };
  return {
    element: toNic,
    setting: `load-${name}`,
    impaired,
    node: receiver,
    read: async () => loadOf(permit),
    prepare: async () => {
      await makeReady();
      return async () => {
        if (loadOf(permit) === NONE) await stop(permit);
      };
    },
    write: async (value) => {
      if (value === NONE) return stop(permit);
      if (sameSetting(value, loadOf(permit))) return;
      await makeReady();
      writeFileSync(gateOf(permit), '');
    },
    undo: () => [{ command: ['rm', '-f', permit, gateOf(permit)] }],
    byCommands: false,
    accepts: (value) => value === NONE || sameSetting(value, impaired),
    worse: (_, last) => last,
  };
}

/** All classes are one here. */
const figuresOf = ({ fromNics, rateGbps, bytesPerSender, queuePairs }: Traffic): SettingValue => ({
  ...{ fromNics, rateGbps, bytesPerSender, queuePairs },
});

/** What is sent at this moment. */
const loadOf = (permit: string): SettingValue =>
  existsSync(gateOf(permit)) ? (readPermit(permit)?.load ?? NONE) : NONE;

/** Undefined when nothing is permitted, or nothing of it runs any more. */
function readPermit(file: string): Permit | undefined {
  let permit: Permit;
  try {
    permit = JSON.parse(readFileSync(file, 'utf8')) as Permit;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  return permit.processes.slice(0, 1).every(isRunning) ? permit : undefined;
}

async function start(
  lab: Lab,
  permit: string,
  load: Traffic & { senders: readonly LabNode[]; receiver: LabNode; leaseS: number },
): Promise<void> {
  const program = programPath('load', import.meta.url);
  const address = lab.hostAddress(load.receiver.device);
  const port = String(FIRST_PORT + (hashOf(permit) % PORTS));
  write(permit, { load: figuresOf(load), processes: [] });
  const armed: Promise<void>[] = [];
  const launch = (node: LabNode, mode: string, words: readonly (string | number)[]): string => {
    const args = [mode, permit, gateOf(permit), String(load.leaseS), ...words.map(String)];
    const [first, ...rest] = node.place.argv([...node.place.programWords(program), ...args]);
    const child = spawn(first, rest, { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
    armed.push(untilArmed(child, node));
    child.unref();
    const identity = child.pid === undefined ? undefined : identityOf(child.pid);
    if (identity === undefined) throw new EnvironmentError(`no load program on ${node.name}`);
    return identity;
  };
  const bytesPerS = Math.round((load.rateGbps * 1e9) / 8);
  const processes = [launch(load.receiver, 'receive', [address, port])];
  for (const sender of load.senders) {
    const words = [address, port, load.queuePairs, bytesPerS, load.bytesPerSender ?? 0];
    processes.push(launch(sender, 'send', words));
  }
  write(permit, { load: figuresOf(load), processes });
  try {
    await Promise.all(armed);
  } catch (error) {
    await stop(permit);
    throw error;
  }
}

/** Resolves when the program says that it waits at its gate, or receives. */
async function untilArmed(child: ChildProcess, { name }: LabNode): Promise<void> {
  const output = child.stdout!;
  await new Promise<void>((resolve, reject) => {
    const fail = (why: string): void => reject(new EnvironmentError(`the load program on ${name} ${why}`));
    const timer = setTimeout(() => fail(`is not ready after ${ARMED_WITHIN_MS / 1000} s`), ARMED_WITHIN_MS);
    child.once('error', (error) => fail(`can't be started: ${error.message}`));
    output.once('data', () => {
      clearTimeout(timer);
      resolve();
    });
    output.once('close', () => {
      clearTimeout(timer);
      fail('has ended');
    });
  });
  // It says no more, and must not keep us waiting for its end.
  output.destroy();
}

async function stop(permit: string): Promise<void> {
  const processes = readPermit(permit)?.processes ?? [];
  rmSync(permit, { force: true });
  rmSync(gateOf(permit), { force: true });
  const untilMs = performance.now() + ENDS_WITHIN_MS;
  while (processes.some(isRunning)) {
    if (performance.now() > untilMs) {
      throw new EnvironmentError(
        `the load of ${permit} does not end`,
        `kill ${processes.filter(isRunning).join(' ')}`,
      );
    }
    await sleep(20);
  }
}

function write(file: string, permit: Permit): void {
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(`${file}.part`, JSON.stringify(permit));
  renameSync(`${file}.part`, file);
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}
