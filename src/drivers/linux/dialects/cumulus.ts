/**
 * Cumulus Linux: interfaces are Linux's and mirror the hardware, FRR is told by vtysh, packets are dropped by an access list
 * that cl-acltool puts into the hardware. Sources: Cumulus Linux 5 user guide, chapters Switch port attributes and Netfilter.
 * Not modelled: NVUE, whose next `apply` gives back what its own configuration says.
 */
import type { Dialect } from './dialect.js';
import { frrDialect } from './frr.js';

const RULES = '/etc/cumulus/acl/policy.d/99{table}.rules';

export const cumulusDialect: Dialect = {
  name: 'cumulus',
  summary: 'Cumulus Linux: iproute2, ethtool, cl-acltool, FRR by vtysh',
  untested: 'written by the user guide of version 5; nobody has tried it on a switch',
  needs: {
    ip: 'iproute2',
    ethtool: 'ethtool',
    'cl-acltool': 'cumulus-acltool',
    vtysh: 'frr',
    setsid: 'util-linux',
  },
  adminState: frrDialect.adminState,
  rate: {
    ask: ['ethtool', '{interface}'],
    pattern: 'Speed: (\\d+)Mb/s',
    gbpsPerUnit: 1e-3,
    tell: [{ command: ['ethtool', '-s', '{interface}', 'speed', '{mbps}', 'autoneg', 'off'] }],
  },
  arrivals: {
    ask: ['iptables', '-S', 'FORWARD'],
    pattern: '-A FORWARD -i {interface} -j DROP',
    present: 'drop',
    absent: 'forward',
    tell: {
      drop: [
        {
          command: ['tee', RULES],
          input: '[iptables]\n-A FORWARD -i {interface} -j DROP\n-A INPUT -i {interface} -j DROP\n',
        },
        { command: ['cl-acltool', '-i'] },
      ],
      forward: [{ command: ['rm', '-f', RULES] }, { command: ['cl-acltool', '-i'] }],
    },
  },
  kernelForwards: false,
  counts: 'links',
  bfd: frrDialect.bfd!,
};
