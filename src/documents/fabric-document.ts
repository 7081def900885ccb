/**
 * The Fabric document: what a fabric file holds and what is stored under its name.
 *
 * A stored fabric must stand alone, so paths in it (an imported topology, a workload file) are replaced by what they
 * name while the file is loaded; `inlineFiles` does that and is the only place that reads other files.
 */
import { z } from 'zod';
import { InputError, toPointer } from '../core/problem.js';
import { fabricSpecSchema } from '../fabric-api/definition.js';
import { importTopology, TOPOLOGY_FORMATS, type TopologyFormat } from '../model/topology/importers/index.js';
import { API_VERSION, metadataSchema } from './experiment.js';
import { inlineProfile, type ReadText } from './scoring-profile.js';

export type { ReadText } from './scoring-profile.js';

export const fabricDocumentSchema = z
  .strictObject({
    apiVersion: z.literal(API_VERSION),
    kind: z.literal('Fabric'),
    metadata: metadataSchema,
    spec: fabricSpecSchema,
  })
  .meta({ title: 'Fabric', description: 'a fabric under test: topology, settings, jobs, telemetry' });
export type FabricDocument = z.output<typeof fabricDocumentSchema>;

/** For documents that arrive over the network: a path in them would be a path on the server. */
export const refuseFiles: ReadText = (path) => {
  throw InputError.at(
    '',
    `"${path}" is a path, and a server reads no files for its callers`,
    'use the command line, which sends the content along',
  );
};

/**
 * A copy of a plain document with every file it names put in its place.
 * @throws InputError with the pointer of the path that can't be read or whose content can't be used
 */
export function inlineFiles(value: unknown, readText: ReadText): unknown {
  if (!isRecord(value) || !isRecord(value.spec)) return value;
  const spec: Record<string, unknown> = { ...value.spec };
  if (isRecord(spec.topology) && spec.topology.builder === 'import') {
    spec.topology = inlineTopology(spec.topology, readText);
  }
  if (Array.isArray(spec.jobs)) {
    spec.jobs = spec.jobs.map((job: unknown, index) =>
      isRecord(job) && typeof job.workloadFile === 'string' ? inlineWorkload(job, index, readText) : job,
    );
  }
  if (isRecord(spec.scoring) && typeof spec.scoring.profile === 'string') {
    spec.scoring = inlineProfile(spec.scoring, readText);
  }
  return { ...value, spec };
}

function inlineTopology(topology: Record<string, unknown>, readText: ReadText): unknown {
  const { file, format } = topology;
  const formats = TOPOLOGY_FORMATS.join(' or ');
  if (typeof file !== 'string') {
    throw InputError.at('/spec/topology/file', 'an imported topology needs the path of its file');
  }
  if (!TOPOLOGY_FORMATS.includes(format as TopologyFormat)) {
    throw InputError.at('/spec/topology/format', `the format of an imported topology is ${formats}`);
  }
  const text = at(['spec', 'topology', 'file'], () => readText(file));
  return at(['spec', 'topology', 'file'], () => importTopology(text, format as TopologyFormat, file).spec);
}

function inlineWorkload(job: Record<string, unknown>, index: number, readText: ReadText): unknown {
  const { workloadFile, ...rest } = job;
  const file = workloadFile as string;
  const text = at(['spec', 'jobs', index, 'workloadFile'], () => readText(file));
  return { ...rest, workload: { text, file } };
}

/** Points the issues of a step at a place in the document; a file and line of their own stay. */
function at<T>(path: readonly PropertyKey[], step: () => T): T {
  try {
    return step();
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new InputError(error.issues.map((issue) => ({ ...issue, pointer: toPointer(path) })));
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
