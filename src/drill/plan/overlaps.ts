/**
 * Faults that act on one thing at one time: what a reader of the plan should know before they are injected.
 *
 * On one setting the worse of two holds, and the other shows only where it lasts longer; on two settings of one link
 * the graver hides the lighter (nobody sees bit errors on a link that is down). Either way the drill is no trial of
 * the hidden one for as long as both hold, and no diagnosis could name it.
 */
import { elementName } from '../../core/elements.js';
import { formatDurationNs } from '../../core/units.js';
import { impairedElement } from '../../fabric-api/impairment.js';
import type { Topology } from '../../model/topology/model.js';
import { portsOfElement } from '../../scoring/measures/fault-elements.js';
import type { PlannedFault, PlannedImpairment } from './planned.js';

/** One sentence for each pair of faults and element that they share. */
export function overlapNotes(faults: readonly PlannedFault[], topology: Topology): string[] {
  const notes = new Set<string>();
  faults.forEach((one, index) => {
    for (const other of faults.slice(index + 1)) {
      for (const a of one.impairments) {
        for (const b of other.impairments) {
          const fromNs = Math.max(a.atNs, b.atNs);
          const toNs = Math.min(a.untilNs, b.untilNs);
          if (fromNs >= toNs || !meet(a, b, topology)) continue;
          const name = elementName(impairedElement(narrower(a, b, topology).impairment));
          const when = `${formatDurationNs(fromNs)} to ${formatDurationNs(toNs)}`;
          notes.add(
            `${one.name} and ${other.name} both act on ${name} from ${when}: while both hold the worse one shows and hides the other`,
          );
        }
      }
    }
  });
  return [...notes];
}

const portsOf = ({ impairment }: PlannedImpairment, topology: Topology): number[] =>
  portsOfElement(topology, impairedElement(impairment));

function meet(a: PlannedImpairment, b: PlannedImpairment, topology: Topology): boolean {
  if (impairedElement(a.impairment) === impairedElement(b.impairment)) return true;
  const links = new Set(portsOf(a, topology).map((port) => topology.ports[port].link));
  return portsOf(b, topology).some((port) => links.has(topology.ports[port].link));
}

const narrower = (a: PlannedImpairment, b: PlannedImpairment, topology: Topology): PlannedImpairment =>
  portsOf(b, topology).length < portsOf(a, topology).length ? b : a;
