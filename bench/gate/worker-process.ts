/** A worker as a process: says when it takes work, and ends with who started it. */
import process from 'node:process';
import { serveUntilSignal } from '../../src/cli/commands/service.js';
import { loadConfig } from '../../src/system/config/config.js';

process.once('disconnect', () => process.exit());
await serveUntilSignal(loadConfig(), { api: false, worker: true }, () => process.send?.('ready'));
// the channel alone would keep it
process.disconnect();
