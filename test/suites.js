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
    file: 'test/e2e/over-redis.e2e-spec.ts',
    seconds: 57,
    reason: 'gates, crash and lifecycle of `npm test` again, over Redis',
  },
  {
    file: 'test/e2e/cli-processes.e2e-spec.ts',
    seconds: 20,
    reason: 'ten commands in processes of their own, and a new embedded database',
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
  {
    file: 'test/e2e/left-behind.e2e-spec.ts',
    seconds: 39,
    reason: 'whole commands and servers as processes, each looked for after its end',
  },
  {
    file: 'test/e2e/database-restart.e2e-spec.ts',
    seconds: 25,
    reason: 'kills PostgreSQL under a server and waits until it is back',
  },
  {
    file: 'src/store/database/embedded/embedded-server.spec.ts',
    seconds: 19,
    reason:
      'starts, loses and joins real PostgreSQL servers; test/e2e/crash and most of e2e run on one in `npm test`',
  },
  {
    file: 'test/e2e/determinism.e2e-spec.ts',
    seconds: 19,
    reason: 'whole drills twice over, once by each queue',
  },
  { file: 'test/e2e/rest-page.e2e-spec.ts', seconds: 14, reason: 'types every command of docs/rest.md' },
  {
    file: 'test/e2e/parity.e2e-spec.ts',
    seconds: 13,
    reason: 'each experiment twice, on the twin and on a paced simulation',
  },
  {
    file: 'test/conformance/paced-simulation.spec.ts',
    seconds: 14,
    reason: 'drills in real time, and processes that are killed',
  },
  {
    file: 'src/drivers/prometheus/real-prometheus.spec.ts',
    seconds: 14,
    reason: 'starts a Prometheus and waits for its scrapes',
  },
  {
    file: 'src/drivers/linux/slurm/slurm-scheduler.spec.ts',
    seconds: 13,
    reason: 'starts a Slurm and waits for its jobs',
  },
  { file: 'test/e2e/labs-on-server.e2e-spec.ts', seconds: 12, reason: 'builds and removes a lab' },
  {
    file: 'test/accuracy/diagnosis-blindness.spec.ts',
    seconds: 13,
    reason: 'whole drills with every name permuted',
  },
  {
    file: 'test/e2e/game-days-cli.e2e-spec.ts',
    seconds: 12,
    reason: 'whole game days by commands; test/e2e/game-days has them over REST in `npm test`',
  },
  {
    file: 'test/e2e/blindness.e2e-spec.ts',
    seconds: 12,
    reason: 'four whole drills, stored and diagnosed again over REST',
  },
  {
    file: 'src/drivers/linux/telemetry/lab-evidence.spec.ts',
    seconds: 9,
    reason: 'builds a lab and watches its job for some seconds',
  },
  {
    file: 'test/accuracy/dcqcn-queue.spec.ts',
    seconds: 4,
    reason: '95 ms of 16 flows, until their queue has a mean',
  },
  {
    file: 'bench/own-database.spec.ts',
    seconds: 4,
    reason: 'a bench as a process, with a new embedded database, until a signal ends it',
  },
  { file: 'bench/cluster.spec.ts', seconds: 4, reason: 'a cluster of 64 GPUs, simulated twice' },
  {
    file: 'test/accuracy/job-migration.spec.ts',
    seconds: 7,
    reason: 'each variant of a migration at three seeds',
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
