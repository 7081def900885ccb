/**
 * The program that watches a lab: a process of its own, so that stamps are those of the reading and not of a busy drill.
 *
 * Reads its configuration as one line, polls each device at fixed intervals, tells what they say line by line, and ends
 * when its collector does. Devices take turns, so that none waits for the answers of others to be read before it gets its
 * stamp. It runs with priority, like the workers, for the same reason.
 */
import { createInterface } from 'node:readline';
import { raisePriority } from '../job/raise-priority.js';
import { NodeWatch } from './node-watch.js';
import { cpuMsOf } from './watch-cost.js';
import type { WatchConfiguration, WatchReading } from './watch-protocol.js';

const COST_MS = 1000;

function watch(configuration: WatchConfiguration): NodeWatch[] {
  const { nodes, table, switchIntervalNs, hostIntervalNs, lookNs } = configuration;
  const tell = (reading: WatchReading): void => {
    process.stdout.write(`${JSON.stringify(reading)}\n`);
  };
  const watches = nodes.map((node, index) => new NodeWatch(index, node, table, tell));
  const ofRole = (role: string): NodeWatch[] => watches.filter((_, index) => nodes[index].role === role);
  const [switches, hosts] = [ofRole('switch'), ofRole('host')];
  let rounds = 0;
  for (const one of watches) {
    one.start();
    void one.poll();
  }
  inTurn(switches, switchIntervalNs / 1e6);
  inTurn(hosts, hostIntervalNs / 1e6);
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

/** Polls each at the same interval, spread evenly over it. */
function inTurn(watches: readonly NodeWatch[], everyMs: number): void {
  watches.forEach((one, index) => {
    const poll = (): void => void one.poll();
    setTimeout(
      () => {
        setInterval(poll, everyMs);
        poll();
      },
      (everyMs * (index + 1)) / watches.length,
    );
  });
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
