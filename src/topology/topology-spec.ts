/**
 * A topology as a file describes it, and the one way to build it.
 *
 * `builder` names the constructor and decides which keys are valid. Imported files arrive here as `explicit`
 * descriptions. What is stored is the text as written (rates with units); the parsed form holds Gbps and ns.
 */
import { z } from 'zod';
import { buildLeafSpine, leafSpineSchema } from './builders/leaf-spine.js';
import type { Topology } from './model.js';

export const topologySchema = z.discriminatedUnion('builder', [leafSpineSchema]);

/** As written in a file: rates and durations are text. */
export type TopologySource = z.input<typeof topologySchema>;
/** As parsed: rates in Gbps, durations in ns. */
export type TopologySpec = z.output<typeof topologySchema>;

/** @throws InputError with pointers into the topology's own document */
export function buildTopology(spec: TopologySpec): Topology {
  switch (spec.builder) {
    case 'leaf-spine':
      return buildLeafSpine(spec);
  }
}
