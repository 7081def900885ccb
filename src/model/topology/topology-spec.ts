/**
 * A topology as a file describes it, and the one way to build it.
 *
 * `builder` names the constructor and decides which keys are valid. Imported files arrive here as `explicit`
 * descriptions. What is stored is the text as written (rates with units); the parsed form holds Gbps and ns.
 */
import { z } from 'zod';
import { buildDualTorDualPlane, dualTorDualPlaneSchema } from './builders/dual-tor-dual-plane.js';
import { buildExplicit, explicitSchema } from './builders/explicit.js';
import { buildFatTree, fatTreeSchema } from './builders/fat-tree.js';
import { buildLeafSpine, leafSpineSchema } from './builders/leaf-spine.js';
import { buildRailOptimised, railOptimisedSchema } from './builders/rail-optimised.js';
import type { Topology } from './model.js';

export const topologySchema = z.discriminatedUnion('builder', [
  leafSpineSchema,
  railOptimisedSchema,
  fatTreeSchema,
  dualTorDualPlaneSchema,
  explicitSchema,
]);

/** As written in a file: rates and durations are text. */
export type TopologySource = z.input<typeof topologySchema>;
/** As parsed: rates in Gbps, durations in ns. */
export type TopologySpec = z.output<typeof topologySchema>;

/** @throws InputError with pointers into the topology's own document */
export function buildTopology(spec: TopologySpec): Topology {
  switch (spec.builder) {
    case 'leaf-spine':
      return buildLeafSpine(spec);
    case 'rail-optimised':
      return buildRailOptimised(spec);
    case 'fat-tree':
      return buildFatTree(spec);
    case 'dual-tor-dual-plane':
      return buildDualTorDualPlane(spec);
    case 'explicit':
      return buildExplicit(spec);
  }
}
