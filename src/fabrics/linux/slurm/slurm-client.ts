/**
 * Slurm by its own commands, as argument vectors: nodes, jobs, reservations.
 *
 * Commands rather than REST: slurmrestd of 22.05 can neither change a node nor requeue a job. Answers are asked for in
 * formats that are made to be read by programs; names are checked before they are used, since Slurm reads brackets and
 * commas in them as lists. Sources: scontrol(1), squeue(1), sinfo(1) of 22.05. Not modelled: arrays, heterogeneous jobs,
 * federations.
 */
import { InputError } from '../../../kernel/problem.js';
import { nearestHint } from '../../../kernel/nearest.js';
import { CommandError, type Place } from '../transport/place.js';

const COMMAND_MS = 10_000;
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

  /** Jobs of this name that are not over, the oldest first. */
  async jobs(name: string): Promise<SlurmJob[]> {
    const asked = [
      'squeue',
      '--noheader',
      '--states=all',
      `--name=${checked(name)}`,
      '--format=%i|%j|%T|%r|%N',
    ];
    const jobs = lines(await this.run(asked))
      .map((line) => line.split('|'))
      .filter(([, , state]) => !OVER.test(state));
    return Promise.all(
      jobs.map(async ([id, jobName, state, reason, nodes]): Promise<SlurmJob> => {
        return { id: Number(id), name: jobName, state, reason, nodes: await this.expand(nodes) };
      }),
    );
  }

  async drain(node: string, reason: string): Promise<void> {
    await this.run(['scontrol', 'update', `NodeName=${checked(node)}`, 'State=DRAIN', `Reason=${reason}`]);
  }

  async resume(node: string): Promise<void> {
    await this.run(this.resumeCommand(node));
  }

  /** What takes a drain back, for somebody who has no program of ours at hand. */
  resumeCommand(node: string): string[] {
    return ['scontrol', 'update', `NodeName=${checked(node)}`, 'State=RESUME'];
  }

  /** The job's processes are told to end, are ended after KillWait, and it waits for nodes again. */
  async requeue(job: number): Promise<void> {
    await this.run(['scontrol', 'requeue', String(job)]);
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
  private async run(command: readonly string[]): Promise<string> {
    const where = this.configuration === undefined ? [] : ['env', `SLURM_CONF=${this.configuration}`];
    const { stdout, stderr, code } = await this.place.run([...where, ...command], {
      timeoutMs: COMMAND_MS,
      anyExit: true,
    });
    if (code === 0) return stdout;
    throw new CommandError('Slurm', command, (stderr || stdout).trim() || `exit code ${code}`, code);
  }
}

const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '');
const field = (line: string, name: string): string =>
  new RegExp(`(?:^| )${name}=(\\S*)`).exec(line)?.[1] ?? '';

function checked(name: string): string {
  if (NAME.test(name)) return name;
  throw InputError.at('', `"${name}" is no name of one node, job or reservation in Slurm`);
}
