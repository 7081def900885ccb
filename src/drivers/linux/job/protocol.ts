/**
 * What a job's supervisor and the worker of a rank say to each other: one JSON object a line, orders down the worker's
 * standard input, reports up its standard output.
 *
 * Pipes on the same machine (or a session over the management network) are a path that no fault of the fabric can cut.
 * All instants are CLOCK_MONOTONIC in ns of the machine that says them; as doubles they are exact for 104 days of uptime.
 * Namespaces of one machine share that clock; a worker elsewhere is asked what its own says, and what it reports is put
 * into ours (`clock-offset.ts`) before anybody reads it.
 */

/** One connection of a ring, as its sender sees it. */
export interface SendingEdge {
  toRank: number;
  address: string;
  port: number;
  /** Chosen so that flows of the job spread over the uplinks. */
  sourcePort: number;
}

export interface WorkerOperation {
  type: 'compute' | 'all-reduce' | 'all-gather' | 'reduce-scatter';
  name: string;
  after: readonly number[];
  /** Of a computation. */
  durationNs: number;
  /** Of a collective: buffer of a rank, and the ring this rank is in, ranks in ring order; empty: it takes no part. */
  bytes: number;
  ring: readonly number[];
}

/** First line that a worker reads. */
export interface WorkerConfiguration {
  job: string;
  rank: number;
  /** Rises with each restart: a late connection of an earlier life is refused. */
  generation: number;
  address: string;
  port: number;
  sends: readonly SendingEdge[];
  /** Ranks that connect to this one. */
  receivesFrom: readonly number[];
  operations: readonly WorkerOperation[];
  /** Steps done before; those up to the checkpoint that is loaded. */
  fromStep: number;
  /** Complete after so many; null: it trains for ever. */
  steps: number | null;
  checkpoint: { everySteps: number; leastNs: number } | null;
  /** Where checkpoints of the job lie, for all ranks alike. */
  folder: string;
  /** Without progress on a connection for so long the collective library gives up. */
  giveUpNs: number;
  /** Between two reports of counters. */
  pulseNs: number;
  /** The worker ends when so long no order came. */
  leaseNs: number;
}

export type WorkerOrder =
  | { order: 'renew' }
  /** Say what the clock says. @see ClockOffset */
  | { order: 'tell-time'; askedNs: number }
  /** All ranks listen: connect. */
  | { order: 'connect' }
  /** Stop after this step, with a checkpoint. */
  | { order: 'stop-after'; step: number }
  /** Computations take so many times longer than normal; 1: as normal. */
  | { order: 'slow-down'; factor: number };

/** Counters of a connection at its sender, over the life of this worker. */
export interface EdgeCounters {
  toRank: number;
  /** Payload that the receiver has said it has. */
  deliveredBytes: number;
  stalledNs: number;
}

export interface CollectiveReport {
  operation: number;
  beganNs: number;
  endedNs: number;
}

export type WorkerReport =
  | { report: 'listening'; rank: number; pid: number }
  /** The answer to `tell-time`; `askedNs` is the asker's own. */
  | { report: 'time'; rank: number; askedNs: number; atNs: number }
  | { report: 'connected'; rank: number; atNs: number }
  | { report: 'pulse'; rank: number; atNs: number; edges: EdgeCounters[] }
  | {
      report: 'step';
      rank: number;
      step: number;
      beganNs: number;
      endedNs: number;
      computeNs: number;
      collectives: CollectiveReport[];
    }
  | { report: 'checkpoint'; rank: number; step: number; atNs: number; tookNs: number }
  /** Whoever runs the process has told it to end (SIGTERM); it goes on until all ranks have an order to stop. */
  | { report: 'told-to-end'; rank: number; atNs: number }
  | { report: 'stopped'; rank: number; step: number; atNs: number }
  | { report: 'complete'; rank: number; step: number; atNs: number }
  /** A neighbour is gone or does not answer, or the data is wrong: this worker ends. */
  | { report: 'failed'; rank: number; atNs: number; reason: string };

/** The same, with its instants moved. @param hereNs from the clock of who reports to that of who reads */
export function inOurTime(report: WorkerReport, hereNs: (thereNs: number) => number): WorkerReport {
  if (report.report === 'listening') return report;
  if (report.report !== 'step') return { ...report, atNs: hereNs(report.atNs) };
  const move = <T extends { beganNs: number; endedNs: number }>(one: T): T => ({
    ...one,
    beganNs: hereNs(one.beganNs),
    endedNs: hereNs(one.endedNs),
  });
  return { ...move(report), collectives: report.collectives.map(move) };
}

/** What a worker exits with, for those who only see that. */
export const WORKER_EXIT = { done: 0, lostPeer: 3, leaseOver: 4, wrongData: 5, badOrder: 6 } as const;

/** Splits a byte stream into lines and hands each on as JSON; a line that is none is an error of its sender. */
export function jsonLines(onLine: (value: unknown) => void, onError: (line: string) => void) {
  let rest = '';
  return (data: string): void => {
    const lines = (rest + data).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.trim() === '') continue;
      let value: unknown;
      try {
        value = JSON.parse(line);
      } catch {
        onError(line);
        continue;
      }
      onLine(value);
    }
  };
}
