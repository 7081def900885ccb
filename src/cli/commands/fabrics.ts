/** `fabrics list|show|import|up|down`. */
import type { Command } from 'commander';
import { labBuilders } from '../../drivers/catalog.js';
import { importedFabric } from '../../documents/imported-fabric.js';
import { InputError } from '../../core/problem.js';
import { EXIT, type ExitCode } from '../../scoring/exit-codes.js';
import { TOPOLOGY_FORMATS } from '../../model/topology/importers/index.js';
import type { CommandContext } from '../context.js';
import { labDown, labUp } from './labs.js';
import { listProcesses, noteProcesses, processLog } from './fabric-processes.js';
import { ProblemError } from '../terminal/failure.js';
import { parseChoice } from '../terminal/flags.js';
import { examples } from '../terminal/help.js';
import { table } from '../terminal/table.js';
import { readTextFile } from '../files/text-file.js';

type Act = (work: (context: CommandContext) => Promise<ExitCode>) => Promise<void>;

interface FabricView {
  name: string;
  driver: string;
  summary: Record<string, unknown>;
  updatedAt: string;
}

interface ImportOptions {
  format: string;
  name: string;
  replace?: boolean;
}

export function addFabricsCommand(fabrics: Command, act: Act): void {
  fabrics
    .command('list')
    .description('stored fabrics, newest first')
    .option('--output <format>', 'text or json', 'text')
    .action((options: { output: string }) => act((context) => list(options, context)));
  fabrics
    .command('show')
    .argument('<name>', 'name of a stored fabric')
    .description('one fabric with its definition, as JSON')
    .action((name: string) => act((context) => show(name, context)));
  fabrics
    .command('import')
    .argument('<file>', 'topology file of another simulator')
    .description('store another simulator’s topology as a fabric without jobs; an experiment brings its own')
    .requiredOption('--format <format>', TOPOLOGY_FORMATS.join(' or '))
    .requiredOption('--name <name>', 'name of the stored fabric')
    .option('--replace', 'replace a stored fabric of this name')
    .addHelpText(
      'after',
      examples([
        'fabrics import fat.topology.txt --format ns3 --name fat-tree',
        'fabrics import Spectrum-X.topology.txt --format simai --name spectrum',
        'run experiments/link-down.yaml --fabric spectrum',
      ]),
    )
    .action((file: string, options: ImportOptions) => act((context) => importFabric(file, options, context)));
  addLabCommands(fabrics, act);
  addProcessCommands(fabrics, act);
}

function addLabCommands(fabrics: Command, act: Act): void {
  const drivers = labBuilders().map(({ driver }) => driver);
  fabrics
    .command('up')
    .argument('<file>', 'fabric file, or file#name')
    .description(
      `build the lab that the file describes, on the server of FABRICDRILL_URL or else here, and store it (driver ${drivers.join(', ')})`,
    )
    .addHelpText(
      'after',
      examples([
        'fabrics up experiments/fabrics/linux-lab.yaml',
        'run experiments/link-down.yaml --fabric linux-lab --confirm linux-lab',
        'fabrics down linux-lab',
      ]),
    )
    .action((file: string) => act((context) => labUp(file, context)));
  fabrics
    .command('down')
    .argument('<name>', 'name of a lab, or the instance of a paced simulation')
    .description(
      'remove what `up` has made for this lab, and nothing else (its definition stays stored); end a paced simulation',
    )
    .action((name: string) => act((context) => labDown(name, context)));
}

function addProcessCommands(fabrics: Command, act: Act): void {
  fabrics
    .command('running')
    .description('paced simulations on this machine: processes of their own, and those that ended of late')
    .option('--output <format>', 'text or json', 'text')
    .action((options: { output: string }) => act((context) => listProcesses(options, context)));
  fabrics
    .command('log')
    .argument('<instance>', 'of a paced simulation: the id of its run')
    .description('what was applied to it and reverted, by its own log: a JSON object a line')
    .action((instance: string) => act(async (context) => processLog(instance, context)));
}

function list(options: { output: string }, context: CommandContext): Promise<ExitCode> {
  const format = parseChoice('--output', options.output, ['text', 'json']);
  return context.withServer(async (client) => {
    const rows: FabricView[] = [];
    for await (const fabric of client.pages<FabricView>('/v1/fabrics')) rows.push(fabric);
    if (format === 'json') context.out(`${JSON.stringify(rows, null, 2)}\n`);
    else if (rows.length > 0) {
      const cells = rows.map((row) => [row.name, row.driver, row.updatedAt]);
      context.out(table(['name', 'driver', 'updated'], cells));
    }
    await noteProcesses(context);
    if (rows.length === 0) {
      context.note(
        `no fabrics yet; try: ${context.command('fabrics import FILE --format simai --name NAME')}`,
      );
    } else {
      context.note(`next: ${context.command(`run experiments/link-down.yaml --fabric ${rows[0].name}`)}`);
    }
    return EXIT.passed;
  });
}

const show = (name: string, context: CommandContext): Promise<ExitCode> =>
  context.withServer(async (client) => {
    const fabric = await client.json('GET', `/v1/fabrics/${encodeURIComponent(name)}`);
    context.out(`${JSON.stringify(fabric, null, 2)}\n`);
    return EXIT.passed;
  });

async function importFabric(
  file: string,
  options: ImportOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const format = parseChoice('--format', options.format, TOPOLOGY_FORMATS);
  const text = readTextFile(context.path(file), file);
  if (text.trim() === '') throw new InputError([{ pointer: '', file, message: 'the file is empty' }]);
  // read here first: a file that is wrong costs a moment and no server
  importedFabric({ name: options.name, format, text, file });
  return context.withServer(async (client) => {
    const query = options.replace === true ? '?replace=true' : '';
    const body = { name: options.name, format, text, file };
    try {
      const fabric = await client.json<FabricView & { notes: string[] }>(
        'POST',
        `/v1/fabrics/import${query}`,
        body,
      );
      for (const note of fabric.notes) context.note(`note: ${note}`);
      context.out(`fabric ${fabric.name} stored\n${JSON.stringify(fabric.summary, null, 2)}\n`);
      const { host } = fabric.summary.devices as { host: number };
      // jobs of one host send nothing over the network, so that no fault of it could be drilled
      const next =
        host > 1 ? `run experiments/link-down.yaml --fabric ${fabric.name}` : `fabrics show ${fabric.name}`;
      context.note(`next: ${context.command(next)}`);
    } catch (error) {
      throw atFlag(error);
    }
    return EXIT.passed;
  });
}

/** The server's pointers into the request are flags here. */
function atFlag(error: unknown): unknown {
  if (!(error instanceof ProblemError) || error.problem.errors === undefined) return error;
  return new InputError(
    error.problem.errors.map(({ pointer, ...issue }) => ({
      ...issue,
      pointer: pointer === '/name' ? '--name' : pointer,
    })),
  );
}
