/**
 * Every culprit family the diagnoser knows; a new one is a file beside this and a line here.
 */
import type { Explanation } from '../explanation.js';
import type { Family } from './hypothesis.js';
import { ecmpCollision } from './ecmp-collision.js';
import { incast } from './incast.js';
import { jobMigration } from './job-migration.js';
import { linkDown } from './link-down.js';
import { nicDown } from './nic-down.js';
import { nodeDown } from './node-down.js';
import { oneWayLoss } from './one-way-loss.js';
import { opticError } from './optic-error.js';
import { pauseDeadlock } from './pause-deadlock.js';
import { pauseStorm } from './pause-storm.js';
import { slowHostSide } from './slow-host-side.js';
import { slowReceiver } from './slow-receiver.js';
import { speedDowngrade } from './speed-downgrade.js';
import { staleRoute } from './stale-route.js';
import { straggler } from './straggler.js';
import { switchMisconfig } from './switch-misconfig.js';

export const FAMILIES: readonly Family[] = [
  nodeDown,
  nicDown,
  linkDown,
  oneWayLoss,
  opticError,
  speedDowngrade,
  slowHostSide,
  slowReceiver,
  pauseStorm,
  pauseDeadlock,
  incast,
  ecmpCollision,
  switchMisconfig,
  staleRoute,
  straggler,
  jobMigration,
];

/** The family that put a culprit forward. */
export function familyOf({ hypothesis }: Explanation): Family {
  const family = FAMILIES.find(({ hypotheses }) => hypotheses.includes(hypothesis));
  if (family === undefined) throw new Error(`no family puts forward ${hypothesis}`);
  return family;
}
