/**
 * Fault kind `optic-error`: bits go wrong on a link, in one direction or both, and FEC saves as many as it can.
 *
 * A dirty connector, a dying laser or a bad electrical half raise the bit-error ratio before FEC; RS(544,514) hides it
 * until it is a cliff: below 3e-4 nothing is lost, at 1e-3 every thousandth packet, a little above that the link drops.
 * Lost packets cost go-back-N a round trip each. Order of onset and the optical figures per cause: SONiC CMIS design,
 * CorrOpt (Zhuo et al., SIGCOMM 2017), which also found corruption to be steady and blind to load.
 * Not modelled: bursts, errors that come and go with temperature or vibration.
 */
import { z } from 'zod';
import { InputError } from '../core/problem.js';
import { portId } from '../core/elements.js';
import { codewordErrorRatio } from '../model/telemetry/fec.js';
import type { Direction, Side } from '../model/telemetry/vocabulary.js';
import type { Link, Topology } from '../model/topology/model.js';
import type { TimedImpairment } from '../fabric-api/impairment.js';
import type { TruthEntry } from './ground-truth.js';
import type { CompiledFault, FaultContext, FaultKind, Symptom } from './fault.js';
import { endPort, linksOf, linkTruth } from './parts.js';

/** What links have when nothing is wrong with them. */
const HEALTHY_MOST = 1e-9;

const ratio = z
  .number()
  .gt(
    HEALTHY_MOST,
    `a healthy link errs as often as that: a bit-error ratio above ${HEALTHY_MOST} is an error`,
  )
  .max(0.5, 'at a bit-error ratio of 0.5 nothing is left of a signal; it can not be higher');

const common = {
  cause: z
    .enum(['connector', 'laser', 'serdes'])
    .default('connector')
    .describe('dirty or bent fiber; a laser that fails; the electrical half of the sending port'),
  from: z
    .enum(['lower', 'upper', 'both'])
    .default('lower')
    .describe('whose transmissions err: of the end nearer to the hosts, of the other, or of both'),
  badLanes: z.int().min(1).optional().describe('lanes that err; all of them when left out'),
  lanes: z.int().min(1).max(16).default(4).describe('lanes of the module'),
};

const worsening = {
  fromBer: ratio.default(1e-6).describe('bit-error ratio before FEC in the beginning'),
  toBer: ratio.default(1.2e-3).describe('bit-error ratio before FEC in the end'),
};

const lanesFit = ({ badLanes, lanes }: { badLanes?: number; lanes: number }): boolean =>
  badLanes === undefined || badLanes <= lanes;
const lanesIssue = { path: ['badLanes'], message: 'more lanes err than the module has' };
const worsens = ({ fromBer, toBer }: { fromBer: number; toBer: number }): boolean => toBer > fromBer;
const worsensIssue = { path: ['toBer'], message: 'must be above fromBer: errors grow' };

const parametersSchema = z.discriminatedUnion('variant', [
  z
    .strictObject({
      variant: z.literal('constant'),
      ber: ratio.default(1.1e-3).describe('bit-error ratio before FEC, on the lanes that err'),
      ...common,
    })
    .refine(lanesFit, lanesIssue),
  z
    .strictObject({
      variant: z.literal('stepped'),
      ...worsening,
      steps: z.int().min(2).max(100).default(4).describe('levels, each as long as the others'),
      ...common,
    })
    .refine(lanesFit, lanesIssue)
    .refine(worsens, worsensIssue),
  z
    .strictObject({ variant: z.literal('ramped'), ...worsening, ...common })
    .refine(lanesFit, lanesIssue)
    .refine(worsens, worsensIssue),
]);

export type OpticErrorParameters = z.output<typeof parametersSchema>;
type Variant = OpticErrorParameters['variant'];

/** A ramp is a staircase of so many steps, even in the logarithm of the ratio. */
const RAMP_STEPS = 50;
const VARIANTS: readonly Variant[] = ['constant', 'stepped', 'ramped'];

export const opticError: FaultKind<OpticErrorParameters> = {
  name: 'optic-error',
  summary:
    'bit errors on a link, constant, in steps or growing, through FEC: from clean to lost packets to flaps',
  parameters: parametersSchema,
  targetTypes: () => ['link', 'nic'],
  compile: (parameters, targets, context) => {
    const links = targets.flatMap((target) => linksOf(target, context.topology));
    const parts = links.map((link) => compileLink(parameters, link, context));
    return {
      impairments: parts.flatMap((part) => part.impairments),
      truth: parts.flatMap((part) => part.truth),
    };
  },
  symptoms: symptomsOf,
  allSymptoms: () =>
    Object.fromEntries(VARIANTS.map((variant) => [variant, symptomsOf(parametersSchema.parse({ variant }))])),
  limits: [
    'acts on the signal of the links that its targets name, in the directions asked for',
    'bit-error ratios lie above 1e-9, which is healthy, and at most at 0.5, where nothing is left of a signal',
    'always ends with the signal it began with',
  ],
  example: [
    '- kind: optic-error',
    '  params: { variant: constant, ber: 0.0011, cause: connector }',
    '  target: { type: link, tier: host-leaf, usedBy: "*", mode: one, order: random }',
    '  at: 20s',
    '  duration: 20s',
  ].join('\n'),
};

function compileLink(parameters: OpticErrorParameters, link: Link, context: FaultContext): CompiledFault {
  const { topology, durationNs } = context;
  const ends = parameters.from === 'both' ? (['lower', 'upper'] as const) : [parameters.from];
  const [first, ...laterLevels] = levelsOf(parameters, durationNs);
  return {
    impairments: ends.map((end): TimedImpairment => ({
      impairment: {
        type: 'bit-errors',
        link: link.id,
        fromPort: portId(endPort(topology, link, end)),
        bitErrorRatio: first.bitErrorRatio,
        laneShare: laneShareOf(parameters),
        cause: parameters.cause,
        ...(laterLevels.length === 0 ? {} : { laterLevels }),
      },
      atNs: 0,
      untilNs: durationNs,
    })),
    truth: [truthOf(parameters, link, topology, durationNs)],
  };
}

function levelsOf(
  parameters: OpticErrorParameters,
  durationNs: number,
): { afterNs: number; bitErrorRatio: number }[] {
  if (parameters.variant === 'constant') return [{ afterNs: 0, bitErrorRatio: parameters.ber }];
  const { fromBer, toBer } = parameters;
  const steps = parameters.variant === 'stepped' ? parameters.steps : RAMP_STEPS;
  if (durationNs < steps * 1e6) {
    throw InputError.at('/duration', `${steps} levels of bit errors do not fit`, 'hold the fault longer');
  }
  return Array.from({ length: steps }, (_, step) => ({
    afterNs: Math.round((durationNs * step) / steps),
    bitErrorRatio: fromBer * (toBer / fromBer) ** (step / (steps - 1)),
  }));
}

const laneShareOf = ({ badLanes, lanes }: OpticErrorParameters): number => (badLanes ?? lanes) / lanes;

function truthOf(
  parameters: OpticErrorParameters,
  link: Link,
  topology: Topology,
  durationNs: number,
): TruthEntry {
  const { cause, from } = parameters;
  const sender = from === 'both' ? undefined : endPort(topology, link, from);
  const direction: Direction = sender === undefined ? 'both' : `port:${sender}`;
  return {
    ...linkTruth(topology, link, 'optic-error', sideOf(cause, sender, topology), durationNs),
    direction,
  };
}

/** A connector belongs to the cable, a laser and a SerDes to the device that sends. */
function sideOf(cause: OpticErrorParameters['cause'], sender: string | undefined, topology: Topology): Side {
  if (cause === 'connector') return 'cable';
  const port = topology.ports.find(({ name }) => name === sender);
  return port === undefined ? 'unknown' : topology.devices[port.device].role;
}

const LIGHT: Record<OpticErrorParameters['cause'], readonly Symptom[]> = {
  connector: [
    {
      text: 'less light arrives, although the other end launches as much as ever',
      metrics: ['optic_rx_power_dbm'],
      citation: 'SONiC CMIS diagnostic monitoring design (rx power of the receiver, tx power of its peer)',
    },
  ],
  laser: [
    {
      text: 'the sender launches less light at a higher current and gets warmer, so less of it arrives',
      metrics: ['optic_rx_power_dbm', 'optic_tx_power_dbm', 'optic_bias_ma', 'optic_temperature_c'],
      citation: 'SONiC CMIS diagnostic monitoring design (tx power, bias, temperature)',
    },
  ],
  serdes: [],
};

const CORRECTED: Symptom = {
  text: 'far more bits are corrected than on a healthy link',
  metrics: ['port_fec_pre_ber', 'port_fec_corrected_codewords', 'port_fec_symbol_errors'],
  citation: 'IEEE 802.3 clause 119, RS(544,514); SONiC FEC BER design',
};

const LOST: readonly Symptom[] = [
  {
    text: 'some codewords can not be corrected, and frames in them are dropped as damaged',
    metrics: ['port_fec_uncorrected_codewords', 'port_rx_errors'],
    citation: 'SONiC FEC FLR design; mlx5 counters.rst (rx_crc_errors_phy)',
  },
  {
    text: 'senders hear of gaps and go back, receivers see packets out of order',
    metrics: ['nic_packet_sequence_errors', 'nic_out_of_sequence'],
    citation: 'mlx5 counters.rst (packet_seq_err, out_of_sequence)',
  },
];

/** Fewer lost codewords than this share of all are too few for anyone to see a job's packets among them. */
const SEEN_FROM = 1e-6;

function symptomsOf(parameters: OpticErrorParameters): readonly Symptom[] {
  const worst = parameters.variant === 'constant' ? parameters.ber : parameters.toBer;
  const loses = codewordErrorRatio(worst * laneShareOf(parameters)) >= SEEN_FROM;
  return [...LIGHT[parameters.cause], CORRECTED, ...(loses ? LOST : [])];
}
