/**
 * Fault kind `link-down`: a link, or a device with all its links, stops carrying traffic.
 *
 * Variants follow what operators meet: a port shut down by hand, a fiber cut, a link that flaps, a direction that
 * loses everything while both ends still say up (Alibaba HPN, SIGCOMM'24, describes it for NIC-to-ToR links), members of
 * a LAG (parallel links, or one of the two ports of a dual-ToR NIC), and a dead leaf, spine or host. Not here: partial
 * loss, and line cards that keep hashing to a member that has left.
 */
import { z } from 'zod';
import { durationNs } from '../core/units.js';
import type { Prng } from '../core/prng.js';
import { portId } from '../core/elements.js';
import { InputError } from '../core/problem.js';
import { lagOf } from '../model/topology/lag.js';
import type { ElementRef } from '../model/telemetry/vocabulary.js';
import type { Link } from '../model/topology/model.js';
import type { TimedImpairment } from '../fabric-api/impairment.js';
import type { TruthEntry } from './ground-truth.js';
import type { CompiledFault, FaultContext, FaultKind, Symptom } from './fault.js';
import { elementTruth, endPort, linksOf, linkTruth, onAndOff } from './parts.js';

const endSchema = z.enum(['lower', 'upper']);

const parametersSchema = z.discriminatedUnion('variant', [
  z.strictObject({
    variant: z.literal('admin'),
    end: endSchema
      .default('upper')
      .describe('which end is shut down: the one nearer to the hosts (lower) or the other (upper)'),
  }),
  z.strictObject({ variant: z.literal('cut') }),
  z.strictObject({
    variant: z.literal('flap'),
    downFor: durationNs.prefault('500ms').describe('how long the link is down each time'),
    upFor: durationNs.prefault('2s').describe('how long it is up in between'),
    jitter: z.number().min(0).max(0.9).default(0.2).describe('relative spread of both times'),
  }),
  z.strictObject({
    variant: z.literal('one-way'),
    from: endSchema.default('lower').describe('the end whose transmissions are lost'),
  }),
  z
    .strictObject({
      variant: z.literal('lag-member'),
      how: z
        .enum(['cut', 'one-way'])
        .default('cut')
        .describe('whether the member goes down, or loses everything one way while both ends say up'),
      from: endSchema.default('lower').describe('with one-way: the end whose transmissions are lost'),
      members: z.int().min(1).max(63).default(1).describe('members that fail, the target first'),
    })
    .describe('some of the parallel links between two switches, or of the ports of one NIC'),
  z.strictObject({ variant: z.literal('node') }),
]);

export type LinkDownParameters = z.output<typeof parametersSchema>;

/** Most times a link may be taken down in one hold: every one is a change on a device and an entry to undo. */
const MOST_FLAPS = 500;

export const linkDown: FaultKind<LinkDownParameters> = {
  name: 'link-down',
  summary:
    'a link, LAG member, leaf, spine or host stops carrying traffic: shut down, cut, flapping, one way, or dead',
  parameters: parametersSchema,
  targetTypes: ({ variant }) =>
    variant === 'node' ? ['device'] : variant === 'lag-member' ? ['link'] : ['link', 'nic'],
  compile,
  symptoms: (parameters) => symptomsOf(parameters.variant),
  allSymptoms: () =>
    Object.fromEntries(
      parametersSchema.options.map((option) => {
        const variant = option.shape.variant.value;
        return [variant, symptomsOf(variant)];
      }),
    ),
  limits: [
    'acts on the links and devices named by its targets and on nothing else',
    `a flap takes a link down at most ${MOST_FLAPS} times in one hold`,
    'always ends with every link and device as it was found',
  ],
  example: [
    '- kind: link-down',
    '  params: { variant: cut }',
    '  target: { type: link, tier: leaf-spine, usedBy: "*", mode: one, order: random }',
    '  at: 20s',
    '  duration: 20s',
  ].join('\n'),
};

function compile(
  parameters: LinkDownParameters,
  targets: readonly ElementRef[],
  context: FaultContext,
): CompiledFault {
  if (parameters.variant === 'node') return compileNodes(targets, context.durationNs);
  if (parameters.variant === 'lag-member') return compileMembers(parameters, targets, context);
  const parts = targets.map((target) => {
    const links = linksOf(target, context.topology).map((link) => compileLink(parameters, link, context));
    // All cables of a NIC at once are one failure, the NIC's: nobody would look for it in two cables.
    const asOne = target.type === 'nic' && links.length > 1 && parameters.variant === 'cut';
    return {
      impairments: links.flatMap((link) => link.impairments),
      truth: asOne
        ? [elementTruth(target, 'link-down', 'host', context.durationNs)]
        : links.map((link) => link.truth),
    };
  });
  return {
    impairments: parts.flatMap((part) => part.impairments),
    truth: parts.flatMap((part) => part.truth),
  };
}

/** The target and as many of its siblings as asked for; somebody must be left to carry on. */
function compileMembers(
  { how, from, members }: Extract<LinkDownParameters, { variant: 'lag-member' }>,
  targets: readonly ElementRef[],
  context: FaultContext,
): CompiledFault {
  const { topology } = context;
  const failing = targets
    .flatMap((target) => linksOf(target, topology))
    .flatMap((link) => {
      const group = lagOf(topology, link.index);
      if (group.length === 1) {
        throw InputError.at(
          '/target',
          `${link.id} is no member of a LAG: there is no parallel link, and its NIC has no second port`,
          'select links of a fabric with linksPerSpine above 1 or NICs with two ports, or use the variant cut',
        );
      }
      if (members >= group.length) {
        throw InputError.at(
          '/params/members',
          `${members} of ${group.length} members leave none of the LAG of ${link.id}`,
          `at most ${group.length - 1}; for all of them use the variant cut with mode: all`,
        );
      }
      const siblings = group.filter((index) => index !== link.index).slice(0, members - 1);
      return [link, ...siblings.map((index) => topology.links[index])];
    });
  const one = how === 'cut' ? ({ variant: 'cut' } as const) : ({ variant: 'one-way', from } as const);
  const parts = [...new Set(failing)].map((link) => compileLink(one, link, context));
  return {
    impairments: parts.flatMap((part) => part.impairments),
    truth: parts.map((part) => part.truth),
  };
}

function compileNodes(targets: readonly ElementRef[], durationNs: number): CompiledFault {
  return {
    impairments: targets.map((target) => ({
      impairment: { type: 'node-down', device: target.id },
      atNs: 0,
      untilNs: durationNs,
    })),
    truth: targets.map((target) => elementTruth(target, 'node-down', 'device', durationNs)),
  };
}

function compileLink(
  parameters: Exclude<LinkDownParameters, { variant: 'node' | 'lag-member' }>,
  link: Link,
  context: FaultContext,
): { impairments: TimedImpairment[]; truth: TruthEntry } {
  const { topology, durationNs } = context;
  const whole = { atNs: 0, untilNs: durationNs };
  switch (parameters.variant) {
    case 'admin': {
      const port = portId(endPort(topology, link, parameters.end));
      return {
        impairments: [{ impairment: { type: 'link-admin-down', link: link.id, port }, ...whole }],
        truth: linkTruth(topology, link, 'link-down', 'configuration', durationNs),
      };
    }
    case 'cut':
      return {
        impairments: [{ impairment: { type: 'link-cut', link: link.id }, ...whole }],
        truth: linkTruth(topology, link, 'link-down', 'cable', durationNs),
      };
    case 'flap':
      return {
        impairments: flaps(parameters, link, durationNs, context.random.stream(link.id)),
        truth: linkTruth(topology, link, 'link-flap', 'cable', durationNs),
      };
    case 'one-way': {
      const fromPort = portId(endPort(topology, link, parameters.from));
      return {
        impairments: [{ impairment: { type: 'blackhole', link: link.id, fromPort }, ...whole }],
        truth: {
          ...linkTruth(topology, link, 'one-way-loss', 'unknown', durationNs),
          direction: fromPort as `port:${string}`,
        },
      };
    }
  }
}

function flaps(
  parameters: Extract<LinkDownParameters, { variant: 'flap' }>,
  link: Link,
  durationNs: number,
  random: Prng,
): TimedImpairment[] {
  const { downFor, upFor, jitter } = parameters;
  const limit = { most: MOST_FLAPS, pointer: '/params/upFor', what: 'the link would flap' };
  return onAndOff({ onNs: downFor, offNs: upFor, jitter }, durationNs, random, limit).map((time) => ({
    impairment: { type: 'link-cut', link: link.id },
    ...time,
  }));
}

const FAULTS_SEEN =
  'mlx5 counters.rst (link_down_events_phy), SONiC CMIS diagnostic monitoring design (rx LOS, rx power)';
const HPN = 'Alibaba HPN, SIGCOMM 2024';

function symptomsOf(variant: LinkDownParameters['variant']): Symptom[] {
  const down: Symptom = {
    text: 'both ends go down and count a link-down event; the other members of the group carry its share',
    metrics: ['port_oper_status', 'port_link_down_events', 'port_tx_bytes', 'route_port_prefixes'],
    citation: FAULTS_SEEN,
  };
  const dark: Symptom = {
    text: 'received light falls to the floor at both ends',
    metrics: ['optic_rx_power_dbm'],
    citation: FAULTS_SEEN,
  };
  switch (variant) {
    case 'admin':
      return [
        down,
        {
          text: 'one end is shut down by configuration',
          metrics: ['port_admin_status'],
          citation: FAULTS_SEEN,
        },
      ];
    case 'cut':
      return [down, dark];
    case 'flap':
      return [down];
    case 'one-way':
      return [
        {
          text: 'both ends say up, one of them sends what the other never receives; senders time out',
          metrics: [
            'port_tx_bytes',
            'port_rx_bytes',
            'nic_local_ack_timeouts',
            'nic_adaptive_retransmissions',
          ],
          citation: HPN,
        },
      ];
    case 'lag-member':
      return [
        {
          text: 'one member carries nothing while its siblings carry its share, and what they feed is slower by that share',
          metrics: ['port_tx_bytes', 'port_rx_bytes'],
          citation: `${HPN} (dual-ToR); IEEE 802.1AX, LACP timeouts of 3 s and 90 s`,
        },
      ];
    case 'node':
      return [
        {
          text: 'the device falls silent and every link to it goes down at its neighbours',
          metrics: ['device_reachable', 'port_oper_status', 'port_link_down_events'],
          citation: `${HPN}; ${FAULTS_SEEN}`,
        },
      ];
  }
}
