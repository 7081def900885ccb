/**
 * The program that trains one rank: reads its configuration and orders line by line, reports line by line.
 *
 * It ends by itself: complete, stopped, a neighbour lost, data wrong, its orders at an end, or nobody renewed its lease. The
 * supervisor may be gone by then; nothing that it started outlives it for longer than the lease. Runs in its host's network namespace.
 */
import { readCheckpoint, writeCheckpoint } from './checkpoint-file.js';
import { Mesh } from './mesh.js';
import { monotonicNs } from './monotonic.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { jsonLines, WORKER_EXIT } from './protocol.js';
import type { WorkerConfiguration, WorkerOrder, WorkerReport } from './protocol.js';
import { raisePriority } from './raise-priority.js';
import { StepRunner, WrongDataError } from './step-runner.js';

const LOOK_MS = 50;
const LEASE_CHECK_MS = 250;

// A supervisor that is gone reads nothing: the lease ends this worker, not a broken pipe.
process.stdout.on('error', () => undefined);
process.stdin.on('error', () => undefined);

const report = (one: WorkerReport): void => {
  process.stdout.write(`${JSON.stringify(one)}\n`);
};

/** Ends the process once the last report is on its way. */
function end(code: number): void {
  setTimeout(() => process.exit(code), 1000).unref();
  if (process.stdout.writableLength === 0) process.exit(code);
  process.stdout.write('', () => process.exit(code));
}

class Worker {
  private readonly mesh: Mesh;
  private readonly runner: StepRunner;
  private lastOrderNs = monotonicNs();
  private stopAfter = Infinity;
  private over = false;
  private connect: () => void = () => undefined;

  constructor(private readonly configuration: WorkerConfiguration) {
    this.mesh = new Mesh(configuration, (reason) => this.fail(reason, WORKER_EXIT.lostPeer));
    this.runner = new StepRunner(configuration.operations, configuration.rank, this.mesh);
  }

  take(order: WorkerOrder): void {
    this.lastOrderNs = monotonicNs();
    if (order.order === 'tell-time') {
      const { rank } = this.configuration;
      report({ report: 'time', rank, askedNs: order.askedNs, atNs: this.lastOrderNs });
    } else if (order.order === 'connect') this.connect();
    else if (order.order === 'stop-after') this.stopAfter = order.step;
    else if (order.order === 'slow-down') this.runner.slowDown = order.factor;
  }

  async run(): Promise<void> {
    const { rank, giveUpNs, pulseNs, leaseNs } = this.configuration;
    setInterval(() => {
      if (monotonicNs() - this.lastOrderNs > leaseNs) end(WORKER_EXIT.leaseOver);
    }, LEASE_CHECK_MS);
    const connect = new Promise<void>((resolve) => {
      this.connect = resolve;
    });
    await this.mesh.listen();
    report({ report: 'listening', rank, pid: process.pid });
    await connect;
    await this.mesh.connect();
    report({ report: 'connected', rank, atNs: monotonicNs() });
    setInterval(() => this.mesh.look(monotonicNs(), giveUpNs), LOOK_MS);
    setInterval(() => {
      report({ report: 'pulse', rank, atNs: monotonicNs(), edges: this.mesh.counters() });
    }, pulseNs / 1e6);
    await this.train();
  }

  /** A scheduler ends jobs so, with a while for a checkpoint; ranks that stopped one by one would wait for each other. */
  tellEnd(): void {
    report({ report: 'told-to-end', rank: this.configuration.rank, atNs: monotonicNs() });
  }

  fail(reason: string, code: number): void {
    if (this.over) return;
    this.over = true;
    report({ report: 'failed', rank: this.configuration.rank, atNs: monotonicNs(), reason });
    end(code);
  }

  private async train(): Promise<void> {
    const { rank, folder, fromStep, steps, checkpoint } = this.configuration;
    if (fromStep > 0) {
      await readCheckpoint(folder, rank, fromStep, this.runner.weights);
      this.runner.checkWeights(fromStep);
    }
    const lastStep = steps ?? Infinity;
    for (let step = fromStep + 1; step <= lastStep && !this.over; step++) {
      const { beganNs, endedNs, computeNs, collectives } = await this.runner.run(step);
      report({ report: 'step', rank, step, beganNs, endedNs, computeNs, collectives });
      const stopping = step >= this.stopAfter;
      const due = checkpoint !== null && step % checkpoint.everySteps === 0;
      if (due || stopping) await this.save(step, checkpoint?.leastNs ?? 0);
      if (stopping) return this.finish({ report: 'stopped', rank, step, atNs: monotonicNs() });
    }
    if (!this.over) this.finish({ report: 'complete', rank, step: lastStep, atNs: monotonicNs() });
  }

  private async save(step: number, leastNs: number): Promise<void> {
    const { rank, folder } = this.configuration;
    const beganNs = monotonicNs();
    await writeCheckpoint(folder, rank, step, this.runner.weights);
    await sleep(Math.max(0, (leastNs - (monotonicNs() - beganNs)) / 1e6));
    const atNs = monotonicNs();
    report({ report: 'checkpoint', rank, step, atNs, tookNs: atNs - beganNs });
  }

  private finish(last: WorkerReport): void {
    this.over = true;
    report(last);
    // neighbours may still be writing the same checkpoint; the supervisor ends all together
  }
}

raisePriority();

let worker: Worker | undefined;
process.on('SIGTERM', () => {
  if (worker === undefined) process.exit(WORKER_EXIT.leaseOver);
  worker.tellEnd();
});
process.stdin.setEncoding('utf8');
// Whoever gives the orders has gone, or wants it to go: there is no need to wait for the end of the lease.
process.stdin.on('end', () => process.exit(WORKER_EXIT.leaseOver));
process.stdin.on(
  'data',
  jsonLines(
    (value) => {
      if (worker !== undefined) {
        worker.take(value as WorkerOrder);
        return;
      }
      const hired = new Worker(value as WorkerConfiguration);
      worker = hired;
      hired.run().catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        hired.fail(reason, error instanceof WrongDataError ? WORKER_EXIT.wrongData : WORKER_EXIT.lostPeer);
      });
    },
    () => end(WORKER_EXIT.badOrder),
  ),
);
