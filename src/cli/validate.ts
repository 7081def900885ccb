/**
 * `validate FILE…` and `plan FILE`: what is wrong with it, and what it would do. Nothing is written or injected.
 */
import type { Command } from 'commander';
import { planExperiment } from '../experiments/planning.js';
import { loadFabric, type Loaded } from '../experiments/definition/load.js';
import { refuseFiles, type FabricDocument } from '../experiments/definition/fabric-document.js';
import { planView, type Plan } from '../drill/plan.js';
import { InputError, withPointer, type InputIssue } from '../kernel/problem.js';
import { formatDurationNs } from '../kernel/units.js';
import { impairedElement } from '../fabrics/contract/impairment.js';
import { EXIT, type ExitCode } from '../scoring/exit-codes.js';
import { buildTopology } from '../topology/topology-spec.js';
import { buildJobs } from '../workload/build-jobs.js';
import type { CommandContext } from './context.js';
import { readDefinitions, readExperiment, resolveFabric, type FabricReference } from './definitions.js';
import { parseSeed } from './seed.js';

type Act = (work: (context: CommandContext) => Promise<ExitCode>) => Promise<void>;

export function addValidateCommand(program: Command, act: Act): void {
  program
    .command('validate')
    .argument('<file...>', 'experiment and fabric files')
    .description('check files; reports every mistake with line and hint')
    .action((files: string[]) => act((context) => validate(files, context)));
}

export function addPlanCommand(program: Command, act: Act): void {
  program
    .command('plan')
    .argument('<file>', 'experiment file, or file#name')
    .description('resolved targets, blast radius, undo steps; writes nothing')
    .option('--fabric <ref>', 'plan for another fabric')
    .option('--seed <n>', 'another seed')
    .option('--output <format>', 'text or json', 'text')
    .action((file: string, options: { fabric?: string; seed?: string; output: string }) =>
      act((context) => plan(file, options, context)),
    );
}

function validate(files: readonly string[], context: CommandContext): Promise<ExitCode> {
  const issues: InputIssue[] = [];
  for (const file of files) {
    try {
      const { experiments, fabrics } = readDefinitions(context.path(file), file);
      for (const fabric of fabrics) checkFabric(fabric);
      const found = [
        ...experiments.map(({ value }) => `Experiment ${value.metadata.name}`),
        ...fabrics.map(({ value }) => `Fabric ${value.metadata.name}`),
      ];
      context.out(`ok  ${file}: ${found.join(', ')}\n`);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      issues.push(...error.issues);
    }
  }
  if (issues.length > 0) return Promise.reject(new InputError(issues));
  return Promise.resolve(EXIT.passed);
}

function checkFabric(fabric: Loaded<FabricDocument>): void {
  try {
    const { topology, jobs } = fabric.value.spec;
    const built = withPointer('/spec/topology', () => buildTopology(topology));
    buildJobs(jobs, built, '/spec/jobs');
  } catch (error) {
    throw error instanceof InputError ? new InputError(fabric.locate(error.issues)) : error;
  }
}

async function plan(
  file: string,
  options: { fabric?: string; seed?: string; output: string },
  context: CommandContext,
): Promise<ExitCode> {
  if (options.output !== 'text' && options.output !== 'json') {
    throw InputError.at('--output', `"${options.output}" is no format of a plan; there are text, json`);
  }
  const seed = parseSeed(options.seed);
  const source = readExperiment(file, context.path);
  const fabric = await fabricDocument(resolveFabric(source, options.fabric, context.path), context);
  try {
    const made = await planExperiment({
      experiment: source.experiment.value,
      fabric,
      ...(seed === undefined ? {} : { seed }),
    });
    context.out(
      options.output === 'json' ? `${JSON.stringify(planView(made), null, 2)}\n` : renderPlan(made),
    );
    if (made.unsupported.length > 0) context.note('a run of this plan would be refused');
    return made.unsupported.length > 0 ? EXIT.inconclusive : EXIT.passed;
  } catch (error) {
    throw error instanceof InputError ? new InputError(source.experiment.locate(error.issues)) : error;
  }
}

/** A stored fabric is fetched; a document is at hand. */
async function fabricDocument(reference: FabricReference, context: CommandContext): Promise<FabricDocument> {
  if ('document' in reference) return reference.document.value;
  return context.withServer(async (client) => {
    const path = `/v1/fabrics/${encodeURIComponent(reference.stored)}`;
    const { definition } = await client.json<{ definition: unknown }>('GET', path);
    return loadFabric(definition, refuseFiles).value;
  });
}

export function renderPlan(plan: Plan): string {
  const jobs = (names: string[] | null): string =>
    names === null ? 'not known' : names.join(', ') || 'none';
  const lines = [
    `${plan.experiment} on ${plan.fabric} (${plan.driver}), seed ${plan.seed}, ${formatDurationNs(plan.durationNs)}`,
    '',
  ];
  for (const fault of plan.faults) {
    lines.push(`${fault.name}: ${fault.kind} ${JSON.stringify(fault.parameters)}`);
    lines.push(`  targets    ${fault.targets.map((target) => target.id).join(', ')}`);
    for (const one of fault.impairments) {
      lines.push(
        `  ${formatDurationNs(one.atNs)} to ${formatDurationNs(one.untilNs)}: ${one.impairment.type} on ${impairedElement(one.impairment)}`,
      );
    }
  }
  const { links, devices, exposedJobs, bystanderJobs } = plan.blastRadius;
  lines.push('', `blast radius: ${links.length} links, ${devices.length} devices`);
  lines.push(`  exposed jobs    ${jobs(exposedJobs)}`, `  bystander jobs  ${jobs(bystanderJobs)}`);
  for (const { fault, impairment, supported } of plan.unsupported) {
    lines.push(
      '',
      `NOT POSSIBLE here: ${fault} needs ${impairment}; this fabric can apply ${supported.join(', ')}`,
    );
  }
  lines.push('', 'undo', ...plan.undo.map((step) => `  ${step}`));
  return `${lines.join('\n')}\n`;
}
