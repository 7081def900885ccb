#!/usr/bin/env node
/** The command line. The guard comes first: loading the rest takes a moment, in which somebody may press Ctrl-C. */
import { guardStart } from './cli/early-signals.js';

guardStart();
const { main } = await import('./cli/program.js');
process.exitCode = await main(process.argv);
