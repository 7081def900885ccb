#!/usr/bin/env node
/** A worker process: takes runs from the queue and drills. Start as many as there are fabrics to drill at once. */
import { runService } from './cli/commands/service.js';

await runService({ api: false, worker: true });
