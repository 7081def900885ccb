/**
 * Starts a paced simulation, or finds the one that an earlier process has started under this name.
 */
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { serialize } from 'node:v8';
import { EnvironmentError } from '../../../core/problem.js';
import { isRunning, ownIdentity } from '../../../system/process-identity.js';
import { programPath } from '../../../system/program-path.js';
import { VERSION } from '../../../system/version.js';
import type { FabricDefinition } from '../../../fabric-api/definition.js';
import type { SimulatedFabric } from '../simulated-fabric.js';
import { PacedFabric } from './paced-fabric.js';
import {
  folderOf,
  isUp,
  makeFolder,
  readRecord,
  pacedFolder,
  RECORD_FORMAT,
  writeRecord,
  type PacedRecord,
  type SimulationInput,
} from './record.js';

const LEASE_MS = 15_000;
const ABANDONED_MS = 60_000;
const STARTS_WITHIN_MS = 60_000;
const LOOK_MS = 20;
/** Enough of what a dying program says to tell why. */
const MOST_COMPLAINT_CHARACTERS = 2000;

export interface PacedOptions {
  /** Simulated seconds a second. */
  pace: number;
  /** What the simulation is found by again; unique for ever, such as the id of a run. */
  instance: string;
  /** What is injected is nobody's to know yet. */
  sealed?: boolean;
  /** The same fabric, of which nothing is simulated. */
  standIn: () => SimulatedFabric;
  /** Without a driver for so long it reverts everything. */
  leaseMs?: number;
  /** Without a driver for so long after that it ends. */
  abandonedMs?: number;
  /** Path of the program; the built one when left out. */
  program?: string;
  /** Where the folders of all are; the account's own when left out. */
  base?: string;
}

/** @throws EnvironmentError when it can't be started */
export async function openPaced(
  definition: FabricDefinition,
  seed: number,
  options: PacedOptions,
): Promise<PacedFabric> {
  const { instance, standIn, base = pacedFolder() } = options;
  const folder = folderOf(base, instance);
  const found = readRecord(folder);
  if ((found?.format ?? 1) > RECORD_FORMAT) {
    throw new EnvironmentError(
      `the paced simulation ${instance} was started by a later version (${found?.version})`,
      'undo with that version, or wait: it reverts by itself when nobody holds it',
    );
  }
  const record = found !== undefined && isUp(found) ? found : await start(definition, seed, base, options);
  return PacedFabric.attach(record, folder, standIn);
}

async function start(
  definition: FabricDefinition,
  seed: number,
  base: string,
  options: PacedOptions,
): Promise<PacedRecord> {
  const { instance, sealed = false, pace, leaseMs = LEASE_MS, abandonedMs = ABANDONED_MS } = options;
  const program = options.program ?? programPath('program', import.meta.url);
  const folder = makeFolder(base, instance);
  const input: SimulationInput = { definition, abandonedMs };
  writeFileSync(join(folder, 'fabric.bin'), serialize(input), { mode: 0o600 });
  writeRecord(folder, {
    ...{
      format: RECORD_FORMAT,
      version: VERSION,
      instance,
      sealed,
      fabric: definition.name,
      seed,
      pace,
      leaseMs,
    },
    state: 'starting',
    process: ownIdentity(),
    startedAt: new Date().toISOString(),
    endedAt: null,
    reason: null,
  });
  const complaints = join(folder, 'stderr');
  const log = openSync(complaints, 'w', 0o600);
  const { PATH, HOME, TMPDIR } = process.env;
  // A session of its own, and nothing of the starter's secrets: it is to outlive whoever starts it.
  const child = spawn(process.execPath, [program, folder], {
    detached: true,
    stdio: ['ignore', log, log],
    env: { PATH, HOME, TMPDIR },
    cwd: folder,
  });
  closeSync(log);
  let failure: string | undefined;
  child.once('error', (error) => (failure = error.message));
  child.once('exit', (code, signal) => (failure ??= `it ended with ${signal ?? code}`));
  child.unref();
  for (const endMs = Date.now() + STARTS_WITHIN_MS; Date.now() < endMs; await sleep(LOOK_MS)) {
    const record = readRecord(folder);
    if (record?.state === 'up' && isRunning(record.process)) return record;
    if (failure !== undefined) break;
  }
  child.kill('SIGKILL');
  const said = readFileSync(complaints, 'utf8').trim().slice(-MOST_COMPLAINT_CHARACTERS);
  throw new EnvironmentError(
    `the paced simulation could not be started: ${failure ?? 'it was not up in time'}${said === '' ? '' : `: ${said}`}`,
  );
}
