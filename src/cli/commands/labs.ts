/**
 * `fabrics up FILE` and `fabrics down NAME`: labs that a driver builds on this machine.
 *
 * The lab is built where the drill will run: on the server of FABRICDRILL_URL, or here, by this process and with its rights. Its definition is then stored under its
 * name, so that `--fabric NAME` finds it. A lab that is up and could not be stored stays up, and the error says so.
 */
import { fabricDriver, labBuilders } from '../../drivers/catalog.js';
import { listChoices, nearestHint } from '../../core/nearest.js';
import { EnvironmentError, InputError, messageOf } from '../../core/problem.js';
import { EXIT, type ExitCode } from '../../scoring/exit-codes.js';
import type { LabRemoval } from '../../fabric-api/lab-builder.js';
import { downOnServer, upOnServer } from '../client/labs.js';
import type { CommandContext } from '../context.js';
import { readFabricReference } from '../files/definitions.js';
import { endProcess } from './fabric-processes.js';

export async function labUp(file: string, context: CommandContext): Promise<ExitCode> {
  const reference = readFabricReference(file, context.path, '<file>');
  if ('stored' in reference) {
    throw InputError.at(
      '',
      `"${file}" is no path of a fabric file`,
      'a path has a slash in it or ends in .yaml',
    );
  }
  const { document } = reference;
  const { metadata, spec } = document.value;
  const { labs } = fabricDriver(spec.driver);
  if (labs === undefined) {
    const builders = labBuilders().map(({ driver }) => driver);
    throw new InputError(
      document.locate([
        {
          pointer: '/spec/driver',
          message: `the driver ${spec.driver} builds nothing; drivers that do are ${builders.join(', ')}`,
          hint: spec.driver === 'simulated' ? 'a simulated fabric needs no building: run it' : undefined,
        },
      ]),
    );
  }
  const begunMs = performance.now();
  const { name } = metadata;
  const progress = (step: string): void => context.note(`${name}: ${step}`);
  const isThere = context.config.serverUrl !== undefined;
  const lab = await located(document, () =>
    isThere
      ? context.withServer((client) => upOnServer(client, name, document.source, progress))
      : labs.up({ name, spec }, progress),
  );
  const tookS = ((performance.now() - begunMs) / 1000).toFixed(1);
  context.out(`lab ${lab.name} is up after ${tookS} s: ${lab.devices} devices, ${lab.links} links\n`);
  if (!isThere) await store(document.source, lab.name, context);
  context.note(
    `next: ${context.command(`run experiments/link-down.yaml --fabric ${lab.name} --confirm ${lab.name}`)}`,
  );
  return EXIT.passed;
}

async function store(source: unknown, name: string, context: CommandContext): Promise<void> {
  try {
    await context.withServer((client) =>
      client.json('PUT', `/v1/fabrics/${encodeURIComponent(name)}`, source),
    );
  } catch (error) {
    const why = messageOf(error);
    const hint = `name its file instead of "${name}", or ${context.command(`fabrics down ${name}`)}`;
    throw new EnvironmentError(
      `the lab "${name}" is up, but its definition could not be stored: ${why}`,
      hint,
      {
        cause: error,
      },
    );
  }
}

export async function labDown(name: string, context: CommandContext): Promise<ExitCode> {
  if (context.config.serverUrl !== undefined) {
    const removed = await context.withServer((client) => downOnServer(client, name));
    context.out(removed === null ? `paced simulation ${name}: it has ended\n` : goneLine(name, removed));
    return EXIT.passed;
  }
  for (const { labs } of labBuilders()) {
    const removed = await labs.down(name);
    if (removed === undefined) continue;
    context.out(goneLine(name, removed));
    return EXIT.passed;
  }
  if (await endProcess(name, context)) return EXIT.passed;
  const names = labBuilders().flatMap(({ labs }) => labs.names());
  throw InputError.at(
    '',
    `there is no lab "${name}" on this machine; ${names.length === 0 ? 'none is up' : `there is ${listChoices(names)}`}`,
    nearestHint(name, names),
  );
}

const goneLine = (name: string, { namespaces, processes }: LabRemoval): string =>
  `lab ${name} is gone: ${namespaces.length} namespaces, ${processes} processes\n`;

async function located<T>(
  document: { locate(issues: InputError['issues']): readonly InputError['issues'][number][] },
  step: () => Promise<T>,
): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw error instanceof InputError ? new InputError(document.locate(error.issues)) : error;
  }
}
