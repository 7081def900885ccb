/**
 * Metrics of optical modules, as their digital diagnostics report them.
 *
 * Names: CMIS fields as SONiC (TRANSCEIVER_DOM_SENSOR), `ethtool -m` and OpenConfig show them. A module reports per lane;
 * where lanes differ, the worst lane is meant.
 */
import type { MetricDefinition } from './definition.js';

export const OPTIC_METRICS = [
  {
    name: 'optic_rx_power_dbm',
    element: 'port',
    kind: 'gauge',
    unit: 'dBm',
    sampling: 'poll',
    description: 'received optical power; -40 is the floor, nothing arrives',
    sources: {
      mlx5: 'ethtool -m: Rcvr signal avg optical power',
      sonic: 'TRANSCEIVER_DOM_SENSOR rx1power',
      openconfig: '/components/component/transceiver/physical-channels/channel/state/input-power',
    },
  },
  {
    name: 'optic_tx_power_dbm',
    element: 'port',
    kind: 'gauge',
    unit: 'dBm',
    sampling: 'poll',
    description: 'launched optical power',
    sources: {
      mlx5: 'ethtool -m: Laser output power',
      sonic: 'TRANSCEIVER_DOM_SENSOR tx1power',
      openconfig: '/components/component/transceiver/physical-channels/channel/state/output-power',
    },
  },
  {
    name: 'optic_bias_ma',
    element: 'port',
    kind: 'gauge',
    unit: 'mA',
    sampling: 'poll',
    description: 'current that drives the laser',
    sources: {
      mlx5: 'ethtool -m: Laser bias current',
      sonic: 'TRANSCEIVER_DOM_SENSOR tx1bias',
      openconfig: '/components/component/transceiver/physical-channels/channel/state/laser-bias-current',
    },
  },
  {
    name: 'optic_temperature_c',
    element: 'port',
    kind: 'gauge',
    unit: '°C',
    sampling: 'poll',
    description: 'module temperature',
    sources: {
      mlx5: 'ethtool -m: Module temperature',
      sonic: 'TRANSCEIVER_DOM_SENSOR temperature',
      openconfig: '/components/component/transceiver/state/temperature',
    },
  },
] as const satisfies readonly MetricDefinition[];
