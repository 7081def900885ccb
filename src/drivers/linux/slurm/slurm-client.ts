/**
 * Slurm by its own commands, as argument vectors: nodes, jobs and their steps, reservations.
 *
 * Commands rather than REST: slurmrestd of 22.05 can neither change a node nor requeue a job. Answers are asked for in
 * formats that are made to be read by programs; names are checked before they are used, since Slurm reads brackets and
 * commas in them as lists. Sources: scontrol(1), squeue(1),
 * sinfo(1), sbatch(1), srun(1) of 22.05. Not modelled: arrays, heterogeneous jobs,
 * federations.
 */
import { InputError } from '../../../core/problem.js';
import { nearestHint } from '../../../core/nearest.js';
import { CommandError, type Place, type RunResult } from '../transport/place.js';

const COMMAND_MS = 30_000;
/** States of a job that is over; between its end and its queue a requeued one is in none that squeue lists unasked. */
const OVER =
  /^(BOOT_FAIL|CANCELLED|COMPLETED|DEADLINE|FAILED|NODE_FAIL|OUT_OF_MEMORY|PREEMPTED|REVOKED|TIMEOUT)$/;
const NAME = /^[A-Za-z0-9_.-]+$/;

export interface SlurmNode {
  name: string;
  /** As Slurm says it, in small letters: `idle`, `mixed`, `allocated`, `draining`, `drained`, `down*` … */
  state: string;
  drained: boolean;
  /** Of the drain; empty without one. */
  reason: string;
}

export interface SlurmJob {
  id: number;
  name: string;
  /** `RUNNING`, `PENDING`, `COMPLETING` … */
  state: string;
  /** Why it waits. */
  reason: string;
  nodes: string[];
  /** How often it was started again. */
  restarts: number;
  requeueable: boolean;
  /** Of whoever submitted it; empty without one. */
  comment: string;
}

/** What a job is submitted with; it gets whole nodes, one task on each. */
export interface Submission {
  name: string;
  comment: string;
  nodes: readonly string[];
  partition?: string;
  account?: string;
  /** What runs on the first node as long as the job does. */
  script: string;
}

export interface SlurmReservation {
  name: string;
  nodes: string[];
}

export class SlurmClient {
  /**
   * @param place where the commands run: a host that is set up for Slurm
   * @param configuration path of slurm.conf there; that of the host when left out
   */
  constructor(
    private readonly place: Pick<Place, 'run'>,
    private readonly configuration?: string,
  ) {}

  async nodes(): Promise<SlurmNode[]> {
    const text = await this.run(['sinfo', '--noheader', '--Node', '--format=%N|%T|%E']);
    const nodes = lines(text).map((line): SlurmNode => {
      const [name, state, ...reason] = line.split('|');
      const drained = /drain/i.test(state);
      return { name, state: state.toLowerCase(), drained, reason: drained ? reason.join('|') : '' };
    });
    // a node is told once for each partition it is in
    return [...new Map(nodes.map((node) => [node.name, node])).values()];
  }

  /** @throws InputError naming the nodes there are */
  async node(name: string): Promise<SlurmNode> {
    const nodes = await this.nodes();
    const found = nodes.find((node) => node.name === name);
    if (found !== undefined) return found;
    const names = nodes.map((node) => node.name);
    throw InputError.at('/device', `Slurm has no node "${name}"`, nearestHint(name, names));
  }

  /** What `scontrol ping` says of the controllers, one a line, up or down. */
  async ping(): Promise<string> {
    const command = ['scontrol', 'ping'];
    const result = await this.ask(command);
    // scontrol also says with its exit code that none is up
    if (result.stdout !== '') return result.stdout;
    throw refusal(command, result);
  }

  /** Who may change nodes: SlurmUser, and operators where there is accounting. */
  async administration(): Promise<{ slurmUser: string; hasAccounting: boolean }> {
    const text = await this.run(['scontrol', 'show', 'config']);
    const slurmUser = /^SlurmUser\s*=\s*([^\s(]+)/m.exec(text)?.[1] ?? 'root';
    return { slurmUser, hasAccounting: !/^AccountingStorageType\s*=\s*accounting_storage\/none/m.test(text) };
  }

  /** Numbers of the jobs of this name that are not over. */
  async idsOf(name: string): Promise<number[]> {
    const asked = ['squeue', '--noheader', '--states=all', `--name=${checked(name)}`, '--format=%i|%T'];
    return lines(await this.run(asked))
      .map((line) => line.split('|'))
      .filter(([, state]) => !OVER.test(state))
      .map(([id]) => Number(id));
  }

  /** @returns undefined when it is over, or Slurm has no such job */
  async job(id: number): Promise<SlurmJob | undefined> {
    const command = ['scontrol', 'show', 'job', String(id), '--oneliner'];
    const { stdout, stderr, code } = await this.ask(command);
    if (code !== 0 && /invalid job id/i.test(stderr)) return undefined;
    if (code !== 0) throw refusal(command, { stdout, stderr, code });
    const state = field(stdout, 'JobState');
    if (OVER.test(state)) return undefined;
    return {
      id,
      name: field(stdout, 'JobName'),
      state,
      reason: field(stdout, 'Reason'),
      nodes: await this.expand(field(stdout, 'NodeList')),
      restarts: Number(field(stdout, 'Restarts')),
      requeueable: field(stdout, 'Requeue') === '1',
      comment: field(stdout, 'Comment'),
    };
  }

  /** @returns its number */
  async submit(submission: Submission): Promise<number> {
    const command = [...submitCommand(submission), '--parsable'];
    return Number((await this.run(command, submission.script)).split(';')[0]);
  }

  /** Asks whether Slurm would take the job, now or later. @throws CommandError with why it would not */
  async wouldTake(submission: Submission): Promise<void> {
    await this.run([...submitCommand(submission), '--test-only'], submission.script);
  }

  async cancel(job: number): Promise<void> {
    await this.run(['scancel', String(job)]);
  }

  cancelCommand(job: number): string[] {
    return this.words(['scancel', String(job)]);
  }

  /** What starts one more program on a node of a running job, as that job's; its input and output are the program's. */
  stepCommand(job: number, node: string, command: readonly string[]): string[] {
    const size = ['--nodes=1', '--ntasks=1', `--nodelist=${checked(node)}`];
    const terms = [...size, '--overlap', '--mpi=none', '--cpu-bind=none', '--chdir=/', '--quiet'];
    return this.words(['srun', `--jobid=${job}`, ...terms, ...command]);
  }

  async drain(node: string, reason: string): Promise<void> {
    await this.run(['scontrol', 'update', `NodeName=${checked(node)}`, 'State=DRAIN', `Reason=${reason}`]);
  }

  async resume(node: string): Promise<void> {
    await this.run(['scontrol', 'update', `NodeName=${checked(node)}`, 'State=RESUME']);
  }

  /** What takes a drain back, for somebody who has no program of ours at hand. */
  resumeCommand(node: string): string[] {
    return this.words(['scontrol', 'update', `NodeName=${checked(node)}`, 'State=RESUME']);
  }

  /** Says the reason of a drain and nothing else. */
  reasonCommand(node: string): string[] {
    return this.words(['sinfo', '--noheader', `--nodes=${checked(node)}`, '--format=%E']);
  }

  unreserveCommand(name: string): string[] {
    return this.words(['scontrol', 'delete', `ReservationName=${checked(name)}`]);
  }

  /** The job's processes are told to end, are ended after KillWait, and it waits for nodes again. */
  async requeue(job: number): Promise<void> {
    await this.run(['scontrol', 'requeue', String(job)]);
  }

  /** A job that was submitted for certain nodes would wait for them for ever. Only while it waits. */
  async takeAnyNodes(job: number): Promise<void> {
    await this.run(['scontrol', 'update', `JobId=${job}`, 'ReqNodeList=']);
  }

  /** A requeued job may otherwise wait for two minutes, until its old credentials are void. */
  async startNow(job: number): Promise<void> {
    await this.run(['scontrol', 'update', `JobId=${job}`, 'StartTime=now']);
  }

  /** Keeps all new work off nodes; what runs there goes on. Ends by itself. */
  async reserve(name: string, nodes: readonly string[], minutes: number): Promise<void> {
    const there = (await this.reservations()).some((one) => one.name === name);
    const list = `Nodes=${nodes.map(checked).join(',')}`;
    if (there) {
      await this.run(['scontrol', 'update', `ReservationName=${checked(name)}`, list]);
      return;
    }
    const terms = ['StartTime=now', `Duration=${minutes}`, 'Users=root', 'Flags=IGNORE_JOBS'];
    await this.run(['scontrol', 'create', 'reservation', `ReservationName=${checked(name)}`, list, ...terms]);
  }

  async reservations(): Promise<SlurmReservation[]> {
    const text = await this.run(['scontrol', 'show', 'reservation', '--oneliner']);
    return Promise.all(
      lines(text)
        .filter((line) => line.startsWith('ReservationName='))
        .map(async (line) => ({
          name: field(line, 'ReservationName'),
          nodes: await this.expand(field(line, 'Nodes')),
        })),
    );
  }

  /** Idempotent. */
  async unreserve(name: string): Promise<void> {
    if (!(await this.reservations()).some((one) => one.name === name)) return;
    await this.run(['scontrol', 'delete', `ReservationName=${checked(name)}`]);
  }

  /** `h[2-3]` → h2, h3. */
  private async expand(list: string): Promise<string[]> {
    if (list === '' || list === '(null)') return [];
    if (NAME.test(list)) return [list];
    return lines(await this.run(['scontrol', 'show', 'hostnames', list]));
  }

  /** @throws CommandError with what Slurm said */
  private async run(command: readonly string[], input?: string): Promise<string> {
    const result = await this.ask(command, input);
    if (result.code === 0) return result.stdout;
    throw refusal(command, result);
  }

  private ask(command: readonly string[], input?: string): Promise<RunResult> {
    const options = { timeoutMs: COMMAND_MS, anyExit: true, ...(input === undefined ? {} : { input }) };
    return this.place.run(this.words(command), options);
  }

  private words(command: readonly string[]): string[] {
    const where = this.configuration === undefined ? [] : ['env', `SLURM_CONF=${this.configuration}`];
    return [...where, ...command];
  }
}

const refusal = (command: readonly string[], { stdout, stderr, code }: RunResult): CommandError =>
  new CommandError('Slurm', command, (stderr || stdout).trim() || `exit code ${code}`, code);

function submitCommand({ name, comment, nodes, partition, account }: Submission): string[] {
  return [
    ...['sbatch', `--job-name=${checked(name)}`, `--comment=${comment}`, '--requeue', '--exclusive'],
    ...[`--nodes=${nodes.length}`, `--ntasks=${nodes.length}`, '--ntasks-per-node=1'],
    `--nodelist=${nodes.map(checked).join(',')}`,
    ...(partition === undefined ? [] : [`--partition=${partition}`]),
    ...(account === undefined ? [] : [`--account=${account}`]),
    ...['--output=/dev/null', '--chdir=/'],
  ];
}

const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '');
const field = (line: string, name: string): string =>
  new RegExp(`(?:^| )${name}=(\\S*)`).exec(line)?.[1] ?? '';

function checked(name: string): string {
  if (NAME.test(name)) return name;
  throw InputError.at('', `"${name}" is no name of one node, job or reservation in Slurm`);
}
