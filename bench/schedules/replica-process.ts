/** A replica as a process, to be killed: `node replica-process.js DATABASE_URL NAME`. */
import process, { argv } from 'node:process';
import { connect, lookOn, storeOn } from './replica.js';

// a bench that is interrupted leaves no replica behind
process.once('disconnect', () => process.exit());

/** The others wait for it when it stands still in mid-tick, a minute in the service. */
const STANDS_STILL_MS = 500;

const [databaseUrl, name] = argv.slice(2);
const dataSource = await connect(databaseUrl, name);
process.send?.('up');
await lookOn(storeOn(dataSource, STANDS_STILL_MS), () => false);
