/**
 * What a device answers when it is polled: one line a metric, for its ports, queues, NICs, optical modules and itself.
 *
 * Counters are read as devices keep them: whole numbers, rounded down; ratios over the last poll interval are worked
 * out from two readings. NaN is an N/A answer. Counter names: telemetry/catalog.ts.
 */
import { hashText } from '../../core/prng.js';
import { metricDefinition, type MetricName } from '../../model/telemetry/catalog.js';
import { WholeCounter, type Read } from '../../model/telemetry/columns/poll-column.js';
import { directionFrom, type Topology } from '../../model/topology/model.js';
import type { Counters } from './counters.js';
import { FecCounts } from './fec-counts.js';
import { Optics } from '../network/optics.js';
import type { CounterElement, CounterNoise } from '../noise/counter-noise.js';
import type { OpticNoise } from '../noise/optic-noise.js';
import type { PhysicalLayer } from '../network/physical-layer.js';
import type { Rates } from '../rates/rates.js';
import type { Signals } from '../network/signals.js';

export interface DeviceSources {
  topology: Topology;
  physical: PhysicalLayer;
  rates: Rates;
  signals: Signals;
  counters: Counters;
  /** Undefined in a quiet world. */
  opticNoise?: OpticNoise;
  counterNoise?: CounterNoise;
}

/** The answer for an element, by its index (of a queue: class × ports + port). */
export type Reading = readonly [metric: MetricName, read: Read];

const NS_PER_S = 1e9;
/** Bits that are as often wrong as right. */
const MOST_ERRORS = 0.5;

/** Share of the time since the last reading that a time counter covered, by NIC. */
class Share {
  private readonly readNs: Float64Array;
  private readonly before: Float64Array;

  constructor(nics: number) {
    this.readNs = new Float64Array(nics);
    this.before = new Float64Array(nics);
  }

  read(nic: number, nowNs: number, counterNs: number): number {
    const spanNs = nowNs - this.readNs[nic];
    const share = spanNs > 0 ? (counterNs - this.before[nic]) / spanNs : 0;
    this.readNs[nic] = nowNs;
    this.before[nic] = counterNs;
    return share;
  }
}

export class DeviceReadings {
  /** Of the poll under way. */
  nowNs = 0;
  round = 0;
  /** By port: the direction it sends on, and that on which it receives. */
  private readonly sends: Int32Array;
  private readonly receives: Int32Array;
  private readonly seed: number;
  /** Counters with what they had counted before, where that is not 0. */
  private readonly lives: { element: CounterElement; starts: Float64Array; read: (at: number) => number }[] =
    [];

  constructor(
    private readonly sources: DeviceSources,
    private readonly noise: number,
    private readonly runSeed: number,
  ) {
    const { topology } = sources;
    this.seed = hashText('fec-poll', runSeed >>> 0);
    this.sends = Int32Array.from(topology.ports, (port) => directionFrom(topology, port.index));
    this.receives = this.sends.map((direction) => direction ^ 1);
  }

  switches(): Reading[] {
    const { counters } = this.sources;
    return [
      ['device_buffer_used_bytes', (device) => Math.floor(counters.bufferUsed[device])],
      ['device_buffer_used_max_bytes', (device) => Math.floor(counters.readBufferUsedMost(device))],
    ];
  }

  ports(): Reading[] {
    return this.lived('port', this.portReadings());
  }

  queues(): Reading[] {
    return this.lived('queue', this.queueReadings());
  }

  nics(): Reading[] {
    return this.lived('nic', this.nicReadings());
  }

  /** Lets all counters of a device start again at 0. */
  reset(device: number): void {
    const { nics, ports } = this.sources.topology;
    for (const { element, starts, read } of this.lives) {
      for (let at = 0; at < starts.length; at++) {
        const owner = element === 'nic' ? nics[at].host : ports[at % ports.length].device;
        if (owner === device) starts[at] = -read(at);
      }
    }
  }

  /** Counters of devices that have run for months do not start at 0. */
  private lived(element: CounterElement, readings: Reading[]): Reading[] {
    const { counterNoise, topology, counters } = this.sources;
    if (counterNoise === undefined) return readings;
    const count = {
      nic: topology.nics.length,
      port: topology.ports.length,
      queue: topology.ports.length * counters.priorities.length,
    }[element];
    return readings.map(([metric, answer]): Reading => {
      if (metricDefinition(metric)?.kind !== 'counter') return [metric, answer];
      const starts = counterNoise.starts(metric, element, count);
      const read = answer instanceof WholeCounter ? (at: number) => answer.at(at) : answer;
      this.lives.push({ element, starts, read });
      return [metric, (at) => read(at) + starts[at]];
    });
  }

  private portReadings(): Reading[] {
    const { physical, rates, counters } = this.sources;
    const { sends, receives } = this;
    return [
      ['port_rate_gbps', (port) => (physical.operUp[port] === 1 ? rates.linkGbps[sends[port] >> 1] : NaN)],
      ['port_tx_bytes', (port) => Math.floor(counters.sent(sends[port]))],
      ['port_rx_bytes', (port) => Math.floor(counters.received(receives[port]))],
      ['port_tx_discards', (port) => Math.floor(counters.discarded(port))],
      ['port_rx_discards', new WholeCounter(counters.overflowed, receives)],
      ['port_rx_errors', new WholeCounter(counters.damaged, receives)],
      ['port_link_down_events', new WholeCounter(physical.linkDownEvents)],
      ['port_pause_rx_s', (port) => counters.pausedNs[sends[port]] / NS_PER_S],
      ['port_pause_tx_s', (port) => counters.pausedNs[receives[port]] / NS_PER_S],
      ['port_pause_rx_frames', new WholeCounter(counters.pauseFrames, sends)],
      ['port_pause_tx_frames', new WholeCounter(counters.pauseFrames, receives)],
      ...this.fec(),
    ];
  }

  private fec(): Reading[] {
    const { signals, rates, opticNoise: noise } = this.sources;
    const { receives } = this;
    const counts = new FecCounts(signals, receives, this.seed, noise);
    const counted = (counter: Float64Array) => (port: number) => {
      counts.read(this.nowNs, this.round, port);
      return counter[port];
    };
    return [
      ['port_fec_corrected_codewords', counted(counts.corrected)],
      ['port_fec_symbol_errors', counted(counts.symbolErrors)],
      ['port_fec_uncorrected_codewords', counted(counts.uncorrected)],
      [
        'port_fec_pre_ber',
        (port) => {
          const direction = receives[port];
          if (!signals.receives(direction)) return NaN;
          counts.read(this.nowNs, this.round, port);
          // Worked out from the bits corrected in a second, so few errors make a rough figure.
          const mean = signals.bitErrorRatio(direction);
          const bits = rates.linkGbps[direction >> 1] * NS_PER_S;
          if (noise !== undefined) return counts.wrongBits(port, this.round, mean * bits) / bits;
          const errors = Math.max(1, mean * bits);
          const ratio = mean * Math.max(0, 1 + counts.luck(port, this.round) / Math.sqrt(errors));
          return Math.min(MOST_ERRORS, ratio);
        },
      ],
    ];
  }

  private queueReadings(): Reading[] {
    const { topology, counters } = this.sources;
    const { sends } = this;
    const ports = topology.ports.length;
    type ByClass = readonly Float64Array[];
    const byPort = (counter: ByClass) => (queue: number) =>
      Math.floor(counter[Math.floor(queue / ports)][queue % ports]);
    const byDirection = (counter: ByClass) => (queue: number) =>
      Math.floor(counter[Math.floor(queue / ports)][sends[queue % ports]]);
    return [
      [
        'queue_tx_bytes',
        (queue) => Math.floor(counters.sentByClass(Math.floor(queue / ports), sends[queue % ports])),
      ],
      ['queue_drop_packets', byPort(counters.discards)],
      ['queue_ecn_marked_packets', byDirection(counters.marked)],
      ['queue_depth_bytes', byDirection(counters.queued)],
      [
        'queue_depth_max_bytes',
        (queue) => Math.floor(counters.readQueuedMost(Math.floor(queue / ports), sends[queue % ports])),
      ],
      ['queue_watchdog_detected', byPort(counters.watchdogDetected)],
      ['queue_watchdog_restored', byPort(counters.watchdogRestored)],
    ];
  }

  private nicReadings(): Reading[] {
    const { topology, counters } = this.sources;
    const whole = (counter: Float64Array): WholeCounter => new WholeCounter(counter);
    const share = (counterNs: Float64Array): ((nic: number) => number) => {
      const shares = new Share(topology.nics.length);
      return (nic) => shares.read(nic, this.nowNs, counterNs[nic]);
    };
    return [
      ['nic_local_ack_timeouts', whole(counters.ackTimeouts)],
      ['nic_adaptive_retransmissions', whole(counters.adaptiveRetransmissions)],
      ['nic_retries_exceeded', whole(counters.retriesExceeded)],
      ['nic_packet_sequence_errors', whole(counters.sequenceErrors)],
      ['nic_out_of_sequence', whole(counters.outOfSequence)],
      ['nic_ecn_marked_packets', whole(counters.markedReceived)],
      ['nic_cnp_sent', whole(counters.cnpSent)],
      ['nic_cnp_handled', whole(counters.cnpHandled)],
      ['nic_rx_discards', whole(counters.nicDiscards)],
      ['nic_pcie_read_stalled_ratio', share(counters.pcieReadStalledNs)],
      ['nic_pcie_write_stalled_ratio', share(counters.pcieWriteStalledNs)],
    ];
  }

  /** Of the module in each port. */
  optics(): Reading[] {
    const { topology, signals, physical, opticNoise } = this.sources;
    const optics = new Optics(topology, signals, this.noise, this.runSeed, opticNoise);
    const readings: Reading[] = [
      ['optic_rx_power_dbm', (port) => optics.rxPowerDbm(port, physical.lit(port), this.round, this.nowNs)],
      ['optic_tx_power_dbm', (port) => optics.txPowerDbm(port, this.round, this.nowNs)],
      ['optic_bias_ma', (port) => optics.biasCurrentMa(port, this.round)],
      ['optic_temperature_c', (port) => optics.temperature(port, this.round, this.nowNs)],
    ];
    if (opticNoise === undefined) return readings;
    // Copper has no module that could tell.
    return readings.map(([metric, read]) => [
      metric,
      (port) => (opticNoise.isCopper(port) ? NaN : (read as (port: number) => number)(port)),
    ]);
  }
}
