/**
 * A real Slurm for a suite: munge, a controller and some nodes as daemons of this machine, on loopback and free ports.
 *
 * Each daemon runs in the foreground as a child, so that its pid is known and nothing else is ever ended.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const FOUR = ['h1', 'h2', 'h3', 'h4'];
const READY_MS = 20_000;

export interface Slurm {
  folder: string;
  environment: { SLURM_CONF: string };
  stop(): Promise<void>;
}

/** @returns undefined where a Slurm can be started */
export function whyNoSlurm(): string | undefined {
  if (process.getuid?.() !== 0) return 'it takes root';
  for (const program of ['munged', 'slurmctld', 'slurmd', 'scontrol']) {
    if (spawnSync(program, ['--version'], { stdio: 'ignore' }).error !== undefined) {
      return `there is no program ${program} (packages slurmctld slurmd slurm-client munge)`;
    }
  }
  return undefined;
}

export async function startSlurm(nodes: readonly string[] = FOUR): Promise<Slurm> {
  const folder = mkdtempSync(join(tmpdir(), 'fabricdrill-slurm-'));
  const environment = { SLURM_CONF: join(folder, 'slurm.conf') };
  const children: ChildProcess[] = [];
  const start = (program: string, ...args: string[]): void => {
    children.push(spawn(program, args, { stdio: 'ignore', env: { ...process.env, ...environment } }));
  };
  const stop = async (): Promise<void> => {
    await withoutJobs({ ...process.env, ...environment });
    for (const child of children.reverse()) await ended(child);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await writeConfiguration(folder, nodes);
    const munge = (name: string): string => join(folder, 'munge', name);
    const files = ['key-file=key', 'socket=socket', 'pid-file=pid', 'log-file=log', 'seed-file=seed'];
    start(
      'munged',
      '--foreground',
      '--force',
      ...files.map((file) => `--${file.replace(/=(.*)/, `=${munge('$1')}`)}`),
    );
    for (let waited = 0; waited < READY_MS && !existsSync(munge('socket')); waited += 50) await sleep(50);
    start('slurmctld', '-D', '-c', '-f', environment.SLURM_CONF);
    for (const node of nodes) start('slurmd', '-D', '-f', environment.SLURM_CONF, '-N', node);
    await untilIdle(environment, nodes.length);
  } catch (error) {
    await stop();
    throw error;
  }
  return { folder, environment, stop };
}

/** A job's processes outlive the daemons that started them. */
async function withoutJobs(env: NodeJS.ProcessEnv): Promise<void> {
  spawnSync('scancel', ['--user=root'], { stdio: 'ignore', timeout: 5000, env });
  for (let waited = 0; waited < 8000; waited += 200) {
    const { stdout } = spawnSync('squeue', ['--noheader'], { encoding: 'utf8', timeout: 5000, env });
    if ((stdout ?? '').trim() === '') return;
    await sleep(200);
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), 3000);
    child.once('exit', () => {
      clearTimeout(timer);
      resolve();
    });
    child.kill('SIGTERM');
  });
}

async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

async function writeConfiguration(folder: string, names: readonly string[]): Promise<void> {
  for (const name of ['state', 'log', 'munge', ...names.map((node) => `spool/${node}`)]) {
    mkdirSync(join(folder, name), { recursive: true });
  }
  writeFileSync(join(folder, 'munge/key'), randomBytes(1024), { mode: 0o400 });
  writeFileSync(join(folder, 'cgroup.conf'), 'CgroupPlugin=cgroup/v1\n');
  const [controller, ...ports] = await freePorts(names.length + 1);
  const host = hostname().split('.')[0];
  const nodes = names.map(
    (node, at) =>
      `NodeName=${node} NodeHostname=${host} NodeAddr=127.0.0.1 Port=${ports[at]} CPUs=2 RealMemory=500 State=UNKNOWN`,
  );
  const settings = [
    'ClusterName=fabricdrill',
    `SlurmctldHost=${host}(127.0.0.1)`,
    'SlurmUser=root',
    'SlurmdUser=root',
    `SlurmctldPort=${controller}`,
    'AuthType=auth/munge',
    `AuthInfo=socket=${folder}/munge/socket`,
    'CredType=cred/munge',
    `StateSaveLocation=${folder}/state`,
    `SlurmdSpoolDir=${folder}/spool/%n`,
    `SlurmctldPidFile=${folder}/slurmctld.pid`,
    `SlurmdPidFile=${folder}/slurmd-%n.pid`,
    `SlurmctldLogFile=${folder}/log/slurmctld`,
    `SlurmdLogFile=${folder}/log/slurmd-%n`,
    'ProctrackType=proctrack/linuxproc',
    'TaskPlugin=task/none',
    'JobAcctGatherType=jobacct_gather/none',
    'MpiDefault=none',
    'SelectType=select/cons_tres',
    'SelectTypeParameters=CR_Core',
    'SlurmdParameters=config_overrides',
    'ReturnToService=2',
    'SchedulerParameters=sched_interval=2,batch_sched_delay=0',
    'AccountingStorageType=accounting_storage/none',
    'JobCompType=jobcomp/none',
    // what a job has for its checkpoint; one that ends sooner waits for nothing
    'KillWait=30',
    ...nodes,
    `PartitionName=main Nodes=${names.join(',')} Default=YES MaxTime=60 State=UP`,
  ];
  writeFileSync(join(folder, 'slurm.conf'), `${settings.join('\n')}\n`);
}

async function untilIdle(environment: { SLURM_CONF: string }, nodes: number): Promise<void> {
  const env = { ...process.env, ...environment };
  for (let waited = 0; waited < READY_MS; waited += 200) {
    const { stdout } = spawnSync('sinfo', ['--noheader', '--Node', '--format=%T'], { encoding: 'utf8', env });
    if (stdout.split('\n').filter((state) => state === 'idle').length === nodes) return;
    await sleep(200);
  }
  throw new Error(`the nodes of Slurm are not idle after ${READY_MS} ms`);
}
