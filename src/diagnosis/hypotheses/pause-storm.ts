/**
 * A NIC that pauses its switch without end, whether data comes or not.
 *
 * A receive pipeline that hangs does this (Guo et al., SIGCOMM 2016, 6.2). The port that feeds the NIC stands, its queue
 * fills, and the pause spreads upstream to flows that never meet the NIC. Told from a slow receiver by its host, which
 * takes data without stalling, and by a pause that leaves no time to send; from congestion by who pauses: in congestion
 * a switch does, and no NIC. The watchdog of the switch acts on storms and hardly on anything else.
 * Not modelled: which part of the NIC it is.
 */
import type { Context } from '../series/context.js';
import { number } from '../series/change.js';
import { observeNicPauses } from '../features/queues/nic-pause.js';
import type { NicPause } from '../features/queues/nic-pause.js';
import { outcomeOf } from '../explanation.js';
import { since, until } from '../wording.js';
import type { Candidate } from '../candidate.js';
import type { Family } from './hypothesis.js';
import { receiverAt, nicRivals, nicSeries, nicSteps, pauseOf, spreadClause } from './receiver-account.js';

export const pauseStorm: Family = {
  hypotheses: ['pause-storm/host'],
  hypothesise: (context) => context.once(observeNicPauses).map((pause) => candidateOf(context, pause)),
  cause: (context, culprit) => {
    const most = number(100 * (pauseOf(context, culprit)?.mostShare ?? 0));
    return `paused its switch for up to ${most} % of the time from ${since(culprit)} ${until(context, culprit)}`;
  },
  reason: (context, culprit) => {
    const watchdog =
      outcomeOf(culprit, 'watchdog-acted') === 'present'
        ? ' The pause watchdog of the switch acted on it.'
        : '';
    return `Its host took data without stalling, so nothing made it pause: reset or replace the NIC; the links are fine.${watchdog}${spreadClause(context, culprit)}`;
  },
  series: nicSeries,
  steps: nicSteps,
  rivals: (context, observations, culprit) => [
    ...nicRivals(context, observations, culprit),
    ...(outcomeOf(culprit, 'pauses-while-host-keeps-up') === 'present'
      ? [
          {
            kind: 'slow-receiver' as const,
            element: culprit.element,
            why: 'it paused while its host took data without stalling',
          },
        ]
      : []),
  ],
};

function candidateOf(context: Context, pause: NicPause): Candidate {
  const { nic, during, onsetNs } = pause;
  return {
    ...receiverAt(context, nic, 'pause-storm/host', during),
    during: { fromNs: onsetNs ?? during.fromNs, toNs: during.toNs },
    onsetNs,
  };
}
