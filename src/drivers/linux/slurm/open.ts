/**
 * Opens the Slurm that a fabric file names: asks, before a drill is planned, whether it is there and would run the jobs.
 *
 * All that can be known without a change is asked for: the programs, the controller, the nodes of all hosts, whether this
 * account may drain, and whether each job would be taken as it stands (`sbatch --test-only`). Nothing is changed.
 */
import { listChoices, nearestHint } from '../../../core/nearest.js';
import { EnvironmentError, InputError, pointerToken, type InputIssue } from '../../../core/problem.js';
import type { Job } from '../../../model/workload/job.js';
import type { SlurmSettings } from '../../../fabric-api/orchestrator-settings.js';
import type { TransportSettings } from '../../../fabric-api/transport-settings.js';
import type { ImpairmentType } from '../../../fabric-api/impairment.js';
import type { Orchestrator, ScheduledJobs } from '../job/orchestrator.js';
import type { Lab } from '../lab/lab.js';
import { loginPlace } from '../site/reach.js';
import { CommandError, LocalPlace, type Place } from '../transport/place.js';
import { SshPlace } from '../transport/ssh-place.js';
import { SlurmClient, type SlurmNode } from './slurm-client.js';
import { nodeName, SlurmOrchestrator } from './slurm-orchestrator.js';

const POINTER = '/spec/orchestrator';
const PROGRAMS = ['scontrol', 'sinfo', 'squeue', 'sbatch', 'srun', 'scancel'];
/** Programs as arguments after the configuration; says which are missing, and whether the configuration is. */
const PROBE =
  '[ -z "$1" ] || [ -r "$1" ] || echo unreadable; shift; for p in "$@"; do command -v "$p" >/dev/null || echo "$p"; done';
const UNUSABLE = /down|fail|unknown|not_responding|\*$/;

export const SLURM_CAPABILITIES: readonly (readonly [ImpairmentType, string])[] = [
  ['host-drain', ''],
  ['job-move', 'Slurm requeues the whole job; planned moves only, of the fabric’s own jobs'],
];

export interface OpenSlurm {
  orchestrator: (jobs: ScheduledJobs) => Orchestrator;
  hangUp: () => void;
}

/**
 * @param transport of a site, whose login host is reached as its devices are
 * @throws InputError for hosts, jobs and names that Slurm does not know, or jobs that it could not run
 * @throws EnvironmentError when it can't be reached, or would not let this account drain
 */
export async function openSlurm(
  settings: SlurmSettings,
  lab: Lab,
  jobs: readonly Job[],
  transport?: TransportSettings,
): Promise<OpenSlurm> {
  checkFile(settings, lab, jobs, transport !== undefined);
  const login =
    settings.login === undefined || transport === undefined
      ? new LocalPlace()
      : loginPlace(transport, settings.login);
  const client = new SlurmClient(login, settings.configuration);
  await requirePrograms(login, settings);
  try {
    await requireController(client);
    const nodes = await client.nodes();
    checkNodes(nodes, settings, lab, jobs);
    await requireOperator(client, login);
  } catch (error) {
    throw asEnvironmentError(error);
  }
  const parts = { lab, jobs, settings, client, login };
  await checkJobs(parts, jobs);
  return {
    orchestrator: (running) => new SlurmOrchestrator(parts, running),
    hangUp: () => {
      if (login instanceof SshPlace) login.close();
    },
  };
}

/** What can be told wrong by the file alone. */
function checkFile(settings: SlurmSettings, lab: Lab, jobs: readonly Job[], hasTransport: boolean): void {
  const hosts = lab.hosts.map(({ name }) => name);
  const issues: InputIssue[] = Object.keys(settings.nodes)
    .filter((name) => !hosts.includes(name))
    .map((name) => ({
      pointer: `${POINTER}/nodes/${pointerToken(name)}`,
      message: `the topology has no host "${name}"`,
      hint: nearestHint(name, hosts),
    }));
  if (settings.login !== undefined && !hasTransport) {
    issues.push({
      pointer: `${POINTER}/slurm`,
      message:
        'the Slurm of a lab is on this machine; a login host is reached as the devices of a transport are',
      hint: 'name an entry of the server’s settings without login',
    });
  }
  const taken = new Map<number, string>();
  jobs.forEach((job, index) => {
    for (const gpu of job.placement) {
      const { host } = lab.topology.gpus[gpu];
      const other = taken.get(host);
      if (other !== undefined && other !== job.name) {
        const name = lab.topology.devices[host].name;
        issues.push({
          pointer: `/spec/jobs/${index}`,
          message: `Slurm gives a node to one job; ${name} would run both "${other}" and "${job.name}"`,
          hint: 'give each job hosts of its own',
        });
        return;
      }
      taken.set(host, job.name);
    }
  });
  if (issues.length > 0) throw new InputError(issues);
}

async function requirePrograms(login: Place, { configuration = '' }: SlurmSettings): Promise<void> {
  const where = login.isRemote ? login.name : 'this machine';
  let lines: string[];
  try {
    const { stdout } = await login.run(['sh', '-c', PROBE, 'sh', configuration, ...PROGRAMS]);
    lines = stdout.split('\n').filter((line) => line !== '');
  } catch (error) {
    throw asEnvironmentError(error);
  }
  const missing = lines.filter((line) => line !== 'unreadable');
  if (missing.length > 0) {
    throw new EnvironmentError(
      `${where} has no ${missing.join(', ')}, by which Slurm is told`,
      'apt-get install -y --no-install-recommends slurm-client, or give the slurm entry of the server’s settings a login',
    );
  }
  if (lines.length === 0) return;
  throw InputError.at(
    `${POINTER}/slurm`,
    `there is no readable file ${configuration} on ${where}`,
    'correct configuration in the server’s settings (FABRICDRILL_CONFIG), or leave it out for the usual one',
  );
}

async function requireController(client: SlurmClient): Promise<void> {
  const said = await client.ping();
  if (/ is UP/.test(said)) return;
  throw new EnvironmentError(
    `no controller of Slurm answers: ${said.split('\n')[0]}`,
    'systemctl status slurmctld on its host',
  );
}

function checkNodes(
  nodes: readonly SlurmNode[],
  settings: SlurmSettings,
  lab: Lab,
  jobs: readonly Job[],
): void {
  const names = nodes.map(({ name }) => name);
  const unknown = lab.hosts.filter(({ name }) => !names.includes(nodeName(settings, name)));
  if (unknown.length > 0) {
    throw new InputError(
      unknown.map(({ name }) => ({
        pointer: `${POINTER}/nodes/${pointerToken(name)}`,
        message: `Slurm has no node "${nodeName(settings, name)}" for ${name}; its nodes are ${listChoices(names, 8)}`,
        hint: nearestHint(nodeName(settings, name), names) ?? `write nodes: { ${name}: NODE }`,
      })),
    );
  }
  const doubled = lab.hosts.find(({ name }, index) =>
    lab.hosts.slice(0, index).some((other) => nodeName(settings, other.name) === nodeName(settings, name)),
  );
  if (doubled !== undefined) {
    const node = nodeName(settings, doubled.name);
    const pointer = `${POINTER}/nodes/${pointerToken(doubled.name)}`;
    throw InputError.at(pointer, `the node ${node} is of two hosts`, 'each host is a node of its own');
  }
  const used = new Set(
    jobs.flatMap(({ placement }) => Array.from(placement, (gpu) => lab.topology.gpus[gpu].host)),
  );
  const unusable = lab.hosts.flatMap(({ name, device }) => {
    const node = nodes.find((one) => one.name === nodeName(settings, name))!;
    return used.has(device) && (node.drained || UNUSABLE.test(node.state))
      ? [`${node.name} is ${node.state}`]
      : [];
  });
  if (unusable.length === 0) return;
  const hint = 'bring them back (scontrol update NodeName=… State=RESUME), or give the jobs other hosts';
  throw new EnvironmentError(`nodes of the jobs take none now: ${listChoices(unusable, 4)}`, hint);
}

/** Whoever has accounting may have operators that can't be told from here; without it there are only these two. */
async function requireOperator(client: SlurmClient, login: Place): Promise<void> {
  const account = (await login.run(['id', '-un'])).stdout.trim();
  const { slurmUser, hasAccounting } = await client.administration();
  if (account === 'root' || account === slurmUser || hasAccounting) return;
  throw new EnvironmentError(
    `the account ${account} may not drain nodes of this Slurm; ${slurmUser} may`,
    'run as that account, or give its user to the login of the server’s settings',
  );
}

async function checkJobs(
  parts: ConstructorParameters<typeof SlurmOrchestrator>[0],
  jobs: readonly Job[],
): Promise<void> {
  const nobody = {} as ScheduledJobs;
  const asked = new SlurmOrchestrator(parts, nobody);
  const issues: InputIssue[] = [];
  for (const [index, { name }] of jobs.entries()) {
    try {
      await asked.wouldTake(index);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      const hint = 'partition and account are those of orchestrator; each rank takes a whole node';
      issues.push({
        pointer: `/spec/jobs/${index}`,
        message: `Slurm would not take the job "${name}": ${error.why}`,
        hint,
      });
    }
  }
  if (issues.length > 0) throw new InputError(issues);
}

function asEnvironmentError(error: unknown): unknown {
  if (!(error instanceof CommandError)) return error;
  return new EnvironmentError(
    `Slurm can't be asked: ${error.message}`,
    'scontrol ping tells whether its controller is up',
    { cause: error },
  );
}
