/**
 * The congestion equilibrium: which rates, queues, marks, pauses and drops hold while the set of flows stays as it is.
 *
 * Where the hosts limit everything there is no queue and nothing else to work out; contended parts go through the
 * balance (balance.ts), after what stands still for good (stuck.ts). Which queues take part is found on the way
 * (relevance.ts), and pauses come in only where marks leave ports near their thresholds. Same flows, same bytes. Cost
 * follows the links of the flows of one solve.
 */
import { Effort } from '../../effort.js';
import { Balance } from './balance.js';
import { Binding } from './binding.js';
import { Buffers } from './buffers.js';
import { IdlePorts } from './idle-ports.js';
import type { EquilibriumFlow, EquilibriumNetwork, EquilibriumResult } from './model.js';
import { Outcome } from './outcome.js';
import { Pauses } from './pauses.js';
import { ReactionCurve } from './reaction-curve.js';
import { Repeats } from './repeats.js';
import { Scene } from './scene.js';
import { Stuck } from './stuck.js';
import { Swings } from './swings.js';

/** Searches after which all that may fill takes part. */
const MOST_ROUNDS = 6;

export class Equilibrium {
  private readonly scene: Scene;
  private readonly buffers: Buffers;
  private readonly stuck: Stuck;
  private readonly balance: Balance;
  private readonly outcome: Outcome;
  private readonly ports: IdlePorts;
  private readonly curve: ReactionCurve | null;

  constructor(
    network: EquilibriumNetwork,
    private readonly effort = new Effort(),
  ) {
    const { dcqcn, packetBytes } = network;
    this.scene = new Scene(network);
    this.buffers = new Buffers(network, this.scene);
    this.stuck = new Stuck(this.scene, this.buffers);
    const line = fastestNic(network);
    const curve = dcqcn === null ? null : new ReactionCurve(dcqcn, line, packetBytes);
    this.curve = curve;
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
      effort,
    );
    this.ports = new IdlePorts(network, this.scene, this.buffers, this.balance);
    this.outcome = new Outcome(network, this.scene, this.buffers, this.stuck, this.balance);
  }

  /** The steady state of these flows; the arrays of the result are used again by the next solve. */
  solve(flows: readonly EquilibriumFlow[]): EquilibriumResult {
    if (!this.scene.load(flows)) return this.outcome.calm();
    const result = this.contend(flows);
    this.effort.searched(this.balance.residual);
    return result;
  }

  private contend(flows: readonly EquilibriumFlow[]): EquilibriumResult {
    const { scene, ports } = this;
    const { relevance } = scene;
    const isLossless = relevance.begin();
    if (isLossless && this.curve !== null && relevance.allMark) {
      this.search(flows, false);
      if (!this.balance.outgrown && ports.find(flows)) return this.outcome.read(ports);
    }
    if (isLossless) this.search(flows, true);
    else this.balanceAll(flows, true);
    return this.outcome.read();
  }

  /** Takes in what turns out to be full, until nothing more does. */
  private search(flows: readonly EquilibriumFlow[], pausing: boolean): void {
    const { relevance } = this.scene;
    for (let round = 1; ; round++) {
      if (pausing) relevance.keepPorts(flows);
      this.balanceAll(flows, pausing);
      if (this.balance.outgrown || round > MOST_ROUNDS || !relevance.grow(this.outcome.rates())) return;
      if (round === MOST_ROUNDS) relevance.keepFilling();
    }
  }

  private balanceAll(flows: readonly EquilibriumFlow[], pausing: boolean): void {
    this.scene.spread(flows);
    this.buffers.begin(pausing);
    this.stuck.find();
    this.balance.run(flows);
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
