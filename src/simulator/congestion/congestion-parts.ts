/**
 * The engine of flows, and the congestion that it meets, put together for one fabric.
 */
import type { Topology } from '../../model/topology/model.js';
import type { Effort } from '../effort.js';
import type { FabricSettings } from '../settings.js';
import type { Beliefs } from '../network/beliefs.js';
import { Backlog } from './backlog.js';
import { ByteBook } from '../transport/byte-book.js';
import { CongestionEngine, type SteadyState } from './congestion-engine.js';
import { congestionNetwork } from './congestion-network.js';
import { PictureMaker } from './congestion-picture.js';
import type { Connections } from '../transport/connections.js';
import type { Counters } from '../sampling/counters.js';
import { Equilibrium } from './equilibrium/equilibrium.js';
import type { EventQueue } from '../event-queue.js';
import { FlowEngine } from '../flow-engine.js';
import { Passage } from '../transport/passage.js';
import type { PauseStorms } from '../network/pause-storms.js';
import type { PhysicalLayer } from '../network/physical-layer.js';
import type { Rates } from '../rates/rates.js';
import type { RetransmissionSchedule } from '../transport/retransmission.js';
import { SharedRates } from '../rates/shared-rates.js';
import type { Signals } from '../network/signals.js';
import { StartTransients } from './start-transients.js';
import type { SwitchClasses } from '../network/switch-classes.js';

export interface FlowParts {
  topology: Topology;
  settings: FabricSettings;
  queue: EventQueue;
  physical: PhysicalLayer;
  beliefs: Beliefs;
  connections: Connections;
  counters: Counters;
  rates: Rates;
  signals: Signals;
  schedule: RetransmissionSchedule;
  switches: SwitchClasses;
  storms: PauseStorms;
  effort: Effort;
}

/** @param reuse false: nothing that repeats is looked up */
export function assembleFlows(parts: FlowParts, reuse: boolean): FlowEngine {
  const { topology, settings, queue, beliefs, connections, counters, rates, signals, schedule, storms } =
    parts;
  const solver = new SharedRates(rates.capacities, { reuse });
  const congestion = assembleCongestion(parts, solver);
  congestion.reuse = reuse;
  const passage = new Passage(settings, parts.physical, counters, storms, senders(topology));
  const fromDevice = senders(topology).map((port) => topology.ports[port].device);
  return new FlowEngine(
    rates,
    signals,
    settings,
    queue,
    beliefs,
    connections,
    counters,
    solver,
    new ByteBook(settings, connections, counters, schedule),
    congestion,
    new Backlog(counters, fromDevice, passage),
    storms,
  );
}

function assembleCongestion(parts: FlowParts, solver: SharedRates): CongestionEngine {
  const { topology, settings, connections, counters, rates, signals, switches, storms } = parts;
  const network = congestionNetwork(
    topology,
    settings,
    rates,
    switches,
    storms,
    counters.priorities,
    (capacity) => solver.load(capacity),
  );
  const maker = new PictureMaker(
    network,
    settings,
    connections,
    counters,
    signals,
    storms,
    senders(topology),
    senders(topology).map((_, direction, all) => topology.ports[all[direction ^ 1]].nic),
  );
  return new CongestionEngine(
    settings.contention === 'fair' ? FAIR : new Equilibrium(network, parts.effort),
    maker,
    new StartTransients(network, settings, connections, counters),
    counters,
    connections,
    rates,
    signals,
    switches,
    storms,
    solver,
  );
}

/** Every set of flows as if no queue held it: the shares of the solver stay. */
const FAIR: SteadyState = { solve: () => ({ congested: false }) };

/** By direction: the port that sends on it. */
const senders = ({ links }: Topology): Int32Array =>
  Int32Array.from(links.flatMap(({ portA, portB }) => [portA, portB]));
