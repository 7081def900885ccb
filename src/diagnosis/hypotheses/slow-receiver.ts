/**
 * A NIC that takes packets slower than they come, because of its host, and pauses the switch that feeds it.
 *
 * Writes to memory stall (translation caches that miss, a busy memory controller) while reads do not, so that what it
 * sends is as fast as ever (Guo et al., SIGCOMM 2016, 4.4). A slot that came up slower stalls both ways and is a speed
 * downgrade. Looks like incast from upstream: there the receiver's NIC sends no pause.
 * Not modelled: which of the causes inside the host it is.
 */
import type { Context } from '../series/context.js';
import { observeHostSides } from '../features/jobs/host-side.js';
import type { HostSideObservation } from '../features/jobs/host-side.js';
import { number } from '../series/change.js';
import { samplesWithin } from '../series/samples.js';
import { outcomeOf } from '../explanation.js';
import { since, until } from '../wording.js';
import type { Candidate } from '../candidate.js';
import type { Family } from './hypothesis.js';
import { receiverAt, nicRivals, nicSeries, nicSteps, spreadClause } from './receiver-account.js';

export const slowReceiver: Family = {
  hypotheses: ['slow-receiver/host'],
  hypothesise: (context) => context.once(observeHostSides).flatMap((side) => candidateOf(context, side)),
  cause: (context, culprit) => {
    const stalls = samplesWithin(
      context.read('nic_pcie_write_stalled_ratio', culprit.element.id),
      culprit.during,
    ).map(({ value }) => value);
    const most = number(100 * Math.max(0, ...stalls));
    return `took data too slowly from ${since(culprit)} ${until(context, culprit)}, waiting for its host in up to ${most} % of the time`;
  },
  reason: (context, culprit) => {
    const pauses =
      outcomeOf(culprit, 'nic-pauses') === 'present' ? ' It paused the switch that feeds it.' : '';
    return `Only writes to its host stalled, what it sent was as fast as ever: look at the host's memory and IOMMU, not at the network.${pauses}${spreadClause(context, culprit)}`;
  },
  series: nicSeries,
  steps: nicSteps,
  rivals: nicRivals,
};

function candidateOf(context: Context, { nic, during, stalled }: HostSideObservation): Candidate[] {
  const writes = stalled.nic_pcie_write_stalled_ratio;
  if (during === null || writes === null || writes.length === 0) return [];
  const fromStart = writes[0].fromNs <= context.window.fromNs;
  return [
    {
      ...receiverAt(context, nic, 'slow-receiver/host', during),
      onsetNs: fromStart ? null : (writes[0].fromNs + writes[0].toNs) / 2,
    },
  ];
}
