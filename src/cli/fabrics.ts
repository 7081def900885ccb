/** `fabrics list|show|import`. */
import type { Command } from 'commander';
import { readFileSync } from 'node:fs';
import { InputError } from '../kernel/problem.js';
import { TOPOLOGY_FORMATS } from '../topology/importers/index.js';
import { EXIT, type ExitCode } from '../scoring/exit-codes.js';
import type { CommandContext } from './context.js';
import { table } from './table.js';

type Act = (work: (context: CommandContext) => Promise<ExitCode>) => Promise<void>;

interface FabricView {
  name: string;
  driver: string;
  summary: Record<string, unknown>;
  updatedAt: string;
}

export function addFabricsCommand(program: Command, act: Act): void {
  const fabrics = program.command('fabrics').description('stored fabrics');
  fabrics
    .command('list')
    .description('stored fabrics, newest first')
    .action(() =>
      act((context) =>
        context.withServer(async (client) => {
          const rows: FabricView[] = [];
          for await (const fabric of client.pages<FabricView>('/v1/fabrics')) rows.push(fabric);
          context.out(
            rows.length === 0
              ? 'no fabrics yet; try: fabricdrill fabrics import FILE --format simai --name NAME\n'
              : table(
                  ['name', 'driver', 'updated'],
                  rows.map((row) => [row.name, row.driver, row.updatedAt]),
                ),
          );
          return EXIT.passed;
        }),
      ),
    );
  fabrics
    .command('show')
    .argument('<name>')
    .description('one fabric with its definition, as JSON')
    .action((name: string) =>
      act((context) =>
        context.withServer(async (client) => {
          const fabric = await client.json('GET', `/v1/fabrics/${encodeURIComponent(name)}`);
          context.out(`${JSON.stringify(fabric, null, 2)}\n`);
          return EXIT.passed;
        }),
      ),
    );
  fabrics
    .command('import')
    .argument('<file>', 'topology file of another simulator')
    .description('store it as a fabric without jobs')
    .requiredOption('--format <format>', TOPOLOGY_FORMATS.join(' or '))
    .requiredOption('--name <name>', 'name of the stored fabric')
    .option('--replace', 'replace a stored fabric of this name')
    .action((file: string, options: ImportOptions) => act((context) => importFabric(file, options, context)));
}

interface ImportOptions {
  format: string;
  name: string;
  replace?: boolean;
}

async function importFabric(
  file: string,
  options: ImportOptions,
  context: CommandContext,
): Promise<ExitCode> {
  let text: string;
  try {
    text = readFileSync(context.path(file), 'utf8');
  } catch (error) {
    throw new InputError([{ pointer: '', file, message: `can't be read: ${(error as Error).message}` }]);
  }
  return context.withServer(async (client) => {
    const query = options.replace === true ? '?replace=true' : '';
    const body = { name: options.name, format: options.format, text, file };
    const fabric = await client.json<FabricView & { notes: string[] }>(
      'POST',
      `/v1/fabrics/import${query}`,
      body,
    );
    for (const note of fabric.notes) context.note(`note: ${note}`);
    context.out(`fabric ${fabric.name} stored\n${JSON.stringify(fabric.summary, null, 2)}\n`);
    context.note(`next: fabricdrill run experiments/link-down.yaml --fabric ${fabric.name}`);
    return EXIT.passed;
  });
}
