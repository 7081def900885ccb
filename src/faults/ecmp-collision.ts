/**
 * Fault kind `ecmp-collision`: flows meet on one of several equal links while the others idle.
 *
 * Two ways of it. Polarised: switches of two tiers hash with one seed, so that the upper tier sees only flows that have
 * hashed alike below and sends them all to the same of its links. Low entropy: fewer flows than it takes for a hash
 * to spread them, so that two large ones share a link that each of them fills (Gangidi et al., RoCE at Meta, SIGCOMM
 * 2024: over 30 % slower jobs until there were more QPs to hash). No link, port or host is broken.
 * Not modelled: weighted members, packet spraying, and a job that is told to use fewer QPs.
 */
import { z } from 'zod';
import { deviceId, linkId, portId } from '../core/elements.js';
import { InputError } from '../core/problem.js';
import type { ElementRef } from '../model/telemetry/vocabulary.js';
import { peerPort, type Device, type Topology } from '../model/topology/model.js';
import type { CompiledFault, FaultContext, FaultKind, Symptom } from './fault.js';
import { requireClass } from './class-limits.js';
import { followersOf } from './ecmp-polarisation.js';
import { collidingFlows, uplinksOf } from './ecmp-low-entropy.js';
import { switchOf } from './parts.js';

const parametersSchema = z.discriminatedUnion('variant', [
  z.strictObject({
    variant: z.literal('polarised'),
    seed: z.int().min(0).max(0xffffffff).default(0).describe('hash seed that all these switches get'),
  }),
  z.strictObject({
    variant: z.literal('low-entropy'),
    flows: z
      .int()
      .min(2)
      .max(4096)
      .optional()
      .describe('large flows of one QP each; one more than the switch has uplinks when left out'),
    priority: z.int().min(0).max(7).default(3).describe('their traffic class'),
  }),
]);

export type EcmpCollisionParameters = z.output<typeof parametersSchema>;

export const ecmpCollision: FaultKind<EcmpCollisionParameters> = {
  name: 'ecmp-collision',
  summary:
    'flows share one of several equal links: hash seeds that are alike, or a few flows that are too large',
  parameters: parametersSchema,
  targetTypes: () => ['device'],
  compile: (parameters, targets, context) =>
    parameters.variant === 'polarised'
      ? polarise(parameters.seed, targets, context)
      : collide(parameters, targets, context),
  symptoms: ({ variant }) => symptomsOf(variant),
  allSymptoms: () => ({ polarised: symptomsOf('polarised'), 'low-entropy': symptomsOf('low-entropy') }),
  limits: [
    'polarised acts on the switches among its targets; hosts among them are passed over, since they keep their hash',
    'polarised is refused where equal seeds change nothing: where no two of the switches choose one after the other',
    'low-entropy takes more flows than a switch has uplinks, and no more in all than the uplinks could carry if they were spread evenly',
    'always ends with every seed as it was found and every flow stopped',
  ],
  example: [
    '- kind: ecmp-collision',
    '  params: { variant: low-entropy }',
    '  target: { type: device, tier: leaf, usedBy: "*", mode: one, order: random }',
    '  at: 20s',
    '  duration: 20s',
  ].join('\n'),
};

function polarise(seed: number, targets: readonly ElementRef[], context: FaultContext): CompiledFault {
  const { topology, durationNs } = context;
  const named = new Set(targets.map(({ id }) => id));
  const switches = topology.devices.filter(
    ({ role, name }) => role === 'switch' && named.has(deviceId(name)),
  );
  const followers = followersOf(switches, topology);
  if (followers.length === 0) throw nothingPolarises(switches, topology);
  return {
    impairments: switches.map((device) => ({
      impairment: { type: 'hash-seed', device: deviceId(device.name), seed },
      atNs: 0,
      untilNs: durationNs,
    })),
    truth: [
      {
        kind: 'ecmp-collision',
        elements: [
          { type: 'pattern', id: 'pattern:ecmp-collision' },
          ...followers.map(({ name }): ElementRef => ({ type: 'device', id: deviceId(name) })),
        ],
        side: 'configuration',
        direction: 'both',
        fromNs: 0,
        toNs: durationNs,
      },
    ],
  };
}

function nothingPolarises(switches: readonly Device[], topology: Topology): InputError {
  const tiers = new Set(topology.devices.flatMap(({ role, tier }) => (role === 'switch' ? [tier] : [])));
  const why =
    tiers.size < 3
      ? `this fabric has ${tiers.size === 1 ? 'one tier' : 'two tiers'} of switches, so a packet is hashed once on its way up`
      : 'among the targets no switch chooses behind another in a way that its first choice decides the second';
  return InputError.at(
    '/target',
    `equal hash seeds on ${switches.length} ${switches.length === 1 ? 'switch' : 'switches'} polarise nothing: ${why}`,
    tiers.size < 3
      ? 'take a fabric of three tiers, such as a fat-tree, or the variant low-entropy'
      : 'target all switches: { type: device, mode: all }',
  );
}

function collide(
  parameters: Extract<EcmpCollisionParameters, { variant: 'low-entropy' }>,
  targets: readonly ElementRef[],
  context: FaultContext,
): CompiledFault {
  const { topology, durationNs } = context;
  requireClass(parameters.priority, context.congestion);
  const parts = targets.map((target) => {
    const leaf = switchOf(target, topology);
    const random = context.random.stream(leaf.name);
    const tag = random.next32().toString(16);
    const flows = collidingFlows(leaf, parameters.flows, topology, random);
    const uplinks = uplinksOf(leaf, topology).map((port) => [port, peerPort(topology, port)]);
    const portName = (port: number): string => topology.ports[port].name;
    const patterns = ['pattern:ecmp-collision', 'pattern:low-entropy'];
    const elements: ElementRef[] = [
      ...patterns.map((id): ElementRef => ({ type: 'pattern', id })),
      { type: 'device', id: deviceId(leaf.name) },
      ...uplinks.flatMap(([own, peer]): ElementRef[] => [
        { type: 'link', id: linkId(portName(own), portName(peer)) },
        { type: 'port', id: portId(portName(own)) },
      ]),
    ];
    return {
      impairments: flows.map((flow, ordinal) => ({
        impairment: {
          type: 'traffic' as const,
          name: `elephant-${tag}-${ordinal}`,
          ...flow,
          priority: parameters.priority,
          queuePairs: 1,
        },
        atNs: 0,
        untilNs: durationNs,
      })),
      truth: {
        kind: 'ecmp-collision' as const,
        elements,
        side: 'unknown' as const,
        direction: 'both' as const,
        fromNs: 0,
        toNs: durationNs,
      },
    };
  });
  return {
    impairments: parts.flatMap((part) => part.impairments),
    truth: parts.map((part) => part.truth),
  };
}

const META = 'Gangidi et al., SIGCOMM 2024 (RoCE at Meta)';

function symptomsOf(variant: EcmpCollisionParameters['variant']): readonly Symptom[] {
  return [
    {
      text:
        variant === 'polarised'
          ? 'at the upper tier one uplink of each switch is full and marks while its siblings idle'
          : 'one uplink of the switch is full and marks while its siblings have room',
      metrics: ['port_tx_bytes', 'queue_tx_bytes', 'queue_ecn_marked_packets', 'queue_depth_max_bytes'],
      citation: `${META}; OpenConfig interface counters`,
    },
    {
      text: 'jobs whose flows cross it take longer steps at lower bandwidth, with no error and no port slower or down',
      metrics: ['job_step_time_s', 'job_busbw_gbytes_per_s'],
      citation: META,
    },
  ];
}
