/**
 * Queues that drop packets and mark none of those that pass, by switch.
 *
 * A queue grows past the depths at which it is to be marked before it overflows, so one that drops has marked first, or
 * does not mark where it should (Zhu et al., SIGCOMM 2015, 4). Where marks were not read nothing is said.
 * Not modelled: queues of a class that is never marked by design; they are left out where they never marked anything.
 */
import type { Context } from '../../series/context.js';
import { classesOf, readQueue } from './queues.js';
import { freshCount, gainWithin, rises } from '../../series/samples.js';

/** Of the packets that were dropped, the part in polls without marks from which on a switch does not mark. */
const MOST = 0.8;
/** So few marks for each drop are the edges of polls in which marking stopped. */
const FEW_MARKS = 0.02;
const FEWEST_DROPS = 100;

/** Whether most drops of a switch came without marks; null where it hardly dropped, or nobody read its marks. */
export function dropsUnmarked(context: Context, device: number): boolean | null {
  const [all, unmarked] = context.topology.devices[device].ports
    .flatMap((port) =>
      classesOf(context, port).map((priority) => ({
        drops: readQueue(context, 'queue_drop_packets', port, priority),
        marks: readQueue(context, 'queue_ecn_marked_packets', port, priority),
      })),
    )
    .filter(({ marks }) => freshCount(marks) > 1 && rises(marks).length > 0)
    .flatMap(({ drops, marks }) =>
      rises(drops).map((drop) => ({
        gain: drop.gain,
        isBare: gainWithin(marks, drop) < FEW_MARKS * drop.gain,
      })),
    )
    .reduce(([sum, bare], { gain, isBare }) => [sum + gain, bare + (isBare ? gain : 0)], [0, 0]);
  return all < FEWEST_DROPS ? null : unmarked >= MOST * all;
}
