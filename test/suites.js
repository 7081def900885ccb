/**
 * Which spec runs when. Every spec is in `npm test`, but those that are listed here.
 *
 * jest.config.js reads it by FABRICDRILL_SUITE; `.ci/run` reads what may be skipped, and counts the cases.
 */

/** In `npm run test:all` only: seconds on an idle core, and why they can't be fewer. */
export const LATER = [];

/** Drills in real time on labs of Linux namespaces, alone on the machine: `npm run test:labs`. */
const LABS = 'test/e2e/linux-lab';

/** Of these, what takes too long for every change: `.ci/run` leaves it out. */
const LABS_BY_HAND = 'test/e2e/linux-lab-gate';

/** Cases that may be skipped, by name, where the machine has not what they need. */
export const EXCUSED = {
  /** FABRICDRILL_INPUTS, the folder of real files that not every checkout has beside it. */
  inputs: /real inputs|files that are passed around in the field/,
  /** Namespaces, which containers may forbid. */
  labs: /^(a lab |parity with a lab|telemetry of a lab|fabric driver linux|the driver linux over SSH|an undo timer)/,
};

/** @param {string | undefined} suite FABRICDRILL_SUITE; not set where files are named */
export function ignoredBy(suite) {
  switch (suite) {
    case undefined:
      return [];
    case 'minutes':
      return [LABS, ...LATER.map(({ file }) => file)];
    case 'all':
      return [LABS];
    case 'labs':
      return [`^(?!.*/${LABS})`, LABS_BY_HAND];
    case 'every-lab':
      return [`^(?!.*/${LABS})`];
    default:
      throw new Error(`FABRICDRILL_SUITE is "${suite}": minutes, all, labs or every-lab`);
  }
}
