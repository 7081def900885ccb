/**
 * Who gives jobs their hosts, where that is not the lab itself: the `orchestrator` part of a Fabric document of the driver
 * linux.
 *
 * With it the fabric's own jobs are jobs of a Slurm that is there already: it is asked for the hosts of the file, starts and
 * ends the ranks, and is told to drain and requeue. Where it is stands in the server's settings, which the document names.
 * What becomes a word of a command line takes plain characters only.
 * Sources: sbatch(1), scontrol(1) of 22.05. Not modelled: several clusters, jobs that somebody else has submitted.
 */
import { z } from 'zod';
import { durationNs } from '../core/units.js';
import { settingName, type SlurmServer } from './server-settings.js';

/** Slurm reads brackets and commas in a name as a list. */
const slurmName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/, 'must be a name of letters, digits and _ . -');

export const orchestratorSchema = z.strictObject({
  slurm: settingName.describe(
    'entry `slurm` of the server’s settings: jobs are submitted there, drained and requeued',
  ),
  nodes: z
    .record(z.string(), slurmName)
    .default({})
    .describe('host of the topology to node of Slurm; those left out bear the same name'),
  partition: slurmName.optional().describe('Slurm’s default when left out'),
  account: slurmName.optional().describe('that the jobs are charged to'),
  startWithin: durationNs
    .refine((ns) => ns >= 1e9, 'must be 1s or more')
    .prefault('60s')
    .describe('longest that a job may wait for its nodes before the drill is given up'),
});

export type OrchestratorSpec = z.output<typeof orchestratorSchema>;

/** A document's orchestrator with what the server's settings say of it. */
export type SlurmSettings = Omit<OrchestratorSpec, 'slurm'> & SlurmServer;
