/**
 * How the user calls this program, so that a command in a hint can be pasted as it stands.
 */
import type { Config } from '../../system/config/config.js';

/** The npm script of a checkout that is this command line. */
const DRILL_SCRIPT = 'drill';

/** `fabricdrill ARGS`, or the npm script of a checkout where that is what runs. */
export const commandFor = (config: Pick<Config, 'npmScript'>, args: string): string =>
  `${config.npmScript === DRILL_SCRIPT ? 'npm run -s drill --' : 'fabricdrill'} ${args}`;

/**
 * Time in which a second signal is still the same key: npm passes on an interrupt that the terminal has already sent
 * to the whole group, so one Ctrl-C arrives twice.
 */
export const sameKeyMs = (config: Pick<Config, 'npmScript'>): number =>
  config.npmScript === undefined ? 0 : 400;
