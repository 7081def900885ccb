/** `serve`: API and one worker, until a signal. */
import type { Command } from 'commander';
import { loadConfig } from '../platform/config/config.js';
import { EXIT, type ExitCode } from '../scoring/exit-codes.js';
import type { CommandContext } from './context.js';
import { serveUntilSignal } from './service.js';

export function addServeCommand(
  program: Command,
  act: (work: (context: CommandContext) => Promise<ExitCode>) => Promise<void>,
): void {
  program
    .command('serve')
    .description('API and one worker, on the embedded database unless DATABASE_URL is set')
    .option('--port <n>', 'port of the API; 0 takes any free one (default: FABRICDRILL_PORT, PORT or 3000)')
    .action((options: { port?: string }) =>
      act(async (context) => {
        const config =
          options.port === undefined
            ? context.config
            : loadConfig(process.env, { FABRICDRILL_PORT: options.port });
        await serveUntilSignal(config, { api: true, worker: true }, (url) => {
          context.note(`fabricdrill is at ${url}; API description at ${url}/docs`);
        });
        return EXIT.passed;
      }),
    );
}
