/**
 * SONiC: ports by the `config` command, packets dropped by an access list in its configuration database, FRR by vtysh.
 *
 * Counters of ports are those of the chip, in a database of their own; the kernel's count only what the processor sees and
 * are not told. Sources: SONiC command reference (202205), its wiki on access lists. Not modelled: saving the
 * configuration, which a drill must not do; IPv6, which the list lets through.
 */
import type { Dialect } from './dialect.js';
import { frrDialect } from './frr.js';

const database = (...words: readonly string[]): { command: string[] } => ({
  command: ['sonic-db-cli', 'CONFIG_DB', ...words],
});
const TABLE = 'ACL_TABLE|{table}';
const RULE = 'ACL_RULE|{table}|1';

export const sonicDialect: Dialect = {
  name: 'sonic',
  summary: 'SONiC: config, sonic-db-cli, FRR by vtysh',
  untested: 'written by the command reference of 202205; nobody has tried it on a switch',
  needs: {
    ip: 'iproute2',
    config: 'sonic-utilities',
    'sonic-db-cli': 'sonic-swss-common',
    vtysh: 'frr',
    setsid: 'util-linux',
  },
  adminState: {
    ask: ['sonic-db-cli', 'CONFIG_DB', 'HGET', 'PORT|{interface}', 'admin_status'],
    pattern: '^up',
    present: 'up',
    absent: 'down',
    tell: {
      up: [{ command: ['config', 'interface', 'startup', '{interface}'] }],
      down: [{ command: ['config', 'interface', 'shutdown', '{interface}'] }],
    },
  },
  rate: {
    ask: ['sonic-db-cli', 'CONFIG_DB', 'HGET', 'PORT|{interface}', 'speed'],
    pattern: '^(\\d+)',
    gbpsPerUnit: 1e-3,
    tell: [{ command: ['config', 'interface', 'speed', '{interface}', '{mbps}'] }],
  },
  arrivals: {
    ask: ['sonic-db-cli', 'CONFIG_DB', 'KEYS', RULE],
    pattern: 'ACL_RULE',
    present: 'drop',
    absent: 'forward',
    tell: {
      drop: [
        database(
          'HSET',
          TABLE,
          'policy_desc',
          '{table}',
          'type',
          'L3',
          'stage',
          'ingress',
          'ports@',
          '{interface}',
        ),
        database('HSET', RULE, 'PRIORITY', '9999', 'IP_TYPE', 'IPV4ANY', 'PACKET_ACTION', 'DROP'),
      ],
      forward: [database('DEL', RULE), database('DEL', TABLE)],
    },
  },
  kernelForwards: false,
  counts: 'none',
  bfd: frrDialect.bfd!,
};
