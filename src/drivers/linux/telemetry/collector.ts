/**
 * The lab's collector: a process that watches all devices, and what it reads as series of the metric catalogue.
 *
 * Readings come over pipes, sockets and files of this machine, which no fault of the lab cuts, with stamps of the machine's
 * monotonic clock. A device that does not answer is unreachable and its samples are missing. What Linux does not count is
 * not told.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import type { Evidence } from '../../../model/telemetry/series.js';
import type { TelemetrySettings } from '../../../model/telemetry/settings.js';
import type { Job } from '../../../model/workload/job.js';
import type { Clock } from '../clock.js';
import type { LabJobs } from '../job/lab-jobs.js';
import { monotonicNs } from '../job/monotonic.js';
import { jsonLines } from '../job/protocol.js';
import { filledIn } from '../dialects/dialect.js';
import { RULES_TABLE, type Lab } from '../lab/lab.js';
import type { LabNode } from '../lab/parts.js';
import { programPath } from '../../../system/program-path.js';
import { quoteCommand } from '../undo/shell.js';
import { DeviceSeries } from './device-series.js';
import { JobSeries } from './job-series.js';
import { seriesSet } from './series-set.js';
import { SeriesStore } from './series-store.js';
import type { WatchConfiguration, WatchedNode, WatchReading } from './watch-protocol.js';

/** A device elsewhere is as far as ssh is; by then ssh itself says that it is gone. */
const ANSWER_MS = 1500;
const REMOTE_ANSWER_MS = 6000;
const LOOKS_PER_POLL = 8;
const LEAST_LOOK_NS = 50e6;
const FIRST_READINGS_MS = 30_000;
const END_MS = 2000;

export interface CollectorOptions {
  lab: Lab;
  jobs: LabJobs;
  /** As the fabric describes them. */
  definitions: readonly Job[];
  clock: Clock;
  settings: TelemetrySettings;
  /** Of devices elsewhere: those, by index, whose ports have the counting rules; all of a lab's have them. */
  withRules?: ReadonlySet<number>;
  /** The watching program, where it is not the built one. */
  program?: string;
}

/** What watching costs: CPU time of everything that watches, over rounds of polls of the whole lab. */
export interface WatchCost {
  rounds: number;
  cpuMsPerRound: number;
}

export class LabCollector {
  private readonly store: SeriesStore;
  private readonly devices: DeviceSeries;
  private readonly jobSeries: JobSeries;
  private child: ChildProcess | undefined;
  private jobTimer: NodeJS.Timeout | undefined;
  private failure: string | undefined;
  private watchCost: WatchCost | undefined;
  private stopping = false;

  constructor(private readonly options: CollectorOptions) {
    const { lab, jobs, definitions, settings } = options;
    const { topology } = lab;
    const { metrics } = settings;
    this.store = new SeriesStore(
      seriesSet({
        topology,
        jobs: definitions,
        bfd: lab.settings.bfd,
        tellingOf: (device) => {
          const { counts, bfd } = lab.nodes[device].dialect;
          return { counts, bfd: bfd !== undefined || !lab.isRemote };
        },
        ...(metrics === undefined ? {} : { watched: metrics }),
      }),
    );
    const sinceStart = (atNs: number): number => this.sinceStart(atNs);
    this.devices = new DeviceSeries(lab, this.store, sinceStart);
    this.jobSeries = new JobSeries(this.store, topology, definitions, jobs, sinceStart);
    jobs.listen(this.jobSeries);
  }

  /** Resolves when every device has been read once, or was found silent; polls go on until `stop`. */
  async start(): Promise<void> {
    const { settings, lab, program = programPath('watcher', import.meta.url) } = this.options;
    this.jobSeries.hostsChanged(monotonicNs());
    await this.openWays();
    // A session of its own: what ends a drill with a signal to its group must not end it before the drill has.
    const child = spawn(process.execPath, [program], { detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
    this.child = child;
    child.stdin.on('error', () => undefined);
    let complaint = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(-500);
    });
    const unread = new Set(lab.nodes.map(({ device }) => device));
    const first = new Promise<void>((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`${unread.size} devices gave no first reading`)),
        FIRST_READINGS_MS,
      );
      const read = (reading: WatchReading): void => {
        this.take(reading);
        if (reading.reading === 'counters' || reading.reading === 'silent') unread.delete(reading.node);
        if (unread.size > 0) return;
        clearTimeout(timer);
        resolve();
      };
      const garbled = (line: string): void => {
        complaint = line;
      };
      child.stdout.setEncoding('utf8').on(
        'data',
        jsonLines((value) => read(value as WatchReading), garbled),
      );
      child.once('close', (code) => {
        clearTimeout(timer);
        if (!this.stopping) this.failure = complaint.trim() || `exit code ${code}`;
        reject(new Error(`the process that watches the lab ended: ${this.failure ?? 'it was stopped'}`));
      });
    });
    child.stdin.write(`${JSON.stringify(this.configuration())}\n`);
    await first;
    this.jobTimer = setInterval(
      () => this.jobSeries.poll(this.sinceStart(monotonicNs())),
      settings.jobInterval / 1e6,
    );
  }

  /** One session a device goes first, and the others share its connection; one that can't be reached is found silent. */
  private async openWays(): Promise<void> {
    const { lab } = this.options;
    if (!lab.isRemote) return;
    const open = ({ place }: LabNode): Promise<unknown> => place.lane('watch').run(['true']);
    await Promise.all(lab.nodes.map((node) => open(node).catch(() => undefined)));
  }

  /** To be called when the clock has been started. */
  begin(): void {
    this.store.begin();
  }

  /** @throws Error when the process that watches has ended: what is missing then is not the fabric's doing */
  async evidence(fromNs: number, toNs: number): Promise<Evidence> {
    if (this.failure !== undefined)
      throw new Error(`the process that watches the lab ended: ${this.failure}`);
    return this.store.evidence(fromNs, toNs);
  }

  /** Undefined before the first round. */
  cost(): WatchCost | undefined {
    return this.watchCost;
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    this.stopping = true;
    clearInterval(this.jobTimer);
    const { child } = this;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => child.kill('SIGKILL'), END_MS);
      child.once('close', () => {
        clearTimeout(timer);
        resolve();
      });
      child.stdin?.end();
    });
  }

  private configuration(): WatchConfiguration {
    const { lab, settings, withRules } = this.options;
    const counted = ({ device }: LabNode): boolean => withRules?.has(device) ?? true;
    return {
      nodes: lab.nodes.map((node) => watchedNode(node, lab.settings.bfd, counted(node))),
      table: RULES_TABLE,
      switchIntervalNs: settings.switchInterval,
      hostIntervalNs: settings.nicInterval,
      answerMs: lab.isRemote ? REMOTE_ANSWER_MS : ANSWER_MS,
      lookNs: Math.max(LEAST_LOOK_NS, settings.switchInterval / LOOKS_PER_POLL),
    };
  }

  private take(reading: WatchReading): void {
    if (reading.reading === 'state') this.devices.takeState(reading);
    else if (reading.reading === 'counters') this.devices.takeCounters(reading);
    else if (reading.reading === 'silent') this.devices.takeSilence(reading.node, reading.atNs);
    else if (reading.rounds > 0) {
      this.watchCost = { rounds: reading.rounds, cpuMsPerRound: reading.cpuMs / reading.rounds };
    }
  }

  private sinceStart(atNs: number): number {
    const { zeroNs } = this.options.clock;
    return zeroNs === undefined ? -Infinity : atNs - Number(zeroNs);
  }
}

/** A program that answers each line it reads with one line of what a command says. */
const answering = (command: string): string[] => [
  'sh',
  '-c',
  `while read -r line; do ${command}; echo; done`,
];

/** Announces links and routes as long as somebody holds its input: a session that ends leaves nothing behind. */
const MONITOR = ['ip', 'monitor', 'link', 'route'];
const HELD_MONITOR = ['sh', '-c', '"$@" & cat >/dev/null; kill $!', 'sh', ...MONITOR];
const SPEEDS = `for d in /sys/class/net/*; do
  read -r s 2>/dev/null < "$d/speed" && printf "%s %s;" "\${d##*/}" "$s"
done`;
/** Of FRR as it is packaged. */
const USUAL_SOCKETS = '/var/run/frr';

function watchedNode(node: LabNode, bfd: boolean, counted: boolean): WatchedNode {
  const { role, folder, dialect } = node;
  const place = node.place.lane('watch');
  const { isRemote } = place;
  const askBfd = (): WatchedNode['bfdd'] => {
    if (!bfd || role !== 'switch') return null;
    if (!isRemote) return join(folder, 'bfdd.vty');
    if (dialect.bfd === undefined) return null;
    const words = dialect.bfd.map((word) => filledIn(word, { sockets: folder || USUAL_SOCKETS }));
    return place.argv(answering(`${quoteCommand(words)} | tr -d '\\n'`));
  };
  return {
    role,
    ip: place.argv(['ip', '-s', '-s', '-j', '-batch', '-']),
    tc: dialect.counts === 'queues' ? place.argv(['tc', '-s', '-j', '-batch', '-']) : null,
    nft: counted ? place.argv(['nft', '-j', '-i']) : null,
    monitor: place.argv(isRemote ? HELD_MONITOR : MONITOR),
    countsPackets: dialect.counts !== 'none',
    bfdd: askBfd(),
    netstat: isRemote ? place.argv(answering("tr '\\n' '\\t' < /proc/net/netstat")) : null,
    speeds: isRemote && dialect.counts !== 'none' ? place.argv(answering(SPEEDS)) : null,
  };
}
