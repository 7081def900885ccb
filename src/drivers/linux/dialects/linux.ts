/**
 * Plain Linux that forwards by itself: hosts, and switches of namespaces or virtual machines without a routing daemon.
 *
 * Sources: ip-link(8), tc-tbf(8), nft(8) 1.0.6. A cut of speed is a token bucket, which the port may have had before or not;
 * a queueing discipline that somebody else chose is left alone, and the impairment is then refused.
 */
import { INGRESS_PRIORITY } from '../lab/ingress-priority.js';
import type { Dialect } from './dialect.js';

const LOSS_TABLE = [
  'add table netdev {table}',
  'delete table netdev {table}',
  'table netdev {table} {',
  ' counter lost {}',
  ' chain on_the_way {',
  `  type filter hook ingress device "{interface}" priority ${INGRESS_PRIORITY.loss};`,
  '  counter name lost drop',
  ' }',
  '}',
  '',
].join('\n');

export const linuxDialect: Dialect = {
  name: 'linux',
  summary: 'iproute2 and nftables',
  needs: { ip: 'iproute2', tc: 'iproute2', nft: 'nftables', setsid: 'util-linux' },
  adminState: {
    ask: ['ip', '-j', 'link', 'show', 'dev', '{interface}'],
    pattern: '"flags":\\[[^\\]]*"UP"',
    present: 'up',
    absent: 'down',
    tell: {
      up: [{ command: ['ip', 'link', 'set', 'dev', '{interface}', 'up'] }],
      down: [{ command: ['ip', 'link', 'set', 'dev', '{interface}', 'down'] }],
    },
  },
  rate: {
    ask: ['tc', '-j', 'qdisc', 'show', 'dev', '{interface}', 'root'],
    pattern: '"kind":"tbf".*?"rate":(\\d+)',
    gbpsPerUnit: 8e-9,
    tell: [
      {
        command: [
          ...['tc', 'qdisc', 'replace', 'dev', '{interface}', 'root', 'tbf'],
          ...['rate', '{bits}bit', 'burst', '{burst}', 'limit', '{limit}'],
        ],
      },
    ],
    unlimited: {
      // the handle of what the kernel gave the interface by itself
      pattern: '"handle":"0:"',
      tell: [{ command: ['sh', '-c', 'tc qdisc del dev "$1" root 2>/dev/null; true', 'sh', '{interface}'] }],
    },
  },
  arrivals: {
    ask: ['nft', 'list', 'tables', 'netdev'],
    pattern: '(?:^|\\n)table netdev {table}(?:\\n|$)',
    present: 'drop',
    absent: 'forward',
    tell: {
      drop: [{ command: ['nft', '-f', '-'], input: LOSS_TABLE }],
      forward: [
        {
          command: ['nft', '-f', '-'],
          input: 'add table netdev {table}\ndelete table netdev {table}\n',
        },
      ],
    },
  },
  kernelForwards: true,
  counts: 'queues',
};
