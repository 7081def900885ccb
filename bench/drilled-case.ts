/**
 * A recorded case run by the engine that drills run: flow-engine.ts with its congestion, on the case's own ways.
 *
 * The case becomes a fabric: one NIC a host, links as fast as the peer's truncated packet times make them, each
 * switch with the marking and thresholds of the ports that data crosses, which is how one profile a switch can say what
 * the peer sets by port. Receivers of the peer echo every mark, so a notification is due in each decrease interval. Ways
 * are the recorded ones; around a link that goes down they change at once, as in the peer, which loses no timeout over it.
 */
import type { Device, Link, Nic, Port, Topology } from '../src/model/topology/model.js';
import { RoutingGraph } from '../src/model/topology/routing/graph.js';
import { assembleFlows } from '../src/simulator/congestion/congestion-parts.js';
import { priorityClasses } from '../src/simulator/congestion-settings.js';
import { Effort } from '../src/simulator/effort.js';
import { EVENT } from '../src/simulator/event-kind.js';
import { EventQueue } from '../src/simulator/event-queue.js';
import type { FlowEngine } from '../src/simulator/flow-engine.js';
import type { CongestionFlow, CongestionNetwork } from '../src/simulator/fluid/network.js';
import { Beliefs } from '../src/simulator/network/beliefs.js';
import { PauseStorms } from '../src/simulator/network/pause-storms.js';
import { PhysicalLayer } from '../src/simulator/network/physical-layer.js';
import { Signals } from '../src/simulator/network/signals.js';
import { SwitchClasses } from '../src/simulator/network/switch-classes.js';
import { FlowShape, type ShapeContext } from '../src/simulator/rates/flow-shape.js';
import { Rates } from '../src/simulator/rates/rates.js';
import { Counters } from '../src/simulator/sampling/counters.js';
import { fabricSettingsSchema, type FabricSettings } from '../src/simulator/settings.js';
import { Connections, dataWay, type Way } from '../src/simulator/transport/connections.js';
import { QpTimers } from '../src/simulator/transport/qp-timers.js';
import { RetransmissionSchedule } from '../src/simulator/transport/retransmission.js';
import { isPauseOnly, type CongestionCase, type CongestionScene } from './congestion-case.js';

const PRIORITY = 3;
const PRESET_GBPS = 25;
const GBPS_PER_BYTE_PER_NS = 8;
/** Kinds of events that are the bench's own. */
const START = 100;
const REROUTE = 101;

export interface DrilledRun {
  startNs: Float64Array;
  finishNs: Float64Array;
  makespanNs: number;
  /** Notifications that senders handled. */
  cnps: number;
}

/** Queue pairs whose ways are given and not hashed. */
class GivenWays extends Connections {
  readonly ways: Int32Array[] = [];

  override trace(): void {
    // Ways are as given.
  }

  override alive(): boolean {
    return true;
  }

  override length(way: Way): number {
    return this.ways[way].length;
  }

  override direction(way: Way, index: number): number {
    return this.ways[way][index];
  }
}

/** @param seed of what the engine draws */
export function runDrilled(source: CongestionCase, scene: CongestionScene, seed = 1): DrilledRun {
  return new DrilledCase(source, scene, seed).run();
}

class DrilledCase {
  private readonly queue = new EventQueue();
  private readonly engine: FlowEngine;
  private readonly counters: Counters;
  private readonly beliefs: Beliefs;
  private readonly connections: GivenWays;
  private readonly storms: PauseStorms;
  private readonly timers: QpTimers;
  private readonly shapes: FlowShape[];
  private readonly waitsFor: Int32Array;
  private readonly waiters: number[][];
  private readonly startNs: Float64Array;
  private readonly finishNs: Float64Array;
  private nowNs = 0;

  constructor(
    source: CongestionCase,
    private readonly scene: CongestionScene,
    seed: number,
  ) {
    const { network, flows } = scene;
    const { queue } = this;
    const topology = topologyOf(network);
    const settings = settingsOf(source, network);
    const beliefs = new Beliefs(new RoutingGraph(topology));
    const physical = new PhysicalLayer(topology, settings, queue);
    const connections = new GivenWays(beliefs, physical, settings, seed);
    const rates = new Rates(topology);
    const signals = new Signals(topology, settings, queue, physical, rates, seed);
    const schedule = new RetransmissionSchedule(settings);
    const counters = new Counters(topology, priorityClasses(settings, [PRIORITY]));
    const switches = switchesOf(topology, settings, counters, scene);
    const storms = new PauseStorms(topology, settings, queue, switches, counters);
    const parts = { topology, settings, connections, rates, signals, schedule };
    const around = { queue, physical, beliefs, counters, switches, storms, effort: new Effort() };
    const context: ShapeContext = { ...parts, scratch: new Float64Array(rates.capacities.length), shapes: 0 };
    this.beliefs = beliefs;
    this.connections = connections;
    this.counters = counters;
    this.storms = storms;
    this.shapes = flows.map((flow, index) => shapeOf(flow, index, network, connections, context));
    this.engine = assembleFlows({ ...parts, ...around }, true);
    this.timers = new QpTimers(topology, settings, queue, physical, connections, counters, storms, {
      qpResumed: () => this.engine.qpResumed(),
      qpFailed: () => undefined,
    });
    this.engine.attach(this.timers, {
      flowDone: (_, flow) => this.finish(flow),
      flowIsMoot: () => false,
    });
    this.startNs = new Float64Array(flows.length).fill(Infinity);
    this.finishNs = new Float64Array(flows.length).fill(Infinity);
    this.waitsFor = Int32Array.from(flows, ({ startAfter }) => startAfter?.length ?? 0);
    this.waiters = flows.map(() => []);
    flows.forEach(({ startAfter, startNs }, flow) => {
      for (const other of startAfter ?? []) this.waiters[other].push(flow);
      if (this.waitsFor[flow] === 0) queue.schedule(startNs ?? 0, START, flow);
    });
    if (scene.down) queue.schedule(scene.down.atNs, REROUTE, 0);
  }

  run(): DrilledRun {
    const { queue, engine } = this;
    while (queue.nextNs < Infinity) {
      this.nowNs = queue.nextNs;
      while (queue.nextNs <= this.nowNs) {
        queue.pop();
        this.happen(queue.kind, queue.subject, queue.detail);
      }
      engine.commit(this.nowNs);
    }
    engine.readCounters(this.nowNs);
    return {
      startNs: this.startNs,
      finishNs: this.finishNs,
      makespanNs: this.finishNs.reduce((most, ns) => Math.max(most, ns), 0),
      cnps: this.counters.cnpHandled.reduce((sum, cnps) => sum + cnps, 0),
    };
  }

  private happen(kind: number, subject: number, detail: number): void {
    switch (kind) {
      case START:
        this.startNs[subject] = this.nowNs;
        return this.engine.start(
          this.nowNs,
          this.shapes[subject],
          0,
          subject,
          this.counters.classOf(PRIORITY),
        );
      case REROUTE:
        return this.reroute();
      case EVENT.flowTransferred:
        return this.engine.transferred(this.nowNs, subject);
      case EVENT.flowDone:
        return this.engine.done(subject);
      case EVENT.watchdog:
        return this.storms.due(subject, detail);
      case EVENT.retransmission:
        return this.timers.due(this.nowNs, subject);
    }
  }

  private finish(flow: number): void {
    this.finishNs[flow] = this.nowNs;
    for (const waiter of this.waiters[flow]) {
      if (--this.waitsFor[waiter] > 0) continue;
      this.queue.schedule(Math.max(this.nowNs, this.scene.flows[waiter].startNs ?? 0), START, waiter);
    }
  }

  private reroute(): void {
    const { ways, pathVersion } = this.connections;
    for (const { flow, path, ackPath } of this.scene.down!.reroutes) {
      if (path) ways[2 * flow] = Int32Array.from(path);
      if (ackPath) ways[2 * flow + 1] = Int32Array.from(ackPath);
      if (path ?? ackPath) pathVersion[flow]++;
    }
    this.beliefs.disturb();
  }
}

function shapeOf(
  flow: CongestionFlow,
  index: number,
  network: CongestionNetwork,
  connections: GivenWays,
  context: ShapeContext,
): FlowShape {
  const [from, to] = [flow.path[0], flow.path[flow.path.length - 1]];
  const nicOf = (node: number): number => context.topology.nics.findIndex(({ host }) => host === node);
  const connection = connections.open(
    {
      job: 0,
      sourceRank: index,
      destinationRank: 0,
      sourceNic: nicOf(network.links[from].from),
      destinationNic: nicOf(network.links[to].to),
      qpCount: 1,
      priority: PRIORITY,
    },
    `flow-${index}`,
  );
  connections.ways[dataWay(index)] = Int32Array.from(flow.path);
  connections.ways[dataWay(index) + 1] = Int32Array.from(flow.ackPath);
  const bytes = flow.packets * context.settings.mtu;
  const edges = [{ sourceRank: 0, destinationRank: 1, bytes }];
  return new FlowShape(context, edges, 1, 0, new Int32Array(0), 1, () => connection.index);
}

/** Link 2 n and 2 n + 1 of the case are the two directions of link n. */
function topologyOf({ links, switches, packetBytes }: CongestionNetwork): Topology {
  const devices = switches.map((buffer, index): Device => {
    const isSwitch = buffer !== null;
    const name = `${isSwitch ? 'leaf' : 'host'}-${index}`;
    const [role, tier] = isSwitch ? (['switch', 'leaf'] as const) : (['host', 'host'] as const);
    return { index, name, role, tier, tierLevel: Number(isSwitch), labels: {}, ports: [] };
  });
  const ports: Port[] = [];
  const nics: Nic[] = [];
  const addPort = (device: number, link: number): number => {
    const index = ports.length;
    let nic = -1;
    if (devices[device].role === 'host') {
      nic = nics.length;
      nics.push({ index: nic, name: `host-${device}/nic-${nic}`, host: device, position: 0, ports: [index] });
    }
    ports.push({ index, name: `${devices[device].name}/p${index}`, device, nic, link });
    devices[device].ports.push(index);
    return index;
  };
  const cables: Link[] = [];
  for (let index = 0; 2 * index < links.length; index++) {
    const { from, to, packetNs, delayNs } = links[2 * index];
    const [portA, portB] = [addPort(from, index), addPort(to, index)];
    const id = `link:${ports[portA].name}--${ports[portB].name}`;
    const rateGbps = (packetBytes / packetNs) * GBPS_PER_BYTE_PER_NS;
    const tier = devices[from].role === 'host' || devices[to].role === 'host' ? 'host-leaf' : 'leaf-spine';
    cables.push({ index, id, portA, portB, rateGbps, delayNs, lossRatio: 0, tier, labels: {} });
  }
  const gpus = nics.map(({ host, index }) => ({ host, position: 0, nic: index }));
  return { devices, nics, ports, links: cables, gpus, gpusPerHost: 1, scaleUpGbps: 0, scaleUpDelayNs: 0 };
}

function settingsOf(source: CongestionCase, network: CongestionNetwork): FabricSettings {
  const settings = fabricSettingsSchema.parse({});
  const { links, packetBytes, switches } = network;
  const nicLinks = links.filter(({ from }) => switches[from] === null);
  const [fastest] = [...nicLinks].sort((one, other) => one.packetNs - other.packetNs);
  const lineGbps = (packetBytes / fastest.packetNs) * GBPS_PER_BYTE_PER_NS;
  settings.mtu = source.packet.data_payload;
  settings.headerBytes = packetBytes - settings.mtu;
  settings.ackBytes = (packetBytes * fastest.ackNs) / fastest.packetNs;
  settings.switchLatency = 0;
  settings.buffer = Math.max(...switches.map((buffer) => buffer?.bufferBytes ?? 0));
  settings.pfc.reserve = Math.max(...switches.map((buffer) => buffer?.reserveBytes ?? 0));
  const dcqcn = isPauseOnly(source) ? null : network.dcqcn;
  settings.dcqcn.on = dcqcn !== null;
  if (dcqcn === null) {
    settings.ecn.pmax = 0;
    return settings;
  }
  const perPreset = (rate: number): number => (rate * GBPS_PER_BYTE_PER_NS * PRESET_GBPS) / lineGbps;
  settings.dcqcn.cnpInterval = dcqcn.decreaseIntervalNs;
  settings.dcqcn.alphaInterval = dcqcn.alphaIntervalNs;
  settings.dcqcn.decreaseInterval = dcqcn.decreaseIntervalNs;
  settings.dcqcn.increaseInterval = dcqcn.increaseIntervalNs;
  settings.dcqcn.gain = dcqcn.gain;
  settings.dcqcn.fastRecoveryTimes = dcqcn.fastRecoveryTimes;
  settings.dcqcn.additiveIncrease = perPreset(dcqcn.additiveIncrease);
  settings.dcqcn.hyperIncrease = perPreset(dcqcn.hyperIncrease);
  settings.dcqcn.minRate = dcqcn.minRate * GBPS_PER_BYTE_PER_NS;
  return settings;
}

/** Each switch has the marking of the fastest port that data leaves by, and the threshold of the one it comes by. */
function switchesOf(
  topology: Topology,
  settings: FabricSettings,
  counters: Counters,
  { network, flows }: CongestionScene,
): SwitchClasses {
  const switches = new SwitchClasses(topology, settings, counters.priorities);
  const used = [...new Set(flows.flatMap(({ path }) => path))].map((link) => network.links[link]);
  network.switches.forEach((buffer, node) => {
    if (buffer === null) return;
    const leaves = used.filter(({ from }) => from === node);
    const [fastest] = leaves.sort((one, other) => one.packetNs - other.packetNs);
    if (settings.dcqcn.on) switches.setMarking(node, fastest?.marking);
    const entries = used.flatMap(({ to, ingress }) => (to === node && ingress ? [ingress] : []));
    if (entries.length === 0) return;
    const freeShare = Math.max(...entries.map((ingress) => ingress.freeShare));
    const headroom = Math.max(...entries.map((ingress) => ingress.headroomBytes));
    switches.setPfc(node, { pfc: true, freeShare, headroomBytes: headroom });
  });
  return switches;
}
