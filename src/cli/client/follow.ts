/**
 * A run from its start to its end, for somebody who waits: progress on stderr, Ctrl-C in two steps.
 *
 * The first asks for the abort, which reverts everything, and goes on waiting. The second leaves at once: a fault may
 * still be in place then, and the exit code says so.
 */
import { EXIT, type ExitCode } from '../../scoring/exit-codes.js';
import type { ApiClient, RunView } from './api-client.js';
import type { CommandContext } from '../context.js';
import type { Interrupts } from '../terminal/interrupts.js';
import { ProgressPrinter } from '../terminal/progress.js';

/** @returns the exit code that the run ended with */
export async function follow(
  client: ApiClient,
  run: RunView,
  interrupts: Interrupts,
  context: CommandContext,
): Promise<ExitCode> {
  const progress = new ProgressPrinter(process.stderr, process.stderr.isTTY && context.config.colour);
  context.note(`run ${run.id}: ${run.experiment} on ${run.fabric}, seed ${run.seed}`);
  const abort = (): void => {
    progress.finish();
    context.note('reverting; press Ctrl-C again to leave at once');
    client
      .json('POST', `/v1/runs/${run.id}/abort`, { reason: 'interrupted at the command line' })
      .catch((error: unknown) =>
        context.note(`the abort could not be asked for: ${(error as Error).message}`),
      );
  };
  const leave = (): void => {
    progress.finish();
    context.note(`left while run ${run.id} was being reverted; a fault may still be in place`);
    context.note('the next fabricdrill on this database reverts what is left');
    context.note(`look at it with: ${context.command(`runs show ${run.id}`)}`);
    process.exit(EXIT.rollbackFailed);
  };
  interrupts.become({ first: abort, second: leave });
  // a signal that came while the run was being asked for is meant for it
  if (interrupts.interrupted) abort();
  try {
    for await (const event of client.events(run.id)) {
      progress.show(event);
      if (event.type === 'end') {
        const exitCode = Number(event.data.exitCode) as ExitCode;
        // nothing is left to revert; what remains is to print and to close
        interrupts.become({ first: () => undefined, second: () => process.exit(exitCode) });
        return exitCode;
      }
    }
    return EXIT.bug;
  } finally {
    progress.finish();
  }
}
