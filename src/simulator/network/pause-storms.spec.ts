/**
 * Pause storms: who stands still, when the watchdog acts, and how everything comes back.
 */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { flowSimulator, nicOf, oneWire, valueAt } from '../../../test/support/simulated-fabric.js';
import type { FlowSimulator } from '../flow-simulator.js';

const PORT = 'port:leaf-1/p2';
const QUEUE = 'queue:leaf-1/p2/3';
const STORM_NS = 2e9;

/** A job that sends from host 1 to host 2, and two more hosts. */
function fabric(settings: object = {}): FlowSimulator {
  return flowSimulator({
    ...oneWire,
    topology: { ...oneWire.topology, hostsPerLeaf: 4 },
    settings,
    telemetry: { pollSpread: '0s', switchInterval: '100ms', nicInterval: '100ms', jobInterval: '100ms' },
  });
}

/** The NIC of host 2 storms from 2 s on. */
function storming(settings: object = {}, startJobs = true): FlowSimulator {
  const simulator = fabric(settings);
  if (startJobs) simulator.startJobs();
  simulator.advance(STORM_NS);
  simulator.setPauseStorm(nicOf(simulator, 'host-2/nic-0'), 3, true);
  return simulator;
}

const calm = (simulator: FlowSimulator): void =>
  simulator.setPauseStorm(nicOf(simulator, 'host-2/nic-0'), 3, false);

const read = (simulator: FlowSimulator, metric: string, element: string, atNs = simulator.nowNs): number =>
  valueAt(simulator.evidence(0, simulator.nowNs), metric, element, atNs);

const delivered = (simulator: FlowSimulator, atNs?: number): number =>
  read(simulator, 'edge_tx_bytes', 'edge:sender/0-1', atNs);

describe('a pause storm', () => {
  it('lets nothing through to its NIC, and fills the queue in front of it', () => {
    const simulator = storming();
    simulator.advance(2.19e9);
    expect(delivered(simulator)).toBe(delivered(simulator, STORM_NS));
    expect(read(simulator, 'queue_depth_bytes', QUEUE, 2.1e9)).toBeGreaterThan(1e6);
    expect(read(simulator, 'device_buffer_used_bytes', 'device:leaf-1', 2.1e9)).toBeGreaterThan(1e6);
    // A pause of 65535 quanta lasts 83.9 µs at 400G; it must be renewed before.
    const frames = read(simulator, 'port_pause_rx_frames', PORT, 2.1e9);
    expect(frames).toBe(Math.floor((0.1e9 * 400) / (65535 * 512)));
    expect(read(simulator, 'port_pause_tx_frames', 'port:host-2/nic-0', 2.1e9)).toBe(frames);
  });

  it('holds the sender, and with it what the sender has for others', () => {
    const simulator = storming();
    simulator.injectTraffic('victim', {
      fromNics: [nicOf(simulator, 'host-1/nic-0')],
      toNic: nicOf(simulator, 'host-3/nic-0'),
      rateGbps: 100,
      priority: 3,
      queuePairs: 1,
    });
    simulator.injectTraffic('other', {
      fromNics: [nicOf(simulator, 'host-4/nic-0')],
      toNic: nicOf(simulator, 'host-3/nic-0'),
      rateGbps: 100,
      priority: 3,
      queuePairs: 1,
    });
    simulator.advance(2.15e9);
    expect(read(simulator, 'port_pause_rx_s', 'port:host-1/nic-0', 2.1e9)).toBeCloseTo(0.1, 9);
    expect(read(simulator, 'port_pause_rx_s', 'port:host-4/nic-0', 2.1e9)).toBe(0);
    // Only the load that shares no paused port arrives.
    const arrived = read(simulator, 'port_rx_bytes', 'port:host-3/nic-0', 2.1e9);
    expect(arrived / (12.5 * 0.1e9)).toBeCloseTo(1, 6);
    simulator.advance(3e9);
    const later = read(simulator, 'port_rx_bytes', 'port:host-3/nic-0', 3e9);
    // The watchdog has freed the sender after 200 ms.
    expect((later - arrived) / (12.5 * (0.9e9 + 0.8e9))).toBeCloseTo(1, 3);
  });

  it('that ends before the watchdog acts costs time and no packet', () => {
    const simulator = storming();
    simulator.advance(2.1e9);
    calm(simulator);
    simulator.advance(3e9);
    expect(read(simulator, 'queue_watchdog_detected', QUEUE)).toBe(0);
    expect(read(simulator, 'queue_drop_packets', QUEUE)).toBe(0);
    expect(read(simulator, 'nic_out_of_sequence', 'nic:host-2/nic-0')).toBe(0);
    expect(read(simulator, 'edge_stalled_s', 'edge:sender/0-1')).toBeCloseTo(0.1, 9);
    expect(delivered(simulator) / delivered(simulator, STORM_NS)).toBeCloseTo(2.9 / 2, 2);
  });

  it('shows pauses even where no data comes, and is no matter for the watchdog then', () => {
    const simulator = storming({}, false);
    simulator.advance(4e9);
    expect(read(simulator, 'port_pause_rx_s', PORT)).toBeCloseTo(2, 9);
    expect(read(simulator, 'queue_watchdog_detected', QUEUE)).toBe(0);
    expect(read(simulator, 'port_tx_bytes', PORT)).toBe(0);
  });

  it('stops nothing in a class that the switch does not pause', () => {
    const simulator = storming({ pfc: { on: false } });
    simulator.advance(4e9);
    expect(delivered(simulator) / delivered(simulator, STORM_NS)).toBeCloseTo(2, 2);
    expect(read(simulator, 'port_pause_rx_s', PORT)).toBe(0);
    expect(read(simulator, 'port_pause_rx_frames', PORT)).toBeGreaterThan(1000);
  });

  it('without a watchdog ends the job when its queue pairs give up', () => {
    const simulator = storming({ watchdog: { on: false }, ackTimeoutExponent: 16 });
    // 7 timeouts of 0.27 s.
    simulator.advance(3.8e9);
    expect(read(simulator, 'job_state', 'job:sender')).toBe(1);
    simulator.advance(4e9);
    expect(read(simulator, 'job_state', 'job:sender')).toBe(0);
    expect(read(simulator, 'nic_retries_exceeded', 'nic:host-1/nic-0')).toBe(1);
    expect(read(simulator, 'queue_watchdog_detected', QUEUE)).toBe(0);
  });
});

describe('the pause watchdog', () => {
  it('acts after its detection time, and gives the queue back after its restoration time', async () => {
    const time = fc.integer({ min: 2, max: 10 });
    await fc.assert(
      fc.asyncProperty(time, time, (detect, restore) => {
        const simulator = storming({
          watchdog: { detect: `${100 * detect}ms`, restore: `${100 * restore}ms` },
        });
        const actsNs = STORM_NS + detect * 1e8;
        simulator.advance(actsNs + 5e8);
        calm(simulator);
        const backNs = simulator.nowNs + restore * 1e8;
        simulator.advance(backNs + 4e9);
        const at = (metric: string, atNs: number): number => read(simulator, metric, QUEUE, atNs);
        expect(at('queue_watchdog_detected', actsNs - 1e6)).toBe(0);
        expect(at('queue_watchdog_detected', actsNs + 1e8)).toBe(1);
        expect(at('queue_watchdog_restored', backNs - 1e6)).toBe(0);
        expect(at('queue_watchdog_restored', backNs + 1e8)).toBe(1);
        expect(delivered(simulator, backNs)).toBe(delivered(simulator, STORM_NS));
        // What went on in vain meets a queue that drops; then its next try gets through.
        expect(at('queue_drop_packets', backNs)).toBeGreaterThan(100);
        expect(delivered(simulator)).toBeGreaterThan(delivered(simulator, STORM_NS));
      }),
      { numRuns: 6 },
    );
  });

  it('may send on in spite of the pause, and then the NIC drops', () => {
    const simulator = storming({ watchdog: { action: 'forward' } });
    simulator.advance(4e9);
    expect(read(simulator, 'queue_watchdog_detected', QUEUE)).toBe(1);
    expect(read(simulator, 'queue_drop_packets', QUEUE)).toBe(0);
    expect(read(simulator, 'nic_rx_discards', 'nic:host-2/nic-0')).toBeGreaterThan(100);
    expect(read(simulator, 'port_rx_discards', 'port:host-2/nic-0')).toBe(
      read(simulator, 'nic_rx_discards', 'nic:host-2/nic-0'),
    );
    expect(delivered(simulator)).toBe(delivered(simulator, STORM_NS));
  });

  it('waits anew when the storm pauses for a breath', () => {
    const simulator = storming();
    simulator.advance(2.15e9);
    calm(simulator);
    simulator.advance(2.16e9);
    simulator.setPauseStorm(nicOf(simulator, 'host-2/nic-0'), 3, true);
    simulator.advance(2.35e9);
    expect(read(simulator, 'queue_watchdog_detected', QUEUE)).toBe(0);
    simulator.advance(2.5e9);
    expect(read(simulator, 'queue_watchdog_detected', QUEUE)).toBe(1);
  });
});
