/**
 * Load beside the jobs: senders that push bytes at one receiver at a chosen rate, as a checkpoint or a storage burst does.
 *
 * Each sender is a flow of its own with QPs of its own, so it shares links with the jobs' flows and meets the same
 * faults. It belongs to no job: no edge, no rank and no log tells of it, only the devices' counters do. A sender that
 * has sent its bytes, or whose QPs have given up, is done.
 * Not modelled: what the receiver answers, beyond ACKs.
 */
import { listChoices } from '../core/nearest.js';
import { InputError } from '../core/problem.js';
import { BYTES_PER_NS_PER_GBPS } from '../core/units.js';
import { packetBytes } from './settings.js';
import type { Connections } from './transport/connections.js';
import type { Counters } from './sampling/counters.js';
import type { FlowEngine } from './flow-engine.js';
import { FlowShape, type ShapeContext } from './rates/flow-shape.js';
import type { QpTimers } from './transport/qp-timers.js';

/** One load; NICs by index. */
export interface TrafficRequest {
  fromNics: readonly number[];
  toNic: number;
  /** Of each sender, on the wire, if nothing held it. */
  rateGbps: number;
  /** Payload; left out: it sends until it is removed. */
  bytesPerSender?: number;
  priority: number;
  /** Of each sender. */
  queuePairs: number;
}

export class InjectedTraffic {
  private readonly loads = new Map<string, { request: TrafficRequest; owners: number[] }>();
  private opened = 0;

  constructor(
    private readonly context: ShapeContext,
    private readonly connections: Connections,
    private readonly counters: Counters,
    private readonly timers: QpTimers,
    private readonly flows: FlowEngine,
  ) {}

  /** What an id injects, undefined when nothing; a load whose bytes are sent is still there. */
  get(id: string): TrafficRequest | undefined {
    return this.loads.get(id)?.request;
  }

  /**
   * Starts a load, in place of one of the same id.
   * @throws InputError for a priority without queues, and for senders or a receiver that can't be
   */
  inject(nowNs: number, id: string, request: TrafficRequest): void {
    this.check(request);
    this.remove(nowNs, id);
    const owners = request.fromNics.map((fromNic) => this.startSender(nowNs, fromNic, request));
    this.loads.set(id, { request, owners });
  }

  remove(nowNs: number, id: string): void {
    for (const owner of this.loads.get(id)?.owners ?? []) this.flows.abandon(nowNs, owner);
    this.loads.delete(id);
  }

  /** @param owner of the connection whose QP gave up */
  fail(nowNs: number, owner: number): void {
    this.flows.abandon(nowNs, owner);
  }

  private startSender(nowNs: number, fromNic: number, request: TrafficRequest): number {
    const { connections, context } = this;
    const { toNic, queuePairs, priority, rateGbps, bytesPerSender } = request;
    const owner = -1 - this.opened++;
    const from = context.topology.nics[fromNic].name;
    const { index } = connections.open(
      {
        job: owner,
        sourceRank: 0,
        destinationRank: 1,
        sourceNic: fromNic,
        destinationNic: toNic,
        qpCount: queuePairs,
        priority,
      },
      `load-${this.opened}/${from}`,
    );
    this.timers.reserve();
    const shape = new FlowShape(
      context,
      [{ sourceRank: 0, destinationRank: 1, bytes: bytesPerSender ?? packetBytes(context.settings) }],
      1,
      0,
      new Int32Array(0),
      queuePairs,
      () => index,
      (rateGbps * BYTES_PER_NS_PER_GBPS) / queuePairs,
    );
    const wireBytes = bytesPerSender === undefined ? Infinity : shape.wireBytes;
    this.flows.start(nowNs, shape, owner, 0, this.counters.classOf(priority), wireBytes);
    return owner;
  }

  private check({ fromNics, toNic, priority }: TrafficRequest): void {
    const { nics } = this.context.topology;
    const { priorities } = this.counters;
    if (!priorities.includes(priority)) {
      throw InputError.at(
        '/priority',
        `no queue serves priority ${priority}; the fabric's classes are ${listChoices(priorities.map(String))}`,
        'choose one of them, or name it in settings.pfc.priorities of the fabric',
      );
    }
    if (new Set(fromNics).size < fromNics.length) {
      throw InputError.at('/fromNics', 'a NIC is named twice among the senders');
    }
    if (fromNics.includes(toNic)) {
      throw InputError.at('/fromNics', `${nics[toNic].name} can't send to itself`, 'leave the receiver out');
    }
  }
}
