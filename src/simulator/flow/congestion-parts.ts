/**
 * The parts that congestion is made of, put together for one fabric.
 */
import type { Topology } from '../../topology/model.js';
import type { FabricSettings } from '../settings.js';
import { CongestionEngine } from './congestion-engine.js';
import { congestionNetwork } from './congestion-network.js';
import { PictureMaker } from './congestion-picture.js';
import type { Connections } from './connections.js';
import type { Counters } from './counters.js';
import { Equilibrium } from './equilibrium/equilibrium.js';
import type { SharedRates } from './shared-rates.js';
import type { PauseStorms } from './pause-storms.js';
import type { Rates } from './rates.js';
import type { Signals } from './signals.js';
import { StartTransients } from './start-transients.js';
import type { SwitchClasses } from './switch-classes.js';

export function assembleCongestion(
  topology: Topology,
  settings: FabricSettings,
  parts: {
    connections: Connections;
    counters: Counters;
    rates: Rates;
    signals: Signals;
    switches: SwitchClasses;
    storms: PauseStorms;
    solver: SharedRates;
  },
): CongestionEngine {
  const { connections, counters, rates, signals, switches, storms, solver } = parts;
  const classes = counters.priorities.length;
  const network = congestionNetwork(topology, settings, rates, switches, storms, classes, (capacity) =>
    solver.load(capacity),
  );
  const portOf = Int32Array.from(topology.links.flatMap(({ portA, portB }) => [portA, portB]));
  const maker = new PictureMaker(network, settings, connections, counters, storms, portOf);
  return new CongestionEngine(
    new Equilibrium(network),
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
