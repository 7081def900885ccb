/**
 * The queue of gates: a decision, behind the batches of runs that it waits for.
 *
 * BullMQ's flows: a round of a gate is one flow, its batches are the children that any worker may take, and the decision
 * is their parent, which is handed out once all of them have ended. The queue only says what is to be looked at; rows say
 * how far a gate is. So a batch may be delivered twice, and one that failed for good does not hold its decision back.
 * It is opened when it is first used: most processes have no gate.
 */
import type { Job, JobsOptions } from 'bullmq';
import { EnvironmentError } from '../../../core/problem.js';
import type { Config } from '../../../system/config/config.js';
import { answeredInTime, openBackend, type QueueWorker, type WorkerSettings } from './queue-backend.js';
import { QueueMembers } from './queue-members.js';

/** Injection token of the `GateQueue`. */
export const GATE_QUEUE = Symbol('fabricdrill gate queue');

const QUEUE_NAME = 'gates';
const DECISION = 'decide';
const BATCH = 'batch';
const KEEP = { age: 24 * 3600, count: 5000 };
/** A run that throws ends its gate; what is tried again is a database that was away. */
const JOB_OPTIONS: JobsOptions = {
  attempts: 8,
  backoff: { type: 'exponential', delay: 500 },
  removeOnComplete: KEEP,
  removeOnFail: KEEP,
};
/** Nothing more will come of a job in these states. */
const OVER = ['unknown', 'completed', 'failed'];

/** Runs of one experiment on one side that one worker makes. */
export interface GateBatch {
  /** Index among the experiments of the gate. */
  experiment: number;
  side: 'baseline' | 'candidate';
  seeds: number[];
}

export interface GateRoundId {
  gateId: string;
  round: number;
}

export interface GateHandlers {
  /** Told when the batches of the round have ended, however they ended. */
  decide(round: GateRoundId): Promise<void>;
  make(round: GateRoundId, batch: GateBatch): Promise<void>;
}

export interface GateQueue {
  /** Queues the batches, and behind them the decision; does nothing when that decision is or was queued. */
  add(round: GateRoundId, batches: readonly GateBatch[]): Promise<void>;
  /** Whether the decision on this round is still to come. @throws EnvironmentError when the backend does not answer */
  expects(round: GateRoundId): Promise<boolean>;
  /** Starts a worker of this process; resolves when it takes jobs. */
  worker(handlers: GateHandlers, settings: WorkerSettings): Promise<QueueWorker>;
  /** Closes workers first, then the queue. Before the database goes. May be called twice. */
  close(): Promise<void>;
}

type JobData = GateRoundId & { batch?: GateBatch };

const decisionId = ({ gateId, round }: GateRoundId): string => `${gateId}-${round}`;

/**
 * @param databaseUrl the open database, whichever it is
 * @param onError told about broken connections, which heal by themselves
 */
export function gateQueue(
  config: Pick<Config, 'redisUrl'>,
  databaseUrl: string,
  onError: (error: Error) => void,
): GateQueue {
  let opened: Promise<GateQueue> | undefined;
  let closed = false;
  const open = (): Promise<GateQueue> => {
    if (closed) throw new EnvironmentError('the queue is closed');
    opened ??= openGateQueue(config, databaseUrl, onError).catch((error: unknown) => {
      // the next one tries again
      opened = undefined;
      throw error;
    });
    return opened;
  };
  return {
    add: async (round, batches) => (await open()).add(round, batches),
    expects: async (round) => (await open()).expects(round),
    worker: async (handlers, settings) => (await open()).worker(handlers, settings),
    close: async () => {
      closed = true;
      await (await opened)?.close();
    },
  };
}

async function openGateQueue(
  config: Pick<Config, 'redisUrl'>,
  databaseUrl: string,
  onError: (error: Error) => void,
): Promise<GateQueue> {
  const opened = await openBackend(config, databaseUrl);
  const { name: backend, Queue, FlowProducer, options } = opened;
  const queue = new Queue(QUEUE_NAME, { ...options, defaultJobOptions: JOB_OPTIONS });
  const flows = new FlowProducer(options);
  const members = new QueueMembers(opened, [queue, flows], onError);
  await members.ready();
  const inTime = <T>(work: Promise<T>): Promise<T> => answeredInTime(work, backend);
  return {
    add: async (round, batches) => {
      const node = { queueName: QUEUE_NAME, data: { ...round } };
      const children = batches.map((batch) => ({
        ...{ ...node, name: BATCH, data: { ...round, batch } },
        opts: { ...JOB_OPTIONS, ignoreDependencyOnFailure: true },
      }));
      const opts = { ...JOB_OPTIONS, jobId: decisionId(round) };
      await inTime(flows.add({ ...node, name: DECISION, opts, children }));
    },
    expects: async (round) => !OVER.includes(await inTime(queue.getJobState(decisionId(round)))),
    worker: (handlers, settings) =>
      members.startWorker(
        QUEUE_NAME,
        ({ data: { batch, ...round } }: Job<JobData>) =>
          batch === undefined ? handlers.decide(round) : handlers.make(round, batch),
        settings,
      ),
    close: () => members.close(),
  };
}
