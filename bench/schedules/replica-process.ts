/** A replica as a process, to be killed: `node replica-process.js DATABASE_URL NAME`. */
import { argv } from 'node:process';
import { connect, lookOn, storeOn } from './replica.js';

const [databaseUrl, name] = argv.slice(2);
await lookOn(storeOn(await connect(databaseUrl, name)), () => false);
