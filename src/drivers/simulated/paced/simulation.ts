/**
 * The program of a paced simulation: a process of its own, which outlives whoever started it.
 *
 * Its folder holds what it is to simulate; it writes its record when it can be reached, its journal as it goes, and ends
 * when its driver says so or when nobody has held its lease for a minute.
 */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { deserialize } from 'node:v8';
import { ownIdentity } from '../../../system/process-identity.js';
import { createSimulatedFabric } from '../create-simulated-fabric.js';
import { PacedHost } from './paced-host.js';
import { pacedServer } from './paced-server.js';
import {
  readRecord,
  socketIn,
  writeJournal,
  writeRecord,
  type JournalLine,
  type SimulationInput,
} from './record.js';

const WATCH_MS = 200;

export async function simulate(folder: string): Promise<void> {
  const input = deserialize(readFileSync(join(folder, 'fabric.bin'))) as SimulationInput;
  const record = readRecord(folder);
  if (record === undefined) throw new Error(`there is no record in ${folder}`);
  const fabric = createSimulatedFabric(input.definition, record.seed);
  const journal = (line: Omit<JournalLine, 'at' | 'nowNs'>): void =>
    writeJournal(folder, { at: new Date().toISOString(), nowNs: fabric.nowNs, ...line });
  const { pace, leaseMs } = record;
  const host = new PacedHost({
    ...{ fabric, pace, leaseMs, journal },
    wallClockMs: Date.now,
    sleep: (ms) => sleep(ms),
  });
  const over = new Promise<string>((resolve) => {
    const server = pacedServer(host, () => resolve('its driver ended it'));
    rmSync(socketIn(folder), { force: true });
    server.listen(socketIn(folder), () => {
      journal({ did: 'started' });
      writeRecord(folder, { ...record, state: 'up', process: ownIdentity() });
    });
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve(signal));
    void watch(host, input.abandonedMs).then(() => resolve('nobody held its lease any more'));
  });
  const reason = await over;
  await host.revertAll('end');
  journal({ did: 'ended', by: reason });
  rmSync(socketIn(folder), { force: true });
  writeRecord(folder, {
    ...record,
    state: 'ended',
    process: ownIdentity(),
    endedAt: new Date().toISOString(),
    reason,
  });
}

async function watch(host: PacedHost, abandonedMs: number): Promise<void> {
  while ((await host.watch()) <= abandonedMs) await sleep(WATCH_MS);
}
