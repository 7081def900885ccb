#!/usr/bin/env node
/** The API process. With DATABASE_URL and REDIS_URL set it shares its work with worker processes. */
import { runService } from './cli/commands/service.js';

await runService({ api: true, worker: false });
