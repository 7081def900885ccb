/**
 * The congestion equilibrium: which rates, queues, marks, pauses and drops hold while the set of flows stays as it is.
 *
 * Where the hosts limit everything there is no queue and nothing else to work out; contended parts go through the
 * balance (balance.ts), after what stands still for good (stuck.ts). Same flows, same bytes. Cost follows the links of
 * the flows of one solve; after the first of its size none allocates.
 */
import { Balance } from './balance.js';
import { Binding } from './binding.js';
import { Buffers } from './buffers.js';
import type { EquilibriumFlow, EquilibriumNetwork, EquilibriumResult } from './model.js';
import { Outcome } from './outcome.js';
import { Pauses } from './pauses.js';
import { ReactionCurve } from './reaction-curve.js';
import { Repeats } from './repeats.js';
import { Scene } from './scene.js';
import { Stuck } from './stuck.js';
import { Swings } from './swings.js';

export class Equilibrium {
  private readonly scene: Scene;
  private readonly buffers: Buffers;
  private readonly stuck: Stuck;
  private readonly balance: Balance;
  private readonly outcome: Outcome;

  constructor(network: EquilibriumNetwork) {
    const { dcqcn, packetBytes } = network;
    this.scene = new Scene(network);
    this.buffers = new Buffers(network, this.scene);
    this.stuck = new Stuck(this.scene, this.buffers);
    const line = fastestNic(network);
    const curve = dcqcn === null ? null : new ReactionCurve(dcqcn, line, packetBytes);
    const binding = new Binding(this.scene, this.buffers, curve);
    const swings = new Swings(network, this.scene, this.buffers, binding, line);
    const pauses = new Pauses(network, this.scene, this.buffers);
    const repeats = new Repeats(network, this.scene);
    this.balance = new Balance(
      network,
      this.scene,
      this.buffers,
      this.stuck,
      repeats,
      binding,
      swings,
      pauses,
      curve,
    );
    this.outcome = new Outcome(network, this.scene, this.buffers, this.stuck, this.balance);
  }

  /** The steady state of these flows; the arrays of the result are used again by the next solve. */
  solve(flows: readonly EquilibriumFlow[]): EquilibriumResult {
    const { scene } = this;
    if (!scene.load(flows)) return this.outcome.calm();
    scene.spread(flows);
    this.buffers.begin();
    this.stuck.find();
    this.balance.run(flows);
    return this.outcome.read(flows);
  }

  /** Sweeps of the last search. */
  get sweeps(): number {
    return this.balance.sweeps;
  }
}

function fastestNic({ directions, capacity, fromDevice, isSwitch }: EquilibriumNetwork): number {
  let fastest = 0;
  for (let direction = 0; direction < directions; direction++) {
    if (isSwitch[fromDevice[direction]] === 0) fastest = Math.max(fastest, capacity[direction]);
  }
  return fastest;
}
