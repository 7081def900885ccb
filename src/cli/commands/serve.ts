/** `serve`: API and one worker, until a signal. */
import type { Command } from 'commander';
import { EXIT, type ExitCode } from '../../scoring/exit-codes.js';
import type { CommandContext } from '../context.js';
import { parseWhole } from '../terminal/flags.js';
import { examples } from '../terminal/help.js';
import { serveUntilSignal } from './service.js';

export function addServeCommand(
  command: Command,
  act: (work: (context: CommandContext) => Promise<ExitCode>) => Promise<void>,
): void {
  command
    .option('--port <n>', 'port of the API; 0 takes any free one (default: FABRICDRILL_PORT, PORT or 3000)')
    .addHelpText('after', examples(['serve', 'serve --port 8080']))
    .action((options: { port?: string }) =>
      act(async (context) => {
        const { port } = options;
        const config =
          port === undefined
            ? context.config
            : { ...context.config, port: parseWhole('--port', port, 0, 65535) };
        await serveUntilSignal(config, { api: true, worker: true }, (url) => {
          context.note(`fabricdrill is at ${url}; API description at ${url}/docs; Ctrl-C stops it`);
          context.note(`next: FABRICDRILL_URL=${url} ${context.command('run experiments/link-down.yaml')}`);
        });
        return EXIT.passed;
      }),
    );
}
