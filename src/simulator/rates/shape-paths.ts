/**
 * The ways that a shape's data takes through the fabric, one per QP, in the flat form of the congestion equilibrium.
 */
import { dataWay, type Connections } from '../transport/connections.js';
import type { EquilibriumPaths } from '../congestion/equilibrium/model.js';

/** Ways of a shape's data, one per QP that crosses the fabric, and the QP of each. */
export interface ShapePaths {
  paths: EquilibriumPaths;
  pathQps: Int32Array;
}

/** @param weights of the connections' edges, in the same order */
export function gatherPaths(
  connectionIds: readonly number[],
  weights: readonly number[],
  connections: Connections,
): ShapePaths {
  const links: number[] = [];
  const starts = [0];
  const pathWeights: number[] = [];
  const qps: number[] = [];
  connectionIds.forEach((id, edge) => {
    const { firstQp, qpCount } = connections.all[id];
    for (let qp = firstQp; qp < firstQp + qpCount; qp++) {
      const way = dataWay(qp);
      // Two GPUs behind one NIC: nothing crosses the fabric.
      if (connections.length(way) === 0) continue;
      for (let hop = 0; hop < connections.length(way); hop++) links.push(connections.direction(way, hop));
      starts.push(links.length);
      pathWeights.push(weights[edge]);
      qps.push(qp);
    }
  });
  return {
    paths: {
      count: qps.length,
      links: Int32Array.from(links),
      starts: Int32Array.from(starts),
      weights: Float64Array.from(pathWeights),
    },
    pathQps: Int32Array.from(qps),
  };
}
