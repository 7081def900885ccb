/**
 * Fault kind `pfc-misconfig`: a switch does not protect its lossless class as its peers do.
 *
 * Three mistakes that operators report: too little headroom for what is still under way when a pause is sent, so that a
 * lossless class drops; a share of the buffer (alpha) that is too small, so that pauses come far too early: 1/64
 * where 1/16 was meant gave 60 000 pauses in five minutes (Guo et al., SIGCOMM 2016, 6.2); and PFC switched off, so that
 * congestion drops. It shows where there is congestion and nowhere else.
 * Not modelled: PFC at one end of a link only, priorities that are mapped to the wrong class.
 */
import { z } from 'zod';
import { InputError } from '../core/problem.js';
import { formatSizeBytes, sizeBytes } from '../core/units.js';
import type { Device } from '../model/topology/model.js';
import type { CongestionDescription } from '../fabric-api/fabric.js';
import type { Impairment } from '../fabric-api/impairment.js';
import type { FaultKind, Symptom } from './fault.js';
import { requirePfc } from './class-limits.js';
import { misconfigured } from './parts.js';

const parametersSchema = z.discriminatedUnion('variant', [
  z.strictObject({
    variant: z.literal('headroom'),
    headroom: sizeBytes
      .prefault('4KiB')
      .describe('room per port and class for what is under way when a pause is sent'),
  }),
  z.strictObject({
    variant: z.literal('alpha'),
    alpha: z
      .number()
      .gt(0)
      .max(8)
      .default(1 / 64)
      .describe('share of the free buffer that a port may take before it pauses'),
  }),
  z.strictObject({ variant: z.literal('off') }),
]);

export type PfcMisconfigParameters = z.output<typeof parametersSchema>;

export const pfcMisconfig: FaultKind<PfcMisconfigParameters> = {
  name: 'pfc-misconfig',
  summary: 'a switch pauses too early, has no room for what is under way, or does not pause at all',
  parameters: parametersSchema,
  targetTypes: () => ['device'],
  compile: (parameters, targets, context) => {
    requirePfc('how a switch pauses', context.congestion);
    return misconfigured('pfc-misconfig', targets, context, (device) => {
      checkOutOfLine(parameters, device, context.congestion);
      return bufferOf(parameters, device);
    });
  },
  symptoms: ({ variant }) => symptomsOf(variant),
  allSymptoms: () => ({
    headroom: symptomsOf('headroom'),
    alpha: symptomsOf('alpha'),
    off: symptomsOf('off'),
  }),
  limits: [
    'acts on the buffers of the switches that its targets name; hosts have none',
    'shows only where queues build up; headroom and PFC itself only where DCQCN does not keep them short',
    'takes less headroom or alpha than the switch has, and is refused where PFC is off',
    'always ends with every switch set as it was found',
  ],
  example: [
    '- kind: pfc-misconfig',
    '  params: { variant: off }',
    '  target: { type: device, tier: leaf, usedBy: "*", mode: one, order: random }',
    '  at: 20s',
    '  duration: 20s',
  ].join('\n'),
};

/** @throws InputError when the switch would protect its classes no worse than it does */
function checkOutOfLine(
  parameters: PfcMisconfigParameters,
  device: Device,
  known: CongestionDescription | undefined,
): void {
  if (known === undefined || parameters.variant === 'off') return;
  const { bufferBytes, headroomBytes, freeShare } = known.ofSwitch(device.index);
  if (parameters.variant === 'alpha') {
    if (parameters.alpha < freeShare) return;
    throw InputError.at(
      '/params/alpha',
      `an alpha of ${parameters.alpha} lets device:${device.name} pause no earlier than it does: its alpha is ${freeShare}`,
      `give less than ${freeShare}`,
    );
  }
  const { headroom } = parameters;
  if (headroom < headroomBytes) return;
  const [given, usual, buffer] = [headroom, headroomBytes, bufferBytes].map(formatSizeBytes);
  throw InputError.at(
    '/params/headroom',
    headroom > bufferBytes
      ? `a headroom of ${given} is more than the whole buffer of device:${device.name} (${buffer})`
      : `a headroom of ${given} is not too little for device:${device.name}, which has ${usual}`,
    `give less than ${usual}`,
  );
}

function bufferOf(
  parameters: PfcMisconfigParameters,
  device: Device,
): Extract<Impairment, { type: 'pfc-buffer' }> {
  const buffer = { type: 'pfc-buffer', device: `device:${device.name}` } as const;
  switch (parameters.variant) {
    case 'headroom':
      return { ...buffer, pfc: true, headroomBytes: parameters.headroom };
    case 'alpha':
      return { ...buffer, pfc: true, freeShare: parameters.alpha };
    case 'off':
      return { ...buffer, pfc: false };
  }
}

const GUO = 'Guo et al., SIGCOMM 2016, 3 and 6.2';

function symptomsOf(variant: PfcMisconfigParameters['variant']): readonly Symptom[] {
  if (variant === 'alpha') {
    return [
      {
        text: 'the switch pauses those that feed it at queues that its peers carry without a pause',
        metrics: ['port_pause_tx_s', 'port_pause_tx_frames', 'port_pause_rx_s', 'port_pause_rx_frames'],
        citation: `${GUO}; SONiC SAI_PORT_STAT_PFC_3_TX_PKTS`,
      },
    ];
  }
  if (variant === 'headroom') {
    return [
      {
        text: 'packets of the lossless class are dropped as they arrive at the switch, although it pauses',
        metrics: ['port_rx_discards'],
        citation: `${GUO}; SONiC IF_IN_DISCARDS`,
      },
    ];
  }
  return [
    {
      text: 'packets of the lossless class are dropped at full queues of the switch, where its peers pause',
      metrics: ['port_tx_discards', 'queue_drop_packets'],
      citation: `${GUO}; SONiC IF_OUT_DISCARDS, SAI_QUEUE_STAT_DROPPED_PACKETS`,
    },
    {
      text: 'senders see sequence errors and go back to send again',
      metrics: ['nic_packet_sequence_errors', 'nic_out_of_sequence'],
      citation: 'mlx5 counters.rst (packet_seq_err, out_of_sequence)',
    },
  ];
}
