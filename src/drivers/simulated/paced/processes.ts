/** The paced simulations of this account on this machine, for people: what runs, its log, and an end to it. */
import { ownIdentity } from '../../../system/process-identity.js';
import type { FabricProcess, FabricProcesses } from '../../../fabric-api/fabric-processes.js';
import { formatPace } from '../../../fabric-api/pace.js';
import { PacedCalls } from './calls.js';
import type { PacedStatus } from './protocol.js';
import { folderOf, isUp, pacedFolder, readJournal, readRecord, recorded, socketIn } from './record.js';

/** @param base where the folders of all are; the account's own when left out */
export class PacedProcesses implements FabricProcesses {
  constructor(private readonly base: () => string = pacedFolder) {}

  async list(): Promise<FabricProcess[]> {
    const shown = (await Promise.all(recorded(this.base()).map(show))).flatMap((one) => one ?? []);
    shown.sort((one, other) => other.since.localeCompare(one.since));
    return [...shown.filter(({ state }) => state === 'up'), ...shown.filter(({ state }) => state !== 'up')];
  }

  log(instance: string): string | undefined {
    const folder = folderOf(this.base(), instance);
    if (readRecord(folder) === undefined) return undefined;
    return readJournal(folder)
      .map((line) => `${JSON.stringify(line)}\n`)
      .join('');
  }

  async end(instance: string): Promise<boolean> {
    const folder = folderOf(this.base(), instance);
    const record = readRecord(folder);
    if (record === undefined || !isUp(record)) return false;
    await withCalls(folder, (calls) => calls.ask('end', { by: ownIdentity() }));
    return true;
  }
}

async function show(folder: string): Promise<FabricProcess | undefined> {
  const record = readRecord(folder);
  if (record === undefined) return undefined;
  const { instance, fabric, pace, process, sealed, startedAt, reason, state } = record;
  const up = isUp(record);
  const status = up
    ? await withCalls(folder, (calls) => calls.ask('status')).then(
        ({ result }) => result as PacedStatus,
        () => undefined,
      )
    : undefined;
  return {
    ...{ instance, fabric, pace: formatPace(pace), sealed, reason },
    pid: Number(process.slice(0, process.indexOf('-'))),
    since: startedAt,
    state: up ? 'up' : state === 'ended' ? 'ended' : 'lost',
    nowNs: status?.nowNs ?? null,
    inPlace: status?.inPlace ?? null,
    behindMs: status?.behindMs ?? null,
  };
}

async function withCalls<T>(folder: string, work: (calls: PacedCalls) => Promise<T>): Promise<T> {
  const calls = new PacedCalls(socketIn(folder));
  try {
    return await work(calls);
  } finally {
    calls.close();
  }
}
