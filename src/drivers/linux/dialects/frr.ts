/**
 * Linux with FRR as its routing daemon: the ports are Linux's, the sessions are told by vtysh. Source: FRR 8.4 manual.
 */
import type { Dialect } from './dialect.js';
import { linuxDialect } from './linux.js';

export const frrDialect: Dialect = {
  ...linuxDialect,
  name: 'frr',
  summary: 'iproute2 and nftables, FRR by vtysh',
  needs: { ...linuxDialect.needs, vtysh: 'frr' },
  bfd: ['vtysh', '--vty_socket', '{sockets}', '-c', 'show bfd peers json'],
};
