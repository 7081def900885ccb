/**
 * The fabric that the conformance suite uses, one impairment of each type on it, and such as name what is not there.
 */
import type { Impairment, ImpairmentType } from '../../src/fabric-api/impairment.js';

/** As in a file: small and slow enough for any driver. */
export const SMALLEST = {
  topology: {
    builder: 'leaf-spine',
    leaves: 2,
    spines: 2,
    hostsPerLeaf: 1,
    gpusPerHost: 1,
    hostRate: '50Mbps',
    fabricRate: '50Mbps',
  },
  settings: { mtu: '1448B' },
  jobs: [
    {
      name: 'job',
      gpus: 2,
      step: { compute: '10ms', collectives: [{ collective: 'all-reduce', bytes: '100kB' }] },
    },
  ],
};

/** What the samples of links impair, unless they name what is not there. */
export const LINK = 'link:leaf-1/p2--spine-1/p1';
const ERRORS = {
  type: 'bit-errors',
  link: LINK,
  bitErrorRatio: 1e-3,
  laneShare: 0.5,
  cause: 'connector',
} as const;
/** Worse twice, each time visibly on any fabric; the last level comes long after, for what ends before it. */
export const PROFILE = {
  ...ERRORS,
  fromPort: 'port:leaf-1/p2',
  bitErrorRatio: 2e-3,
  laterLevels: [
    { afterNs: 1e9, bitErrorRatio: 3e-3 },
    { afterNs: 2e9, bitErrorRatio: 4e-3 },
    { afterNs: 3e9, bitErrorRatio: 5e-3 },
  ],
} as const satisfies Impairment;
const LOAD = { type: 'traffic', name: 'load', rateGbps: 0.02, priority: 3, queuePairs: 2 } as const;
const MARKING = { type: 'ecn-marking', kminBytes: 5000, kmaxBytes: 20_000, pmax: 1 } as const;
const MOVE = { type: 'job-move', mode: 'after-loss' } as const;
export const SAMPLES: Record<ImpairmentType, { known: Impairment; unknown: Impairment[] }> = {
  'link-admin-down': {
    known: { type: 'link-admin-down', link: LINK, port: 'port:spine-1/p1' },
    unknown: [
      { type: 'link-admin-down', link: 'link:leaf-9/p1--spine-1/p1', port: 'port:spine-1/p1' },
      { type: 'link-admin-down', link: LINK, port: 'port:spine-2/p1' },
    ],
  },
  'link-cut': {
    known: { type: 'link-cut', link: LINK },
    unknown: [{ type: 'link-cut', link: 'link:leaf-1/p2--spine-9/p1' }],
  },
  blackhole: {
    known: { type: 'blackhole', link: LINK, fromPort: 'port:leaf-1/p2' },
    unknown: [{ type: 'blackhole', link: LINK, fromPort: 'port:leaf-2/p2' }],
  },
  'node-down': {
    known: { type: 'node-down', device: 'device:spine-1' },
    unknown: [{ type: 'node-down', device: 'device:spine-7' }],
  },
  'link-rate': {
    known: { type: 'link-rate', link: LINK, rateGbps: 0.01 },
    unknown: [{ type: 'link-rate', link: 'link:leaf-1/p2--spine-9/p1', rateGbps: 0.01 }],
  },
  'bit-errors': {
    known: { ...ERRORS, fromPort: 'port:leaf-1/p2' },
    unknown: [
      { ...ERRORS, fromPort: 'port:leaf-2/p2' },
      { ...ERRORS, link: 'link:leaf-1/p2--spine-9/p1', fromPort: 'port:leaf-1/p2' },
    ],
  },
  'compute-slowdown': {
    known: { type: 'compute-slowdown', device: 'device:host-1', gpu: 0, factor: 2 },
    unknown: [
      { type: 'compute-slowdown', device: 'device:host-9', factor: 2 },
      { type: 'compute-slowdown', device: 'device:host-1', gpu: 5, factor: 2 },
      { type: 'compute-slowdown', device: 'device:leaf-1', factor: 2 },
    ],
  },
  'nic-host-rate': {
    known: { type: 'nic-host-rate', nic: 'nic:host-1/nic-0', rateGbps: 0.02 },
    unknown: [{ type: 'nic-host-rate', nic: 'nic:host-9/nic-0', rateGbps: 0.02 }],
  },
  traffic: {
    known: { ...LOAD, fromNics: ['nic:host-2/nic-0'], toNic: 'nic:host-1/nic-0' },
    unknown: [
      { ...LOAD, fromNics: ['nic:host-9/nic-0'], toNic: 'nic:host-1/nic-0' },
      { ...LOAD, fromNics: ['nic:host-2/nic-0'], toNic: 'nic:host-1/nic-7' },
    ],
  },
  'pause-storm': {
    known: { type: 'pause-storm', nic: 'nic:host-1/nic-0', priority: 3 },
    unknown: [{ type: 'pause-storm', nic: 'nic:host-1/nic-1', priority: 3 }],
  },
  'hash-seed': {
    known: { type: 'hash-seed', device: 'device:leaf-1', seed: 0 },
    unknown: [
      { type: 'hash-seed', device: 'device:leaf-9', seed: 0 },
      { type: 'hash-seed', device: 'device:host-1', seed: 0 },
    ],
  },
  'ecn-marking': {
    known: { ...MARKING, device: 'device:leaf-1' },
    unknown: [
      { ...MARKING, device: 'device:leaf-9' },
      { ...MARKING, device: 'device:host-1' },
    ],
  },
  'pfc-buffer': {
    known: { type: 'pfc-buffer', device: 'device:spine-1', pfc: false },
    unknown: [
      { type: 'pfc-buffer', device: 'device:spine-9', pfc: false },
      { type: 'pfc-buffer', device: 'device:host-2', pfc: false },
    ],
  },
  'host-drain': {
    known: { type: 'host-drain', device: 'device:host-1' },
    unknown: [
      { type: 'host-drain', device: 'device:host-9' },
      { type: 'host-drain', device: 'device:leaf-1' },
    ],
  },
  'job-move': {
    known: { ...MOVE, job: 'job:job', fromHost: 'device:host-1' },
    unknown: [
      { ...MOVE, job: 'job:other', fromHost: 'device:host-1' },
      { ...MOVE, job: 'job:job', fromHost: 'device:host-9' },
      { ...MOVE, job: 'job:job', fromHost: 'device:host-1', toHost: 'device:host-1' },
      { ...MOVE, job: 'job:job', fromHost: 'device:host-1', toHost: 'device:leaf-1' },
    ],
  },
};
