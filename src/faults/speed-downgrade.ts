/**
 * Fault kind `speed-downgrade`: a link, a NIC or a whole switch runs, but slower than it should.
 *
 * Three ways of it: a port negotiates a lower speed, a module loses some of its lanes, or a NIC's PCIe slot comes up
 * with an older generation or fewer lanes. The first two show in the port's speed, the last one does not: there the
 * NIC stalls on its host and pauses its switch (mlx5 counters.rst; Guo et al., SIGCOMM 2016, on slow receivers).
 * Useful PCIe rates follow Neugebauer et al., SIGCOMM 2018. Not modelled: the link-less moment of a renegotiation, and
 * a FEC mode mismatch, which is no slow link but a dead one.
 */
import { z } from 'zod';
import { InputError } from '../core/problem.js';
import { formatRateGbps, rateGbps } from '../core/units.js';
import type { ElementRef, Side } from '../model/telemetry/vocabulary.js';
import type { Link, Nic, Topology } from '../model/topology/model.js';
import type { Impairment } from '../fabric-api/impairment.js';
import type { CompiledFault, FaultContext, FaultKind, Symptom } from './fault.js';
import { elementTruth, linksOf, linkTruth, portsRateGbps, someNicsOf } from './parts.js';

const parametersSchema = z.discriminatedUnion('variant', [
  z.strictObject({
    variant: z.literal('renegotiated'),
    rate: rateGbps
      .refine((gbps) => gbps > 0, 'a link without any rate is down: use the kind link-down')
      .refine(
        (gbps) => gbps === 0 || gbps >= 1,
        'must be at least 1Gbps: ports of a fabric negotiate nothing slower',
      )
      .prefault('100Gbps')
      .describe('the lower speed that both ends agree on'),
  }),
  z
    .strictObject({
      variant: z.literal('lane-loss'),
      lost: z.int().min(1).default(1).describe('lanes that no longer carry anything'),
      lanes: z.int().min(2).max(16).default(4).describe('lanes of the module'),
    })
    .refine(({ lost, lanes }) => lost < lanes, {
      path: ['lost'],
      message: 'a link without any lane is down: use the kind link-down, or lose fewer lanes',
    }),
  z.strictObject({
    variant: z.literal('pcie'),
    generation: z.int().min(1).max(6).default(3).describe('PCIe generation that the slot came up with'),
    lanes: z
      .literal([1, 2, 4, 8, 16])
      .default(16)
      .describe('PCIe lanes that the slot came up with: 1, 2, 4, 8 or 16'),
  }),
]);

export type SpeedDowngradeParameters = z.output<typeof parametersSchema>;
type Variant = SpeedDowngradeParameters['variant'];

const VARIANTS: readonly Variant[] = ['renegotiated', 'lane-loss', 'pcie'];

/** Gbit/s a lane carries after line coding, by generation: 8b/10b, then 128b/130b, then flits of 236 in 256 bytes. */
const PCIE_LANE_GBPS = [2, 4, (8 * 128) / 130, (16 * 128) / 130, (32 * 128) / 130, (64 * 236) / 256];
/** Share left for payload: 256 bytes behind 24 of headers, and 8 % for flow control and acknowledgements. */
const PCIE_PAYLOAD_SHARE = (256 / (256 + 24)) * 0.92;

export const speedDowngrade: FaultKind<SpeedDowngradeParameters> = {
  name: 'speed-downgrade',
  summary: 'a link, NIC or switch runs slower than it should: renegotiated, lanes lost, or PCIe degraded',
  parameters: parametersSchema,
  targetTypes: ({ variant }) => (variant === 'pcie' ? ['nic', 'device'] : ['link', 'nic', 'device']),
  compile: (parameters, targets, context) => {
    const parts = targets.map((target) =>
      parameters.variant === 'pcie'
        ? slowHostSide(parameters, target, context)
        : slowLinks(parameters, target, context),
    );
    return {
      impairments: parts.flatMap((part) => part.impairments),
      truth: parts.flatMap((part) => part.truth),
    };
  },
  symptoms: ({ variant }) => symptomsOf(variant),
  allSymptoms: () => Object.fromEntries(VARIANTS.map((variant) => [variant, symptomsOf(variant)])),
  limits: [
    'acts on the links and NICs that its targets name, and on all links of a device',
    'never stops a link: the new rate is above zero and below the rated one',
    'always ends with every link and NIC at the speed it was found with',
  ],
  example: [
    '- kind: speed-downgrade',
    '  params: { variant: lane-loss, lost: 7, lanes: 8 }',
    '  target: { type: link, tier: host-leaf, usedBy: "*", mode: one, order: random }',
    '  at: 20s',
    '  duration: 20s',
  ].join('\n'),
};

function slowLinks(
  parameters: Exclude<SpeedDowngradeParameters, { variant: 'pcie' }>,
  target: ElementRef,
  context: FaultContext,
): CompiledFault {
  const { topology, durationNs } = context;
  const links = linksOf(target, topology);
  const side: Side = parameters.variant === 'lane-loss' ? 'cable' : 'unknown';
  return {
    impairments: links.map((link) => ({
      impairment: { type: 'link-rate', link: link.id, rateGbps: lowerRate(parameters, link) },
      atNs: 0,
      untilNs: durationNs,
    })),
    truth:
      target.type === 'device'
        ? [elementTruth(target, 'speed-downgrade', 'device', durationNs)]
        : links.map((link) => linkTruth(topology, link, 'speed-downgrade', side, durationNs)),
  };
}

function lowerRate(parameters: Exclude<SpeedDowngradeParameters, { variant: 'pcie' }>, link: Link): number {
  if (parameters.variant === 'lane-loss') {
    return (link.rateGbps * (parameters.lanes - parameters.lost)) / parameters.lanes;
  }
  if (parameters.rate < link.rateGbps) return parameters.rate;
  throw InputError.at(
    '/params/rate',
    `${formatRateGbps(parameters.rate)} is no downgrade of ${link.id}, which runs at ${formatRateGbps(link.rateGbps)}`,
    `give a rate below ${formatRateGbps(link.rateGbps)}, or lose lanes instead`,
  );
}

function slowHostSide(
  parameters: Extract<SpeedDowngradeParameters, { variant: 'pcie' }>,
  target: ElementRef,
  context: FaultContext,
): CompiledFault {
  const { topology, durationNs } = context;
  const nics = someNicsOf(target, topology);
  const impairments = nics.map((nic): Impairment => ({
    type: 'nic-host-rate',
    nic: `nic:${nic.name}`,
    rateGbps: pcieRate(parameters, nic, topology),
  }));
  return {
    impairments: impairments.map((impairment) => ({ impairment, atNs: 0, untilNs: durationNs })),
    truth: [elementTruth(target, 'speed-downgrade', 'host', durationNs)],
  };
}

/** Payload that a slot carries each way, Gbit/s. */
export function pciePayloadGbps(generation: number, lanes: number): number {
  return PCIE_LANE_GBPS[generation - 1] * lanes * PCIE_PAYLOAD_SHARE;
}

function pcieRate(
  { generation, lanes }: Extract<SpeedDowngradeParameters, { variant: 'pcie' }>,
  nic: Nic,
  topology: Topology,
): number {
  const payloadGbps = Number(pciePayloadGbps(generation, lanes).toPrecision(4));
  const portsGbps = portsRateGbps(nic, topology);
  if (payloadGbps < portsGbps) return payloadGbps;
  throw InputError.at(
    '/params/generation',
    `PCIe ${generation}.0 x${lanes} carries ${formatRateGbps(payloadGbps)}, no less than the ${formatRateGbps(portsGbps)} of ${nic.name}'s ports`,
    'choose an older generation or fewer lanes',
  );
}

const LOADED = 'mlx5 counters.rst, SONiC PORT table (speed), OpenConfig port-speed';
const STALLS = 'mlx5 counters.rst (outbound_pci_stalled_rd, _wr, tx_prio3_pause); Guo et al., SIGCOMM 2016';

function symptomsOf(variant: Variant): readonly Symptom[] {
  const slower: Symptom = {
    text: 'jobs that send over it take longer steps at lower bandwidth, since a collective is as fast as its slowest edge',
    metrics: ['job_step_time_s', 'job_busbw_gbytes_per_s'],
    citation: 'bandwidth bound of a ring: bytes / slowest link',
  };
  if (variant === 'pcie') {
    return [
      {
        text: 'the NIC waits for its host and pauses the port that feeds it, while all port speeds stay as they were',
        metrics: [
          'nic_pcie_read_stalled_ratio',
          'nic_pcie_write_stalled_ratio',
          'port_pause_tx_s',
          'port_pause_rx_s',
        ],
        citation: STALLS,
      },
      slower,
    ];
  }
  return [
    {
      text: 'both ends report a lower speed, without a single error or link-down event',
      metrics: ['port_rate_gbps'],
      citation: LOADED,
    },
    slower,
  ];
}
