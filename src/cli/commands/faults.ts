/** `faults list|show KIND`: the catalogue, from the fault kinds themselves. Needs no server. */
import type { Command } from 'commander';
import { FAULT_KINDS, faultKind } from '../../faults/catalog.js';
import { inputJsonSchema } from '../../core/schema-issues.js';
import { EXIT, type ExitCode } from '../../scoring/exit-codes.js';
import type { CommandContext } from '../context.js';
import { examples } from '../terminal/help.js';
import { table } from '../terminal/table.js';

type Act = (work: (context: CommandContext) => Promise<ExitCode>) => Promise<void>;

export function addFaultsCommand(faults: Command, act: Act): void {
  faults
    .command('list')
    .description('all kinds')
    .action(() =>
      act((context) => {
        context.out(
          table(
            ['kind', 'what'],
            FAULT_KINDS.map((kind) => [kind.name, kind.summary]),
          ),
        );
        context.note(`next: ${context.command('faults show link-down')}`);
        return Promise.resolve(EXIT.passed);
      }),
    );
  faults
    .command('show')
    .argument('<kind>', 'a kind, as faults list shows it')
    .description('parameters, limits, symptoms and an example of one kind')
    .addHelpText('after', examples(['faults show link-down']))
    .action((name: string) =>
      act((context) => {
        context.out(describeKind(name));
        return Promise.resolve(EXIT.passed);
      }),
    );
}

function describeKind(name: string): string {
  const kind = faultKind(name);
  const symptoms = Object.entries(kind.allSymptoms()).flatMap(([variant, list]) =>
    list.map(
      ({ text, metrics, citation }) =>
        `  ${variant}: ${text}\n    moves ${metrics.join(', ') || 'nothing'}\n    source: ${citation}`,
    ),
  );
  const indent = (text: string): string =>
    text
      .split('\n')
      .map((line) => `  ${line}`)
      .join('\n');
  return [
    `${kind.name}: ${kind.summary}`,
    '',
    'parameters (JSON Schema)',
    indent(JSON.stringify(inputJsonSchema(kind.parameters), null, 2)),
    '',
    'what an operator sees',
    ...symptoms,
    '',
    'limits',
    ...kind.limits.map((limit) => `  ${limit}`),
    '',
    'example, for spec.faults',
    indent(kind.example),
    '',
  ].join('\n');
}
