/**
 * Hard and gray faults of the corpus, with magnitudes from what is reported, never from what the diagnosis expects.
 *
 * Sources. Flaps: Alibaba HPN (SIGCOMM 2024) counts 5 000 to 60 000 a day in its fleet, outages from a fraction of a
 * second to seconds. Speeds: the Ethernet rates of IEEE 802.3 below 400G. Lanes: QSFP-DD and OSFP modules have 8, QSFP
 * modules 4; one lost lane is what operators report most. PCIe: every generation and width that a x16 slot of
 * generation 5 can fall back to (PCI-SIG). Bit errors: RS(544,514) holds to 2.4e-4 (KP4, IEEE 802.3 clause 120), loses
 * a codeword every few thousands at 1e-3 and is unusable at four times the limit; CorrOpt (SIGCOMM 2017) finds loss
 * ratios from 1e-8 to above 1e-3 in the field, steady in time.
 * Not drawn: loss of a part of the packets without errors, for which there is no kind yet.
 */
import type { Prng } from '../../../src/core/prng.js';
import { between, logBetween, pick, whole } from './draw.js';
import {
  anyLink,
  anyNic,
  anySwitch,
  DUAL_PORT,
  hostLink,
  oneDevice,
  SINGLE_PORT,
  switchLink,
  type FaultEntry,
} from './fault-entry.js';

const end = (random: Prng): string => pick(random, ['lower', 'upper']);

const down = (variant: string) => ({
  kind: 'link-down',
  name: `link-down/${variant}`,
  class: 'hard' as const,
});
const slow = (name: string) => ({
  kind: 'speed-downgrade',
  name: `speed-downgrade/${name}`,
  class: 'hard' as const,
});
const bitErrors = (variant: string) => ({
  kind: 'optic-error',
  name: `optic-error/${variant}`,
  class: 'gray' as const,
  targets: anyLink,
});

/** A 400G port falls back to these; those of two planes run at 200G. */
const LOWER_RATES = [10, 25, 40, 50, 100, 200];
const rateBelow = (random: Prng, least: number, most: number): string =>
  `${pick(
    random,
    LOWER_RATES.filter((gbps) => gbps >= least && gbps < most),
  )}Gbps`;

/** Slots that carry less than a 400G NIC can send. */
const SLOTS = [1, 2, 3, 4, 5].flatMap((generation) =>
  [2, 4, 8, 16]
    .filter((lanes) => !(generation === 5 && lanes === 16))
    .map((lanes) => ({ variant: 'pcie', generation, lanes })),
);

const source = (random: Prng) => ({
  cause: pick(random, ['connector', 'connector', 'laser', 'serdes']),
  from: pick(random, ['lower', 'upper', 'lower', 'upper', 'both']),
});

/** From a codeword lost now and then to a link that can't hold. */
const harmfulBer = (random: Prng): number => logBetween(random, 1.1e-3, 4e-3);

function lostLanes(random: Prng, most: number) {
  const lanes = pick(random, [4, 8]);
  return { variant: 'lane-loss', lanes, lost: whole(random, 1, Math.max(1, Math.round(most * lanes) - 1)) };
}

export const LINK_FAULTS: readonly FaultEntry[] = [
  {
    ...down('admin'),
    weight: 1,
    targets: anyLink,
    parameters: (random) => ({ variant: 'admin', end: end(random) }),
  },
  { ...down('cut'), weight: 1, targets: anyLink, parameters: () => ({ variant: 'cut' }) },
  {
    ...down('flap'),
    weight: 1,
    targets: anyLink,
    parameters: (random) => ({
      variant: 'flap',
      downFor: `${Math.round(logBetween(random, 150, 3000))}ms`,
      upFor: `${Math.round(logBetween(random, 500, 5000))}ms`,
      jitter: between(random, 0, 0.6),
    }),
  },
  {
    ...down('cut'),
    name: 'link-down/nic',
    weight: 0.5,
    needs: { families: DUAL_PORT },
    targets: anyNic,
    parameters: () => ({ variant: 'cut' }),
  },
  {
    ...down('lag-member'),
    weight: 0.5,
    targets: anyLink,
    parameters: () => ({ variant: 'lag-member', how: 'cut' }),
  },
  {
    ...down('lag-member-one-way'),
    class: 'gray',
    weight: 0.7,
    targets: anyLink,
    parameters: (random) => ({ variant: 'lag-member', how: 'one-way', from: end(random) }),
  },
  ...['host', 'leaf', 'spine'].map((tier): FaultEntry => ({
    ...down('node'),
    name: `link-down/node-${tier}`,
    weight: 0.6,
    targets: oneDevice(tier),
    parameters: () => ({ variant: 'node' }),
  })),
  {
    ...slow('renegotiated'),
    name: 'speed-downgrade/renegotiated',
    weight: 1,
    targets: hostLink,
    parameters: (random, scene) => ({
      variant: 'renegotiated',
      rate: rateBelow(random, 10, scene.family === 'dual-tor-dual-plane' ? 200 : 400),
    }),
  },
  {
    ...slow('renegotiated'),
    name: 'speed-downgrade/renegotiated-uplink',
    weight: 0.6,
    targets: switchLink,
    parameters: (random) => ({ variant: 'renegotiated', rate: rateBelow(random, 10, 200) }),
  },
  {
    ...slow('lane-loss'),
    weight: 1,
    needs: { families: SINGLE_PORT, perUplink: 1 },
    targets: hostLink,
    parameters: (random) => lostLanes(random, 1),
  },
  {
    ...slow('switch'),
    weight: 0.5,
    targets: anySwitch,
    parameters: (random) => ({ variant: 'renegotiated', rate: rateBelow(random, 40, 200) }),
  },
  {
    ...slow('pcie'),
    weight: 1,
    needs: { families: SINGLE_PORT },
    targets: anyNic,
    parameters: (random) => pick(random, SLOTS),
  },
  {
    ...slow('pcie-host'),
    weight: 0.5,
    targets: oneDevice('host'),
    parameters: (random) => pick(random, SLOTS),
  },
  {
    kind: 'link-down',
    name: 'link-down/one-way',
    class: 'gray',
    weight: 2,
    targets: anyLink,
    parameters: (random) => ({ variant: 'one-way', from: end(random) }),
  },
  {
    ...bitErrors('constant'),
    weight: 1,
    parameters: (random) => ({ variant: 'constant', ber: harmfulBer(random), ...source(random) }),
  },
  {
    ...bitErrors('stepped'),
    weight: 0.6,
    parameters: (random) => ({
      variant: 'stepped',
      toBer: harmfulBer(random),
      steps: whole(random, 2, 8),
      ...source(random),
    }),
  },
  {
    ...bitErrors('ramped'),
    weight: 0.6,
    parameters: (random) => ({ variant: 'ramped', toBer: harmfulBer(random), ...source(random) }),
  },
];
