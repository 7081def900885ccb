/** All migrations, oldest first: an explicit list, so that bundlers and ESM need no file globs. */
import { CreateCoreTables1795910400000 } from './1795910400000-create-core-tables.js';

export const MIGRATIONS = [CreateCoreTables1795910400000];
