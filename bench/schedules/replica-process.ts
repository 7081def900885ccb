/** A replica as a process, to be killed: `node replica-process.js DATABASE_URL NAME`. */
import process, { argv } from 'node:process';
import { connect, lookOn, storeOn } from './replica.js';

// a bench that is interrupted leaves no replica behind
process.once('disconnect', () => process.exit());

const [databaseUrl, name] = argv.slice(2);
await lookOn(storeOn(await connect(databaseUrl, name)), () => false);
