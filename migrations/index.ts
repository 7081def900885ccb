/** All migrations, oldest first: an explicit list, so that bundlers and ESM need no file globs. */
import { CreateCoreTables1795910400000 } from './1795910400000-create-core-tables.js';
import { AddClearedReason1795917600000 } from './1795917600000-add-cleared-reason.js';
import { AddOutsideDiagnoses1795924800000 } from './1795924800000-add-outside-diagnoses.js';
import { KeepEvidenceInParts1795932000000 } from './1795932000000-keep-evidence-in-parts.js';
import { AddSchedules1795950000000 } from './1795950000000-add-schedules.js';
import { AddGameDays1797000000000 } from './1797000000000-add-game-days.js';
import { AddGates1798000000000 } from './1798000000000-add-gates.js';
import { LetSchedulesStartGameDays1799000000000 } from './1799000000000-let-schedules-start-game-days.js';
import { SayWhySchedulesAreSuspended1801000000000 } from './1801000000000-say-why-schedules-are-suspended.js';

export const MIGRATIONS = [
  CreateCoreTables1795910400000,
  AddClearedReason1795917600000,
  AddOutsideDiagnoses1795924800000,
  KeepEvidenceInParts1795932000000,
  AddSchedules1795950000000,
  AddGameDays1797000000000,
  AddGates1798000000000,
  LetSchedulesStartGameDays1799000000000,
  SayWhySchedulesAreSuspended1801000000000,
];
