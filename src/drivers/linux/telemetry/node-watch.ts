/**
 * What one device of a lab says of itself: its tools kept running in its namespace, asked at each poll, and the kernel's
 * own announcements of links and routes in between.
 *
 * `ip monitor` only says that something changed; what holds now is then read as a whole, so that nothing depends on the
 * order of announcements. The instant is that of the first announcement. Sessions of FRR are asked over its sockets.
 * Linux keeps no watermark of a queue: the largest of several looks is told, so that a short burst may be missed.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { monotonicNs } from '../job/monotonic.js';
import { FrrSocket } from './frr-socket.js';
import { LineCommand } from './line-command.js';
import {
  countersOfLinks,
  parseBfdPeers,
  parseCounters,
  parseLinks,
  parseNetstat,
  parseQueues,
  parseSpeeds,
  queuesOfLinks,
} from './readings.js';
import type { Turns } from './turns.js';
import type { WatchedNode, WatchReading } from './watch-protocol.js';

type State = Extract<WatchReading, { reading: 'state' }>;

/** Announcements come in bursts: a link that falls takes its routes along. */
const SETTLE_MS = 3;
const MONITOR_AGAIN_MS = 1000;

export class NodeWatch {
  private readonly ip: LineCommand;
  private readonly tc: LineCommand | undefined;
  private readonly nft: LineCommand | undefined;
  private readonly netstat: LineCommand | undefined;
  private readonly speeds: LineCommand | undefined;
  private readonly bfdd: FrrSocket | LineCommand | undefined;
  private monitor: ChildProcess | undefined;
  private readonly depths = new Map<string, number>();
  private closed = false;
  private announcedNs: number | undefined;
  private polling = false;
  private looking = false;

  constructor(
    private readonly index: number,
    private readonly node: WatchedNode,
    private readonly table: string,
    private readonly answerMs: number,
    private readonly tell: (reading: WatchReading) => void,
    private readonly turns: Turns,
  ) {
    this.ip = new LineCommand(node.ip);
    const staying = (command: readonly string[] | null): LineCommand | undefined =>
      command === null ? undefined : new LineCommand(command);
    this.tc = staying(node.tc);
    this.nft = staying(node.nft);
    this.netstat = staying(node.netstat);
    this.speeds = staying(node.speeds);
    this.bfdd = typeof node.bfdd === 'string' ? new FrrSocket(node.bfdd) : staying(node.bfdd);
  }

  start(): void {
    const [program, ...args] = this.node.monitor;
    const monitor = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'] });
    this.monitor = monitor;
    monitor.on('error', () => undefined);
    monitor.stdin.on('error', () => undefined);
    monitor.stdout.on('data', () => this.announced());
    // The way to a device may be lost for a while, and its announcements with it.
    monitor.once('close', () => {
      if (!this.closed) setTimeout(() => this.closed || this.start(), MONITOR_AGAIN_MS).unref();
    });
  }

  /** pids of the processes that answer, for what they cost. */
  get pids(): number[] {
    const commands = [this.ip, this.tc, this.nft, this.netstat, this.speeds];
    return [...commands.map((one) => one?.pid), this.monitor?.pid].filter((pid) => pid !== undefined);
  }

  /** One that is slow to answer misses a poll, as a device does; polls do not pile up. */
  async poll(): Promise<void> {
    if (this.polling) return;
    this.polling = true;
    try {
      await this.readState();
      await this.turns.take(() => this.readCounters());
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (!this.closed) this.tell({ reading: 'silent', node: this.index, atNs: monotonicNs(), why });
    } finally {
      this.polling = false;
    }
  }

  async look(): Promise<void> {
    if (this.looking || this.tc === undefined) return;
    this.looking = true;
    try {
      this.noteDepths(parseQueues(await this.tc.ask('qdisc show', this.answerMs)));
    } catch {
      // The next poll finds that the device does not answer.
    } finally {
      this.looking = false;
    }
  }

  close(): void {
    this.closed = true;
    this.ip.close();
    this.tc?.close();
    this.nft?.close();
    this.netstat?.close();
    this.speeds?.close();
    this.bfdd?.close();
    this.monitor?.kill('SIGKILL');
  }

  private async readState(sinceNs?: number): Promise<void> {
    const [links, routes, bfd] = await Promise.all([
      this.ip.ask('link show', this.answerMs),
      this.node.role === 'switch' ? this.ip.ask('route show', this.answerMs) : null,
      this.readSessions(),
    ]);
    this.tell({
      reading: 'state',
      node: this.index,
      atNs: sinceNs ?? monotonicNs(),
      links: [...parseLinks(links)],
      routes,
      bfd,
    });
  }

  /** A daemon that is gone must not hide what the kernel says of links and routes. */
  private async readSessions(): Promise<State['bfd']> {
    if (this.bfdd === undefined) return null;
    try {
      return [...parseBfdPeers(await this.bfdd.ask('show bfd peers json', this.answerMs))];
    } catch {
      return 'no answer';
    }
  }

  private async readCounters(): Promise<void> {
    const queue = await stamped(this.tc?.ask('qdisc show', this.answerMs));
    const counter = await stamped(this.nft?.ask(`list counters table netdev ${this.table}`, this.answerMs));
    const link = await stamped(
      queue === undefined || counter === undefined ? this.ip.ask('link show', this.answerMs) : undefined,
    );
    const netstatText =
      this.node.role === 'host' ? await this.netstat?.ask('netstat', this.answerMs) : undefined;
    const speedText = await this.speeds?.ask('speeds', this.answerMs);
    const links = this.node.countsPackets ? (link?.answer ?? '[]') : '[]';
    const queues = queue === undefined ? queuesOfLinks(links) : parseQueues(queue.answer);
    const counters = counter === undefined ? countersOfLinks(links) : parseCounters(counter.answer);
    const nowNs = monotonicNs();
    this.noteDepths(queues);
    this.tell({
      reading: 'counters',
      node: this.index,
      atNs: (queue ?? link)?.atNs ?? nowNs,
      arrivedNs: (counter ?? link)?.atNs ?? nowNs,
      queues: [...queues],
      depths: [...this.depths],
      counters: [...counters],
      speeds: [...parseSpeeds(speedText ?? '')],
      netstat: this.node.role === 'host' ? [...this.readNetstat(netstatText)] : [],
    });
    this.depths.clear();
  }

  private noteDepths(queues: ReturnType<typeof parseQueues>): void {
    for (const [name, { backlogBytes }] of queues) {
      this.depths.set(name, Math.max(backlogBytes, this.depths.get(name) ?? 0));
    }
  }

  /** TCP's counters of the namespace, by way of a process that is in it. @param told by a device elsewhere, tabs for lines */
  private readNetstat(told: string | undefined): Map<string, number> {
    if (told !== undefined) return parseNetstat(told.replaceAll('\t', '\n'));
    const pid = this.ip.pid;
    return pid === undefined
      ? new Map<string, number>()
      : parseNetstat(readFileSync(`/proc/${pid}/net/netstat`, 'utf8'));
  }

  private announced(): void {
    if (this.closed || this.announcedNs !== undefined) return;
    const sinceNs = monotonicNs();
    this.announcedNs = sinceNs;
    setTimeout(() => {
      this.announcedNs = undefined;
      // One that does not answer now is found silent by the next poll.
      if (!this.closed) this.readState(sinceNs).catch(() => undefined);
    }, SETTLE_MS);
  }
}

/** An answer with the instant at which it was true: somewhere between the question and the answer. */
async function stamped(
  answer: Promise<string> | undefined,
): Promise<{ answer: string; atNs: number } | undefined> {
  if (answer === undefined) return undefined;
  const askedNs = monotonicNs();
  return { answer: await answer, atNs: (askedNs + monotonicNs()) / 2 };
}
