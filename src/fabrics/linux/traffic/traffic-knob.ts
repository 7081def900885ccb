/**
 * Load towards a host as a setting: `none`, or what is sent to it and from whom.
 *
 * The permit of the senders holds that text; a load is there when its permit is and its receiver runs. Taking the permit
 * away ends all of them within a moment, so that is what an undo timer does. A load that was there before a drill can
 * only be stopped by one, never begun again: a receiver whose senders are gone reads as `none`.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { elementName } from '../../../kernel/elements.js';
import { EnvironmentError } from '../../../kernel/problem.js';
import { identityOf, isRunning } from '../../../platform/process-identity.js';
import { nicOf } from '../../contract/lookups.js';
import type { Impairment } from '../../contract/impairment.js';
import type { Knob } from '../controls/knob.js';
import type { Lab, LabNode } from '../lab/lab.js';
import { programPath } from '../program-path.js';

type Traffic = Extract<Impairment, { type: 'traffic' }>;

interface Permit {
  text: string;
  /** Identities of the receiver and the senders. */
  processes: string[];
}

const NONE = 'none';
const FIRST_PORT = 9100;
const PORTS = 900;
const ENDS_WITHIN_MS = 4000;

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
  const impaired = textOf(impairment);
  return {
    element: toNic,
    setting: `load-${name}`,
    impaired,
    node: receiver,
    read: async () => readPermit(permit)?.text ?? NONE,
    write: async (value) => {
      if (value === (readPermit(permit)?.text ?? NONE)) return;
      await stop(permit);
      if (value !== NONE) await start(lab, permit, { ...impairment, senders, receiver, leaseS });
    },
    undo: () => [{ command: ['rm', '-f', permit] }],
    accepts: (value) => value === NONE || value === impaired,
    worse: (_, last) => last,
  };
}

function textOf({ rateGbps, bytesPerSender, queuePairs, fromNics }: Traffic): string {
  const size = bytesPerSender === undefined ? '' : `${bytesPerSender}B at `;
  return `${size}${rateGbps}Gbps on ${queuePairs} connections each from ${fromNics.map(elementName).join(' ')}`;
}

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
  write(permit, { text: textOf(load), processes: [] });
  const launch = (node: LabNode, mode: string, words: readonly (string | number)[]): string => {
    const command = [process.execPath, program, mode, permit, String(load.leaseS), ...words.map(String)];
    const [first, ...rest] = node.place.argv(command);
    const child = spawn(first, rest, { detached: true, stdio: 'ignore' });
    child.once('error', () => undefined);
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
  write(permit, { text: textOf(load), processes });
}

async function stop(permit: string): Promise<void> {
  const processes = readPermit(permit)?.processes ?? [];
  rmSync(permit, { force: true });
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
