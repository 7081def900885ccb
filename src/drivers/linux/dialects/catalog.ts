/**
 * All dialects, by name: one line each.
 */
import type { DialectName } from '../../../fabric-api/transport-settings.js';
import { cumulusDialect } from './cumulus.js';
import type { Dialect } from './dialect.js';
import { frrDialect } from './frr.js';
import { linuxDialect } from './linux.js';
import { sonicDialect } from './sonic.js';

export const DIALECTS: Readonly<Record<DialectName, Dialect>> = {
  linux: linuxDialect,
  frr: frrDialect,
  sonic: sonicDialect,
  cumulus: cumulusDialect,
};
