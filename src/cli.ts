#!/usr/bin/env node
/** The command line. Guards come first and last: loading and leaving take a moment, in which somebody may press Ctrl-C. */
import { guardEnd, guardStart } from './cli/terminal/early-signals.js';

guardStart();
const { main } = await import('./cli/program.js');
process.exitCode = await main(process.argv);
guardEnd(process.exitCode);
