/**
 * Tells a lost database from a bug: the server went away, is going away, or is not ready yet.
 *
 * Known by the system's error code, by SQLSTATE (PostgreSQL documentation, appendix A: class 08 is the connection,
 * 57P01 to 57P03 a shutdown, a crash and a server that does not take connections yet), or by the words of the driver,
 * which gives some of its errors no code. A query that fails on a server that answers is not meant.
 */
import { EnvironmentError } from '../../../core/problem.js';

const SYSTEM_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
const SQL_STATES = /^(08[0-9A-Z]{3}|57P0[123])$/;
const DRIVER_WORDS =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error and is not queryable|Client was closed and is not queryable)/;
/** TypeORM takes the connection from an open transaction when it breaks, and says only that it is gone. */
const TAKEN_AWAY = new Set(['QueryRunnerProviderAlreadyReleasedError', 'QueryRunnerAlreadyReleasedError']);
const HINT =
  'see that the PostgreSQL server of DATABASE_URL runs and can be reached; without DATABASE_URL, the embedded one is ' +
  'started again within seconds, or the log says why not';

/** The error to tell instead, or undefined when the database is not known to be lost. */
export function databaseLoss(error: unknown): EnvironmentError | undefined {
  const reason = lossReason(error);
  if (reason === undefined) return undefined;
  return new EnvironmentError(`the connection to the database is lost: ${reason}`, HINT, { cause: error });
}

/** A code or the driver's own words: neither holds a statement, a value or a password. */
function lossReason(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { name, code, message, errors, driverError } = error as Partial<Record<string, unknown>>;
  if (typeof code === 'string' && (SYSTEM_CODES.has(code) || SQL_STATES.test(code))) return code;
  if (typeof name === 'string' && TAKEN_AWAY.has(name)) return 'it broke within a transaction';
  const words = DRIVER_WORDS.exec(typeof message === 'string' ? message : '');
  if (words !== null) return words[1];
  // A host name with several addresses fails with one error per address.
  if (Array.isArray(errors)) return firstReason(errors);
  return driverError === undefined || driverError === error ? undefined : lossReason(driverError);
}

function firstReason(errors: unknown[]): string | undefined {
  return errors.map(lossReason).find((reason) => reason !== undefined);
}
