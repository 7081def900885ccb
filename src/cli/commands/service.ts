/**
 * Long-running processes: start, wait for a signal, leave in order.
 */
import type { AppParts } from '../../app/app.module.js';
import { loadConfig, type Config } from '../../system/config/config.js';
import { liftStartGuard } from '../terminal/early-signals.js';
import { printFailure } from '../terminal/failure.js';
import { surviveLostOutput } from '../terminal/lost-output.js';

/** Connections that are on their way out have this long. */
const LEFT_BEHIND_MS = 1000;

/** An entry point's whole life. Sets the exit code. */
export async function runService(parts: AppParts): Promise<void> {
  surviveLostOutput();
  try {
    await serveUntilSignal(loadConfig(), parts, () => undefined);
  } catch (error) {
    process.exitCode = printFailure(error);
  }
}

/** @param started told the URL once requests are taken */
export async function serveUntilSignal(
  config: Config,
  parts: AppParts,
  started: (url: string | undefined) => void,
): Promise<void> {
  const stop = new Promise<void>((resolve) => {
    process.once('SIGINT', () => resolve());
    process.once('SIGTERM', () => resolve());
  });
  liftStartGuard();
  const { startApp } = await import('../../app/app.module.js');
  const app = await startApp(config, parts);
  started(app.url);
  await stop;
  await app.close();
  // what a queue that is away still waits for holds nothing up
  setTimeout(() => process.exit(), LEFT_BEHIND_MS).unref();
}
