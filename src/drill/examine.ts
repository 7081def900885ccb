/**
 * The question without a drill: why is this fabric not at full speed? Nothing is injected, nothing is known.
 *
 * Either evidence is at hand (a file, a stored run), or a fabric is watched for a while. Topology and jobs come from a
 * Fabric document, as an operator has them. What was recorded on another fabric would be explained by wires that were
 * not there, so every element of the evidence must exist in the document.
 */
import type { FileHandle } from 'node:fs/promises';
import { diagnose, type Verdict } from '../diagnosis/index.js';
import type { FabricDocument } from '../documents/fabric-document.js';
import { fabricAsRecorded } from '../documents/stored.js';
import { openFabric } from '../drivers/catalog.js';
import { remembersTelemetry, runsWorkload } from '../fabric-api/fabric.js';
import { listChoices } from '../core/nearest.js';
import { InputError, withPointer } from '../core/problem.js';
import { formatDurationNs } from '../core/units.js';
import { METRICS, metricDefinition } from '../model/telemetry/catalog.js';
import type { Evidence } from '../model/telemetry/series.js';
import { windowOf } from '../model/telemetry/window.js';
import type { Topology } from '../model/topology/model.js';
import { buildTopology } from '../model/topology/topology-spec.js';
import { buildJobs } from '../model/workload/build-jobs.js';
import type { Job } from '../model/workload/job.js';
import { knownElements } from '../model/workload/known-elements.js';
import { pacerFor } from './pacer.js';

/** A stretch of the fabric's own clock, ns; an end that is left out is the evidence's own. */
export interface Window {
  fromNs?: number;
  toNs?: number;
}

/** @throws InputError with pointers into the Fabric document */
export function describeFabric(fabric: FabricDocument): { topology: Topology; jobs: Job[] } {
  const topology = withPointer('/spec/topology', () => buildTopology(fabric.spec.topology));
  return { topology, jobs: buildJobs(fabric.spec.jobs, topology, '/spec/jobs') };
}

/**
 * Diagnoses what was recorded.
 * @throws InputError when the evidence is of another fabric, has no known metric, or the window lies outside of it
 */
export function examineEvidence(fabric: FabricDocument, recorded: Evidence, window: Window = {}): Verdict {
  const { topology, jobs } = describeFabric(fabric);
  requireKnownMetrics(recorded);
  requireSameFabric(recorded, fabric.metadata.name, topology, jobs);
  return diagnose({ topology, jobs, evidence: windowIn(recorded, window) });
}

/**
 * Diagnoses an evidence file.
 * @param given the fabric it was recorded on; the one that came with the file when left out
 */
export async function examineFile(
  source: Uint8Array | FileHandle,
  given: FabricDocument | undefined,
  window: Window,
): Promise<Verdict> {
  // the reader of Arrow files takes a while to load
  const { decodeEvidenceFile } = await import('../evidence/arrow.js');
  const { evidence, fabric } = await decodeEvidenceFile(source);
  return examineEvidence(given ?? recordedFabric(fabric), evidence, window);
}

/** @throws InputError when nothing was recorded with the evidence */
export function recordedFabric(document: unknown): FabricDocument {
  if (document === undefined) {
    const hint = 'name a stored fabric in the parameter fabric';
    throw InputError.at('/fabric', 'the evidence does not say which fabric it is of', hint);
  }
  return fabricAsRecorded(document);
}

/**
 * Watches a fabric up to `toNs` of its clock and diagnoses the window. A fabric that has its own jobs plays them; any other
 * is looked at while they run.
 */
export async function examineFabric(
  document: FabricDocument,
  seed: number,
  window: Required<Window>,
  signal: AbortSignal = new AbortController().signal,
): Promise<Verdict> {
  requireOrder(window);
  requireJobs(document);
  const fabric = await openFabric(document, seed);
  try {
    if (runsWorkload(fabric)) await fabric.startJobs();
    await pacerFor(fabric).until(window.toNs, signal, () => undefined);
    signal.throwIfAborted();
    const { topology, jobs } = fabric.describe();
    const evidence = windowIn(await fabric.observe({ fromNs: 0, toNs: window.toNs }), window);
    return diagnose({ topology, jobs, evidence });
  } finally {
    await fabric.close();
  }
}

/**
 * Diagnoses what a fabric's own monitoring remembers of a stretch of wall-clock time; times in the verdict count from its
 * begin.
 * @throws InputError when the stretch is empty, or nobody remembers for this fabric
 */
export async function examinePast(document: FabricDocument, fromMs: number, toMs: number): Promise<Verdict> {
  requireJobs(document);
  if (fromMs >= toMs) throw InputError.at('/to', 'the window ends before it begins');
  const fabric = await openFabric(document, 0);
  try {
    if (!remembersTelemetry(fabric)) {
      const message = `the driver ${document.spec.driver} knows no telemetry by wall-clock time`;
      throw InputError.at('/from', message, 'write times on the fabric’s clock, as in 20s');
    }
    const { topology, jobs } = fabric.describe();
    return diagnose({ topology, jobs, evidence: await fabric.remember(fromMs, toMs) });
  } finally {
    await fabric.close();
  }
}

function requireJobs({ metadata, spec }: FabricDocument): void {
  if (spec.jobs.length > 0) return;
  const message = `the fabric "${metadata.name}" has no job, so nothing can be slow on it`;
  throw InputError.at('/spec/jobs', message, 'add jobs to the fabric');
}

function windowIn(evidence: Evidence, window: Window): Evidence {
  const { fromNs = evidence.fromNs, toNs = evidence.toNs } = window;
  if (window.fromNs !== undefined && window.toNs !== undefined) requireOrder({ fromNs, toNs });
  if (fromNs >= evidence.toNs || toNs <= evidence.fromNs) {
    const [start, end] = [evidence.fromNs, evidence.toNs].map(formatDurationNs);
    const pointer = fromNs >= evidence.toNs ? '/from' : '/to';
    throw InputError.at(pointer, `the evidence covers ${start} to ${end}, and nothing of this window`);
  }
  return windowOf(evidence, fromNs, toNs);
}

function requireOrder({ fromNs, toNs }: Required<Window>): void {
  if (fromNs < toNs) return;
  const [from, to] = [fromNs, toNs].map(formatDurationNs);
  throw InputError.at('/to', `the window ends at ${to}, not after it begins (${from})`);
}

function requireKnownMetrics(evidence: Evidence): void {
  if (evidence.series.some(({ metric }) => metricDefinition(metric) !== undefined)) return;
  const found = [...new Set(evidence.series.map(({ metric }) => metric))];
  const names = METRICS.map(({ name }) => name);
  throw InputError.at(
    '',
    found.length === 0
      ? 'the evidence is empty'
      : `the evidence has no metric that is known: ${listChoices(found, 3)}`,
    `known are ${listChoices(names, 6)}; docs/metrics.md has them all`,
  );
}

function requireSameFabric(evidence: Evidence, name: string, topology: Topology, jobs: readonly Job[]): void {
  const known = knownElements(topology, jobs);
  const seen = new Set(
    evidence.series.filter(({ metric }) => metricDefinition(metric)).map(({ element }) => element),
  );
  const foreign = [...seen].filter((element) => !known(element));
  if (foreign.length === 0) return;
  throw InputError.at(
    '',
    `${foreign.length} of the ${seen.size} elements in the evidence are not in the fabric "${name}": ${listChoices(foreign, 3)}`,
    'give the fabric that the evidence was recorded on, jobs included',
  );
}
