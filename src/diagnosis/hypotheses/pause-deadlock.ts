/**
 * Ports that wait for each other in a circle, so that none of them will ever send again.
 *
 * No NIC and no full queue is at the root of these pauses, which is what tells it from a storm and from congestion (Guo et
 * al., SIGCOMM 2016, 4.2). It outlives the traffic that made it: only a watchdog, or a port that is taken down, ends it.
 * Not modelled: which routes made the circle.
 */
import { elementRef, patternId, portId } from '../../core/elements.js';
import { seconds } from '../series/change.js';
import type { Context } from '../series/context.js';
import { observePauseLoops } from '../features/queues/pause-loops.js';
import { allQueues } from '../features/queues/queues.js';
import type { Explanation } from '../explanation.js';
import { listed, since, until } from '../wording.js';
import type { Family } from './hypothesis.js';

export const pauseDeadlock: Family = {
  hypotheses: ['pause-deadlock/configuration'],
  hypothesise: (context) =>
    context.once(observePauseLoops).map(({ ports, during }) => ({
      hypothesis: 'pause-deadlock/configuration',
      element: elementRef(patternId('pause-deadlock')),
      direction: 'both',
      covers: [`loop ${ports[0]}`],
      links: ports.map((port) => context.topology.ports[port].link),
      findings: [{ signature: 'pauses-in-a-circle', outcome: 'present' }],
      during,
      onsetNs: during.fromNs <= context.window.fromNs ? null : during.fromNs,
    })),
  cause: (context, culprit) => {
    const names = listed(portsOf(context, culprit).map((port) => context.portName(port)));
    return `holds ${names} in a circle from ${since(culprit)} ${until(context, culprit)}: each is paused by a switch that waits for the next`;
  },
  reason: () =>
    'No NIC and no busy queue is at its root, so it does not end by itself: take one of the ports down, and look for routes that turn up again after they went down.',
  series: (context, culprit) =>
    portsOf(context, culprit).flatMap((port) => [
      context.readPort('port_pause_rx_s', port),
      context.readPort('port_tx_bytes', port),
      ...allQueues(context, 'queue_depth_bytes', port),
    ]),
  steps: (context, culprit) =>
    portsOf(context, culprit).map((port) => ({
      element: elementRef(portId(context.portName(port))),
      claim: 'was paused all the time and sent nothing of what waited',
      onset_s: seconds(culprit.during.fromNs),
    })),
  rivals: (_, __, culprit) => [
    {
      kind: 'pause-storm',
      element: culprit.element,
      why: 'following the pauses from port to port leads to no NIC, but back to where they began',
    },
  ],
};

const portsOf = (context: Context, culprit: Explanation): readonly number[] =>
  context.once(observePauseLoops).find(({ ports }) => culprit.covers[0] === `loop ${ports[0]}`)?.ports ?? [];
