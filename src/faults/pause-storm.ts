/**
 * Fault kind `pause-storm`: a NIC sends PFC pause without end, whether packets come or not.
 *
 * A receive pipeline that hangs in firmware or hardware does this. The switch port that feeds it stops, its queue fills,
 * and the pause spreads hop by hop to hosts that never talk to the NIC: at Microsoft one server with more than 2000
 * pauses a second made half of a customer's servers unhealthy (Guo et al., SIGCOMM 2016, section 6.2). A switch with a
 * PFC watchdog gives up on the queue after its detection time and restores it after the storm and its restoration time.
 * Not modelled: a watchdog in the NIC itself.
 */
import { z } from 'zod';
import { durationNs } from '../core/units.js';
import type { Nic } from '../model/topology/model.js';
import type { TimedImpairment } from '../fabric-api/impairment.js';
import type { FaultContext, FaultKind, Symptom } from './fault.js';
import { requireLossless } from './class-limits.js';
import { nicNames, onAndOff, someNicsOf } from './parts.js';

const priority = z.int().min(0).max(7).default(3).describe('the traffic class that is paused');

const parametersSchema = z.discriminatedUnion('variant', [
  z.strictObject({ variant: z.literal('continuous'), priority }),
  z.strictObject({
    variant: z.literal('intermittent'),
    priority,
    stormFor: durationNs.prefault('400ms').describe('how long each storm lasts'),
    quietFor: durationNs.prefault('3s').describe('how long it is quiet in between'),
    jitter: z.number().min(0).max(0.9).default(0.2).describe('relative spread of both times'),
  }),
]);

export type PauseStormParameters = z.output<typeof parametersSchema>;

/** Most storms in one hold: every one is a change and an entry to undo. */
const MOST_STORMS = 500;

const GUO = 'Guo et al., SIGCOMM 2016, 4.3 and 6.2';
const SYMPTOMS: readonly Symptom[] = [
  {
    text: 'the switch port that feeds the NIC is paused all the time, although hardly a packet gets through to the NIC',
    metrics: ['port_pause_rx_s', 'port_pause_rx_frames', 'port_pause_tx_s', 'port_pause_tx_frames'],
    citation: `${GUO}; mlx5 counters.rst (tx_prio3_pause), SONiC SAI_PORT_STAT_PFC_3_RX_PKTS`,
  },
  {
    text: 'the watchdog of that switch port detects a storm and restores the queue after it',
    metrics: ['queue_watchdog_detected', 'queue_watchdog_restored'],
    citation: 'SONiC PFC watchdog (PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED, _RESTORED)',
  },
  {
    text: 'jobs with a rank behind the NIC stand still',
    metrics: ['edge_tx_bytes'],
    citation: GUO,
  },
];

export const pauseStorm: FaultKind<PauseStormParameters> = {
  name: 'pause-storm',
  summary: 'a NIC pauses its switch without end, with or without traffic, and the pause spreads upstream',
  parameters: parametersSchema,
  targetTypes: () => ['nic', 'device'],
  compile: (parameters, targets, context) => {
    const { topology } = context;
    requireLossless(parameters.priority, context.congestion);
    const nics = targets.flatMap((target) => someNicsOf(target, topology));
    return {
      impairments: nics.flatMap((nic) => stormsOf(parameters, nic, context)),
      truth: nics.map((nic) => ({
        kind: 'pause-storm',
        elements: [...nicNames(nic, topology), { type: 'pattern', id: 'pattern:pause-storm' }],
        side: 'host',
        direction: 'both',
        fromNs: 0,
        toNs: context.durationNs,
      })),
    };
  },
  symptoms: () => SYMPTOMS,
  allSymptoms: () => ({ continuous: SYMPTOMS, intermittent: SYMPTOMS }),
  limits: [
    'acts on the NICs that its targets name, or on all NICs of a host, and on one traffic class',
    'is refused where PFC is off, or the class is none that it pauses',
    `a NIC storms at most ${MOST_STORMS} times in one hold`,
    'always ends with every NIC pausing only as it needs to; what the storm did to jobs may stay',
  ],
  example: [
    '- kind: pause-storm',
    '  params: { variant: continuous }',
    '  target: { type: nic, usedBy: "*", mode: one, order: random }',
    '  at: 20s',
    '  duration: 2s',
  ].join('\n'),
};

function stormsOf(parameters: PauseStormParameters, nic: Nic, context: FaultContext): TimedImpairment[] {
  const { durationNs: holdNs, random } = context;
  const times =
    parameters.variant === 'continuous'
      ? [{ atNs: 0, untilNs: holdNs }]
      : onAndOff(
          { onNs: parameters.stormFor, offNs: parameters.quietFor, jitter: parameters.jitter },
          holdNs,
          random.stream(nic.name),
          { most: MOST_STORMS, pointer: '/params/quietFor', what: 'the NIC would storm' },
        );
  return times.map((time) => ({
    impairment: { type: 'pause-storm', nic: `nic:${nic.name}`, priority: parameters.priority },
    ...time,
  }));
}
