/**
 * How a fabric of Linux network stacks is built: the `lab` part of a Fabric document.
 *
 * What the simulated twin needs as well (BFD, hold time, next-hop groups as FRR ships them, payload of a packet) stands
 * in `settings`; here is what only a kernel has. Rates are those of the topology, kept by a token bucket on every port.
 * Defaults follow what was measured on Linux 6 with FRR 8.4. Not modelled: delays, since no qdisc for them may be there.
 */
import { z } from 'zod';
import { durationNs, sizeBytes } from '../core/units.js';

export const HASH_POLICIES = ['fields', 'l4', 'l3'] as const;

const bytes = (least: number, most: number, preset: string) =>
  sizeBytes
    .refine((size) => size >= least && size <= most, `must be from ${least} to ${most} bytes`)
    .prefault(preset);

export const labSettingsSchema = z
  .strictObject({
    prefix: z
      .string()
      .regex(/^[a-z][a-z0-9-]{0,30}$/, 'must be lower-case letters, digits and dashes, at most 31')
      .optional()
      .describe('begin of the names of network namespaces; the name of the fabric when left out'),
    hashPolicy: z
      .enum(HASH_POLICIES)
      .default('fields')
      .describe(
        'fib_multipath_hash_policy: 3 over addresses, protocol and ports; 1, which takes the hash of a sending socket where there is one; 0, addresses alone',
      ),
    burst: bytes(2000, 1e6, '16kB').describe('bucket of the token bucket filter on each port'),
    queueLimit: bytes(4000, 1e8, '256kB').describe('what may wait in front of that bucket'),
    sendBuffer: bytes(8192, 1e8, '64kB').describe(
      'most that a connection of a host has under way; below queueLimit one connection alone loses nothing',
    ),
    leastTimeout: durationNs
      .refine((ns) => ns >= 5e6 && ns <= 10e9, 'must be from 5ms to 10s')
      .prefault('50ms')
      .describe(
        'least retransmission timeout of TCP on the hosts (rto_min of their route; 200ms is the default of Linux); receivers may delay an acknowledgement by 40 ms',
      ),
    bgpConnectRetry: durationNs.prefault('1s').describe('BGP connect timer, whole seconds'),
    undoMargin: durationNs
      .prefault('15s')
      .describe('the undo timer of an impairment fires so long after its planned end'),
  })
  .prefault({});

export type LabSettings = z.output<typeof labSettingsSchema>;
