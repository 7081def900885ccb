/**
 * Which spec runs when. Every spec is in `npm test`, but those that are listed here.
 *
 * jest.config.js reads it by FABRICDRILL_SUITE; `.ci/run` reads what may be skipped, and counts the cases.
 */

/** In `npm run test:all` only: seconds on an idle core, and why they can't be fewer. */
export const LATER = [
  {
    file: 'test/e2e/install.e2e-spec.ts',
    seconds: 32,
    reason: 'installs the package with all it depends on, from a registry',
  },
  {
    file: 'test/e2e/computed-drills.e2e-spec.ts',
    seconds: 42,
    reason: 'waits for a drill that is long on purpose, for a frozen and for a lost process',
  },
  {
    file: 'test/e2e/game-day-crash.e2e-spec.ts',
    seconds: 34,
    reason: 'kills each process of a game day in turn; e2e/crash kills a worker in `npm test`',
  },
  {
    file: 'test/e2e/durability.e2e-spec.ts',
    seconds: 20,
    reason: 'starts and kills a PostgreSQL of its own four times',
  },
  {
    file: 'test/conformance/site-over-ssh.spec.ts',
    seconds: 37,
    reason: 'a whole drill in real time over SSH',
  },
  {
    file: 'test/golden/rest.e2e-spec.ts',
    seconds: 37,
    reason:
      'a hundred exchanges with a server and the drills that they start; test/golden/database shows the same answers of stored runs',
  },
  {
    file: 'test/golden/scorecards-other-seed.spec.ts',
    seconds: 11,
    reason: 'every shipped experiment again, with another seed',
  },
  {
    file: 'test/accuracy/diagnosis.spec.ts',
    seconds: 59,
    reason: 'every kind of fault at eight seeds, and sixteen controls',
  },
  {
    file: 'test/accuracy/diagnosis-degraded.spec.ts',
    seconds: 22,
    reason: 'every kind of fault with telemetry that is late, sparse or lost',
  },
  {
    file: 'bench/schedules/month.spec.ts',
    seconds: 20,
    reason: 'replicas that are killed and stopped over weeks of ticks',
  },
];

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
