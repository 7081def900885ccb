#!/usr/bin/env node
/** The command line. */
import { main } from './cli/program.js';

process.exitCode = await main(process.argv);
