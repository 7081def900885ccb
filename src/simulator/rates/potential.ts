/**
 * How fast a flow could be if nothing in the fabric held it: what its hosts, their scale-up networks and its cap allow.
 *
 * Of a capacity that it shares with others it could have what they leave at their present rates, and at least an equal
 * share. What receivers can take is no part of it: a slow one holds the fabric in front of it.
 */
import type { FlowShape } from './flow-shape.js';
import type { SharedRates } from './shared-rates.js';
import { isHostWrite, scaleUpOut, type Rates } from './rates.js';

/**
 * @param variable of the flow in the solver, after a solve
 * @returns bytes/ns of the flow's variable; Infinity where only its NICs' links limit it
 */
export function potentialOf(shape: FlowShape, variable: number, solver: SharedRates, rates: Rates): number {
  const { links, coefficients, linkCount } = shape;
  const firstOther = scaleUpOut(rates.topology, 0);
  let potential = shape.cap;
  for (let at = linkCount - 1; at >= 0 && links[at] >= firstOther; at--) {
    const [link, coefficient] = [links[at], coefficients[at]];
    if (isHostWrite(rates.topology, link)) continue;
    const capacity = solver.capacity(link);
    const left = (capacity - solver.load(link)) / coefficient + solver.rate(variable);
    potential = Math.min(potential, Math.max(left, capacity / solver.weight(link)));
  }
  return potential;
}
