/**
 * What one queue has opened, workers among it, and how all of it ends: workers first, each when its jobs are done.
 *
 * The library waits for ever for a server that is away, and the process with it, so an end takes a moment at most beyond
 * the jobs under way. A job whose end is not told in time is only handed out once more.
 */
import type { Job } from 'bullmq';
import { EnvironmentError } from '../../../core/problem.js';
import type { Backend, Connected, QueueWorker, WorkerSettings } from './queue-backend.js';

/** An orderly end takes milliseconds. */
const GOODBYE_MS = 2000;

export class QueueMembers {
  private readonly workers = new Set<QueueWorker>();
  // the library ends its connections in its own time: that a server stops under them once all is closed is no news
  private over = false;
  private closing: Promise<void> | undefined;

  /** @param onError told about broken connections, which heal by themselves */
  constructor(
    private readonly backend: Backend,
    private readonly connections: readonly Connected[],
    private readonly onError: (error: Error) => void,
  ) {
    for (const one of connections) one.on('error', this.tell);
  }

  async ready(): Promise<void> {
    await Promise.all(this.connections.map((one) => one.waitUntilReady()));
  }

  /**
   * Resolves when it takes jobs.
   * @throws EnvironmentError once the queue is closed
   */
  async startWorker<Data>(
    name: string,
    handler: (job: Job<Data>) => Promise<void>,
    settings: WorkerSettings,
  ): Promise<QueueWorker> {
    if (this.closing !== undefined) throw new EnvironmentError('the queue is closed');
    const { Worker, options, workerOptions } = this.backend;
    const underWay = new Set<Promise<void>>();
    const processor = watched(handler, underWay);
    const worker = new Worker<Data>(name, processor, { ...options, ...workerOptions(settings) });
    worker.on('error', this.tell);
    const member = endingInTime(worker, underWay);
    this.workers.add(member);
    await worker.waitUntilReady();
    return member;
  }

  /** May be called twice. */
  close(): Promise<void> {
    return (this.closing ??= this.closeAll());
  }

  private async closeAll(): Promise<void> {
    await Promise.all([...this.workers].map((worker) => worker.close()));
    await endedInTime(Promise.all(this.connections.map((one) => one.close())));
    this.over = true;
  }

  private readonly tell = (error: Error): void => {
    if (!this.over) this.onError(error);
  };
}

/** @param underWay handlers of jobs, which take the time they take */
async function endedInTime(
  ending: Promise<unknown>,
  underWay: ReadonlySet<Promise<void>> = new Set(),
): Promise<void> {
  const state = { over: false };
  const over = ending.then(
    () => void (state.over = true),
    () => void (state.over = true),
  );
  while (underWay.size > 0 && !state.over) await Promise.race([over, Promise.allSettled(underWay)]);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, GOODBYE_MS)));
  await Promise.race([over, late]);
  clearTimeout(timer);
}

/** A worker that ends in time; asking again waits for the same end. */
function endingInTime(worker: Connected, underWay: ReadonlySet<Promise<void>>): QueueWorker {
  let ended: Promise<void> | undefined;
  return { close: () => (ended ??= endedInTime(worker.close(), underWay)) };
}

/** A handler whose calls under way are known. */
function watched<Input>(
  handler: (input: Input) => Promise<void>,
  underWay: Set<Promise<void>>,
): (input: Input) => Promise<void> {
  return async (input) => {
    const call = handler(input);
    underWay.add(call);
    try {
      await call;
    } finally {
      underWay.delete(call);
    }
  };
}
