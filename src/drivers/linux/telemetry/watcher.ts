/**
 * The program that watches a lab: a process of its own, so that stamps are those of the reading and not of a busy drill.
 *
 * Reads its configuration as one line, polls each device at fixed intervals, tells what they say line by line, and ends
 * when its collector does. Devices take turns, so that which of two counters was read first is certain. It runs with priority, like the workers, for the same reason.
 */
import { createInterface } from 'node:readline';
import { raisePriority } from '../job/raise-priority.js';
import { NodeWatch } from './node-watch.js';
import { Turns } from './turns.js';
import { cpuMsOf } from './watch-cost.js';
import type { WatchConfiguration, WatchReading } from './watch-protocol.js';

const COST_MS = 1000;

function watch(configuration: WatchConfiguration): NodeWatch[] {
  const { nodes, table, switchIntervalNs, hostIntervalNs, lookNs, answerMs } = configuration;
  const tell = (reading: WatchReading): void => {
    process.stdout.write(`${JSON.stringify(reading)}\n`);
  };
  const turns = new Turns();
  const watches = nodes.map((node, index) => new NodeWatch(index, node, table, answerMs, tell, turns));
  const isSwitch = (_: unknown, index: number): boolean => nodes[index].role === 'switch';
  const switches = watches.filter(isSwitch);
  let rounds = 0;
  for (const one of watches) {
    one.start();
    void one.poll();
  }
  watches.forEach((one, index) => {
    const everyMs = (isSwitch(one, index) ? switchIntervalNs : hostIntervalNs) / 1e6;
    repeat(() => void one.poll(), everyMs, (everyMs * (index + 1)) / watches.length);
  });
  setInterval(() => rounds++, switchIntervalNs / 1e6);
  setInterval(() => {
    for (const one of switches) void one.look();
  }, lookNs / 1e6);
  setInterval(() => {
    const pids = [process.pid, ...watches.flatMap((one) => one.pids)];
    tell({ reading: 'cost', cpuMs: cpuMsOf(pids), rounds });
  }, COST_MS);
  return watches;
}

/** At its phase of every interval: a timer that counts from its last call would drift into the turn of another device. */
function repeat(act: () => void, everyMs: number, phaseMs: number): void {
  const startMs = performance.now() + phaseMs;
  const due = (): void => {
    act();
    const next = Math.floor((performance.now() - startMs) / everyMs) + 1;
    setTimeout(due, startMs + next * everyMs - performance.now());
  };
  setTimeout(due, phaseMs);
}

raisePriority();
process.stdout.on('error', () => undefined);

let watches: NodeWatch[] = [];
createInterface({ input: process.stdin })
  .once('line', (line) => {
    watches = watch(JSON.parse(line) as WatchConfiguration);
  })
  .once('close', () => {
    for (const one of watches) one.close();
    process.exit(0);
  });
