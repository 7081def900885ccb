/**
 * Fault kind `slow-receiver`: a NIC takes packets from the fabric slower than its ports deliver them.
 *
 * Its host is the cause: writes into memory that miss in the NIC's or the IOMMU's translation caches, a memory
 * controller that is busy, a PCIe path that is shared. What it sends is as fast as ever. The NIC pauses the switch port
 * that feeds it, and the pause spreads upstream to flows that have nothing to do with it (Guo et al., SIGCOMM 2016,
 * section 4.4). A slot that came up slower hurts both ways and is the kind `speed-downgrade`.
 * Not modelled: which of these causes it is, since no counter here would tell them apart.
 */
import { z } from 'zod';
import { InputError } from '../core/problem.js';
import { formatRateGbps, rateGbps } from '../core/units.js';
import type { ElementRef } from '../model/telemetry/vocabulary.js';
import type { Nic, Topology } from '../model/topology/model.js';
import type { FaultKind, Symptom } from './fault.js';
import { nicNames, portsRateGbps, someNicsOf } from './parts.js';

const parametersSchema = z.discriminatedUnion('variant', [
  z.strictObject({
    variant: z.literal('share'),
    share: z
      .number()
      .gt(0)
      .lt(1)
      .default(0.25)
      .describe('what the NIC still takes, as a share of the speed of its ports'),
  }),
  z.strictObject({
    variant: z.literal('rate'),
    rate: rateGbps
      .refine((gbps) => gbps > 0, 'a NIC that takes nothing is no slow receiver: use the kind pause-storm')
      .refine((gbps) => gbps === 0 || gbps >= 0.1, 'must be at least 100Mbps: what takes less has stopped')
      .prefault('50Gbps')
      .describe('what the NIC still takes'),
  }),
]);

export type SlowReceiverParameters = z.output<typeof parametersSchema>;

const SYMPTOMS: readonly Symptom[] = [
  {
    text: 'the NIC stalls on writes to its host and pauses the switch port that feeds it; it counts no loss, and its ports keep their speed',
    metrics: ['nic_pcie_write_stalled_ratio', 'port_pause_tx_s', 'port_pause_rx_s'],
    citation: 'Guo et al., SIGCOMM 2016, 4.4; mlx5 counters.rst (outbound_pci_stalled_wr, tx_prio3_pause)',
  },
  {
    text: 'jobs that send to it take longer steps, since a collective is as fast as its slowest edge',
    metrics: ['job_step_time_s', 'job_busbw_gbytes_per_s'],
    citation: 'bandwidth bound of a ring: bytes / slowest edge',
  },
];

export const slowReceiver: FaultKind<SlowReceiverParameters> = {
  name: 'slow-receiver',
  summary:
    'a NIC takes packets slower than its link delivers them, because of its host, and pauses its switch',
  parameters: parametersSchema,
  targetTypes: () => ['nic', 'device'],
  compile: (parameters, targets, { topology, durationNs }) => {
    const nics = targets.flatMap((target: ElementRef) => someNicsOf(target, topology));
    return {
      impairments: nics.map((nic) => ({
        impairment: {
          type: 'nic-host-rate',
          nic: `nic:${nic.name}`,
          rateGbps: receiveRate(parameters, nic, topology),
          way: 'receive',
        },
        atNs: 0,
        untilNs: durationNs,
      })),
      truth: nics.map((nic) => ({
        kind: 'slow-receiver',
        elements: nicNames(nic, topology),
        side: 'host',
        direction: 'both',
        fromNs: 0,
        toNs: durationNs,
      })),
    };
  },
  symptoms: () => SYMPTOMS,
  allSymptoms: () => ({ share: SYMPTOMS, rate: SYMPTOMS }),
  limits: [
    'acts on the NICs that its targets name, or on all NICs of a host, and only on what they receive',
    'never stops a NIC: the rate is above zero and below that of its ports',
    'always ends with every NIC as fast as it was found',
  ],
  example: [
    '- kind: slow-receiver',
    '  params: { variant: share, share: 0.2 }',
    '  target: { type: nic, usedBy: "*", mode: one, order: random }',
    '  at: 20s',
    '  duration: 20s',
  ].join('\n'),
};

function receiveRate(parameters: SlowReceiverParameters, nic: Nic, topology: Topology): number {
  const portsGbps = portsRateGbps(nic, topology);
  if (parameters.variant === 'share') return Number((portsGbps * parameters.share).toPrecision(6));
  if (parameters.rate < portsGbps) return parameters.rate;
  throw InputError.at(
    '/params/rate',
    `${formatRateGbps(parameters.rate)} is not slow for ${nic.name}, whose ports carry ${formatRateGbps(portsGbps)}`,
    `give a rate below ${formatRateGbps(portsGbps)}, or a share`,
  );
}
