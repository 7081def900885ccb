/**
 * From a Fabric document to a lab that is up, with its jobs and who watches it.
 *
 * Opening never builds: a lab is built by `fabrics up` and removed by `fabrics down`, so that a drill finds the fabric as
 * its operators left it, damage included. What is up must be what the document says.
 */
import { join } from 'node:path';
import { listChoices } from '../../core/nearest.js';
import { EnvironmentError, InputError } from '../../core/problem.js';
import { contentDigest } from '../../system/digest.js';
import { buildJobs } from '../../model/workload/build-jobs.js';
import type { FabricDefinition } from '../../fabric-api/definition.js';
import type { LabBuilder } from '../../fabric-api/lab-builder.js';
import type { OrchestratorSpec, SlurmSettings } from '../../fabric-api/orchestrator-settings.js';
import { namedSetting, type ServerSettings } from '../../fabric-api/server-settings.js';
import { siteTransport } from '../../fabric-api/site-transport.js';
import type { TransportSettings } from '../../fabric-api/transport-settings.js';
import { Clock } from './clock.js';
import { LINUX_CAPABILITIES } from './controls/controls.js';
import { buildLab } from './lab/build.js';
import { claimLab, requireUnclaimed } from './lab/claim.js';
import { Lab } from './lab/lab.js';
import { LABS_FOLDER, lostNamespaces, readRecord } from './lab/record.js';
import { removeLab } from './lab/remove.js';
import { requireMachine, requireRemoval } from './lab/requirements.js';
import { LinuxFabric, type LinuxFabricParts } from './linux-fabric.js';
import { requireRunnable } from './job/runnable.js';
import { openSlurm, SLURM_CAPABILITIES, type OpenSlurm } from './slurm/open.js';
import { requireLogins } from './site/logins.js';
import { surveySite } from './site/open.js';
import { LabCollector } from './telemetry/collector.js';
import { LANES, SshPlace } from './transport/ssh-place.js';
import { requireUndoOutlivesUs } from './undo/container.js';
import { RemoteUndoTimers } from './undo/remote-timers.js';
import { UndoTimers } from './undo/timers.js';
import { LabWorkload } from './workload.js';

export const labs: Pick<LabBuilder, 'up' | 'down'> = {
  up: async (definition, progress) => {
    if (definition.spec.transport !== undefined) {
      const message = 'devices that are reached over SSH are there already; nothing is built for them';
      throw InputError.at(
        '/spec/transport',
        message,
        'run an experiment on it, or leave transport out for a lab',
      );
    }
    const lab = Lab.from(definition);
    new LabWorkload(lab, jobsOf(definition, lab), definition.spec);
    requireMachine();
    requireUndoOutlivesUs();
    const record = await buildLab(lab, digestOf(definition), progress);
    return {
      name: lab.name,
      devices: lab.nodes.length,
      links: lab.topology.links.length,
      since: record.createdAt,
    };
  },
  down: async (name) => {
    if (readRecord(name) === undefined) return undefined;
    requireRemoval();
    requireUnclaimed(join(LABS_FOLDER, name));
    return removeLab(name);
  },
};

/** What a definition asks for: a lab of this machine, or devices that are there already. */
export async function openLinux(
  definition: FabricDefinition,
  settings: ServerSettings,
): Promise<LinuxFabric> {
  const { transport, orchestrator } = definition.spec;
  const slurm = orchestrator === undefined ? undefined : slurmOf(orchestrator, settings);
  if (transport === undefined) return openLab(definition, Lab.from(definition), slurm);
  return openSite(definition, siteTransport(transport, settings), slurm);
}

/**
 * @param lab its devices, where they are told in another way than the definition says
 * @throws InputError with pointers into the Fabric document
 * @throws EnvironmentError when the machine can't, the lab is not up, or is up as another
 */
export async function openLab(
  definition: FabricDefinition,
  lab: Lab = Lab.from(definition),
  slurmSettings?: SlurmSettings,
): Promise<LinuxFabric> {
  const jobs = jobsOf(definition, lab);
  const clock = new Clock();
  requireRunnable(jobs, lab.topology);
  requireMachine();
  requireUndoOutlivesUs();
  requireUp(definition);
  const slurm = slurmSettings && (await openSlurm(slurmSettings, lab, jobs));
  const workload = new LabWorkload(lab, jobs, definition.spec, slurm?.orchestrator);
  const collector = new LabCollector({
    lab,
    jobs: workload.running,
    definitions: jobs,
    clock,
    settings: definition.spec.telemetry,
  });
  const undo = new UndoTimers(lab.undoFolder);
  const capabilities = withSlurm(LINUX_CAPABILITIES, slurm);
  const claim = (): (() => void) => claimLab(lab.folder);
  return new LinuxFabric({ lab, jobs, clock, workload, collector, undo, capabilities, claim });
}

/**
 * @throws InputError with pointers into the Fabric document
 * @throws EnvironmentError when a device can't be reached, or lacks what it needs
 */
async function openSite(
  definition: FabricDefinition,
  transport: TransportSettings,
  slurmSettings: SlurmSettings | undefined,
): Promise<LinuxFabric> {
  const lab = Lab.from(definition, transport);
  const { telemetry } = definition.spec;
  const jobs = jobsOf(definition, lab);
  const clock = new Clock();
  requireRunnable(jobs, lab.topology);
  requireLogins(transport);
  const { capabilities: own, withRules } = await surveySite(lab, jobs);
  const slurm = slurmSettings && (await openSlurm(slurmSettings, lab, jobs, transport));
  const capabilities = withSlurm(own, slurm);
  const workload = new LabWorkload(lab, jobs, definition.spec, slurm?.orchestrator);
  const collector = new LabCollector({
    lab,
    jobs: workload.running,
    definitions: jobs,
    clock,
    settings: telemetry,
    withRules,
  });
  const undo = new RemoteUndoTimers(`${transport.undoFolder}/${lab.name}`);
  const hangUp = (): void => {
    slurm?.hangUp();
    for (const { place } of lab.nodes) {
      if (place instanceof SshPlace) for (const lane of LANES) place.lane(lane).close();
    }
  };
  return new LinuxFabric({ lab, jobs, clock, workload, collector, undo, capabilities, hangUp });
}

const slurmOf = ({ slurm, ...spec }: OrchestratorSpec, settings: ServerSettings): SlurmSettings => ({
  ...spec,
  ...namedSetting(settings, 'slurm', slurm, '/spec/orchestrator/slurm'),
});

const jobsOf = ({ spec }: FabricDefinition, { topology }: Lab): ReturnType<typeof buildJobs> =>
  buildJobs(spec.jobs, topology, '/spec/jobs');

/** What Slurm does is the real thing, within what it can do. */
const withSlurm = (
  capabilities: LinuxFabricParts['capabilities'],
  slurm: OpenSlurm | undefined,
): LinuxFabricParts['capabilities'] =>
  slurm === undefined ? capabilities : new Map([...capabilities, ...SLURM_CAPABILITIES]);

/** Of what a lab is built from: jobs and telemetry may change without another build. */
const digestOf = ({ spec: { topology, settings, lab } }: FabricDefinition): string =>
  contentDigest({ topology, settings, lab: lab ?? null });

function requireUp(definition: FabricDefinition): void {
  const { name } = definition;
  const record = readRecord(name);
  if (record === undefined) {
    throw new EnvironmentError(`the lab "${name}" is not up`, 'fabrics up FILE builds it');
  }
  if (record.state !== 'up') {
    throw new EnvironmentError(
      `the lab "${name}" is half built or half removed`,
      `fabrics down ${name} clears it`,
    );
  }
  const anew = `fabrics down ${name}, then fabrics up FILE`;
  if (record.digest !== digestOf(definition)) {
    throw new EnvironmentError(`the lab "${name}" was built from another definition than this one`, anew);
  }
  const lost = lostNamespaces(record);
  if (lost.length === 0) return;
  throw new EnvironmentError(
    `the lab "${name}" is no longer whole: the network namespace ${listChoices(lost, 3)} is gone`,
    anew,
  );
}
