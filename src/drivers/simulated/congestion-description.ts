/**
 * How a simulated fabric is set against congestion, in the contract's words.
 *
 * Read from the simulator, which works thresholds out where the fabric file leaves them to the speed of the ports.
 */
import type { FlowSimulator } from '../../simulator/flow-simulator.js';
import type { CongestionDescription } from '../../fabric-api/fabric.js';

export const congestionOf = (simulator: FlowSimulator): CongestionDescription => ({
  priorities: simulator.priorities,
  losslessPriorities: simulator.priorities.filter((priority) => simulator.isLossless(priority)),
  dcqcn: simulator.settings.dcqcn.on,
  ofSwitch: (device) => {
    // what differs by class is lossless or not; thresholds are the switch's
    const { marking, headroomBytes, freeShare } = simulator.switchClass(device, simulator.priorities[0]);
    const unmarked = { kminBytes: 0, kmaxBytes: 0, pmax: 0 };
    return {
      ...(marking ?? unmarked),
      headroomBytes,
      freeShare,
      bufferBytes: simulator.switchBufferBytes(device),
    };
  },
});
