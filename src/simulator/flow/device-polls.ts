/**
 * What a device answers when it is polled: counters of its ports and queues, of its NICs, and its optical modules.
 *
 * A device without power answers nothing. Counters are read as devices keep them: whole numbers, rounded down; ratios
 * over a NIC's last poll interval are worked out from two readings. Counter names: telemetry/catalog.ts.
 */
import { hashText } from '../../kernel/prng.js';
import type { MetricName } from '../../telemetry/catalog.js';
import { directionFrom, type Topology } from '../../topology/model.js';
import type { Counters } from './counters.js';
import { uniformAt } from './noise.js';
import { Optics } from './optics.js';
import type { PhysicalLayer } from './physical-layer.js';
import type { Rates } from './rates.js';
import type { SeriesBook } from './series-book.js';
import type { Signals } from './signals.js';

export interface DeviceSources {
  topology: Topology;
  physical: PhysicalLayer;
  rates: Rates;
  signals: Signals;
  counters: Counters;
}

/** By metric: series number of each element, by the element's index; -1 where there is none. */
export type SeriesNumbers = Readonly<Record<MetricName, Int32Array>>;

const NS_PER_S = 1e9;

/** Scales a uniform draw to a standard deviation of one. */
const SQRT_12 = Math.sqrt(12);

/** Whole numbers that follow expected ones, scattered like counts of rare events, by port. */
class Tally {
  private readonly expected: Float64Array;
  private readonly counted: Float64Array;

  constructor(ports: number) {
    this.expected = new Float64Array(ports);
    this.counted = new Float64Array(ports);
  }

  /** @param luck zero on average, with a standard deviation of one */
  count(port: number, expected: number, luck: number): number {
    const mean = expected - this.expected[port];
    this.expected[port] = expected;
    // What nobody will live to see must not be rounded up.
    const seen = mean < 1e-3 ? 0 : Math.max(0, Math.floor(mean + luck * Math.sqrt(mean) + 0.5));
    return (this.counted[port] += seen);
  }
}

export class DevicePolls {
  private readonly optics: Optics;
  private readonly directionOf: Int32Array;
  private readonly corrected: Tally;
  private readonly uncorrected: Tally;
  private readonly symbols: Tally;
  private readonly seed: number;
  /** By device. */
  private readonly nicsOf: readonly number[][];
  /** By NIC: when it was polled last, and its stall counters then. */
  private readonly polledNs: Float64Array;
  private readonly readStalledNs: Float64Array;
  private readonly writeStalledNs: Float64Array;

  constructor(
    private readonly sources: DeviceSources,
    private readonly book: SeriesBook,
    private readonly series: SeriesNumbers,
    noise: number,
    seed: number,
  ) {
    const { topology } = sources;
    this.seed = hashText('fec-poll', seed >>> 0);
    this.optics = new Optics(topology, sources.signals, noise, seed);
    this.directionOf = Int32Array.from(topology.ports, (port) => directionFrom(topology, port.index));
    const nicsOf = topology.devices.map((): number[] => []);
    for (const nic of topology.nics) nicsOf[nic.host].push(nic.index);
    this.nicsOf = nicsOf;
    this.corrected = new Tally(topology.ports.length);
    this.uncorrected = new Tally(topology.ports.length);
    this.symbols = new Tally(topology.ports.length);
    this.polledNs = new Float64Array(topology.nics.length);
    this.readStalledNs = new Float64Array(topology.nics.length);
    this.writeStalledNs = new Float64Array(topology.nics.length);
  }

  pollDevice(device: number, nowNs: number, round: number): void {
    const { topology, physical } = this.sources;
    const up = physical.deviceUp[device];
    this.book.log(this.series.device_reachable[device], nowNs, up);
    if (up === 0) return;
    for (const port of topology.devices[device].ports) this.pollPort(port, nowNs, round);
    for (const nic of this.nicsOf[device]) this.pollNic(nic, nowNs, round);
  }

  private pollNic(nic: number, nowNs: number, round: number): void {
    const { book, series } = this;
    const { counters } = this.sources;
    const count = (metric: MetricName, value: number): void =>
      book.sample(series[metric][nic], round, nowNs, Math.floor(value));
    count('nic_local_ack_timeouts', counters.ackTimeouts[nic]);
    count('nic_adaptive_retransmissions', counters.adaptiveRetransmissions[nic]);
    count('nic_retries_exceeded', counters.retriesExceeded[nic]);
    count('nic_packet_sequence_errors', counters.sequenceErrors[nic]);
    count('nic_out_of_sequence', counters.outOfSequence[nic]);
    const spanNs = nowNs - this.polledNs[nic];
    const read = counters.pcieReadStalledNs[nic];
    const write = counters.pcieWriteStalledNs[nic];
    const share = (now: number, before: number): number => (spanNs > 0 ? (now - before) / spanNs : 0);
    book.sample(series.nic_pcie_read_stalled_ratio[nic], round, nowNs, share(read, this.readStalledNs[nic]));
    book.sample(
      series.nic_pcie_write_stalled_ratio[nic],
      round,
      nowNs,
      share(write, this.writeStalledNs[nic]),
    );
    this.polledNs[nic] = nowNs;
    this.readStalledNs[nic] = read;
    this.writeStalledNs[nic] = write;
  }

  private pollPort(port: number, nowNs: number, round: number): void {
    const { topology, physical, rates, counters } = this.sources;
    const { book, series } = this;
    const sending = this.directionOf[port];
    const receiving = sending ^ 1;
    const link = topology.links[topology.ports[port].link];
    const rate = series.port_rate_gbps[port];
    if (physical.operUp[port] === 1) book.sample(rate, round, nowNs, rates.linkGbps[link.index]);
    else book.notAvailable(rate, nowNs);
    const poll = (metric: MetricName, value: number): void =>
      book.sample(series[metric][port], round, nowNs, value);
    poll('port_tx_bytes', Math.floor(counters.sent(sending)));
    poll('port_rx_bytes', Math.floor(counters.received(receiving)));
    poll('port_tx_discards', Math.floor(counters.discarded(port)));
    poll('port_rx_errors', Math.floor(counters.damaged[receiving]));
    poll('port_link_down_events', physical.linkDownEvents[port]);
    poll('port_pause_rx_s', counters.pausedNs[sending] / NS_PER_S);
    poll('port_pause_tx_s', counters.pausedNs[receiving] / NS_PER_S);
    this.pollQueues(port, nowNs, round);
    this.pollFec(port, nowNs, round);
  }

  private pollFec(port: number, nowNs: number, round: number): void {
    const { signals, rates } = this.sources;
    const { book, series } = this;
    const receiving = this.directionOf[port] ^ 1;
    signals.settle(nowNs, receiving);
    const poll = (metric: MetricName, value: number): void =>
      book.sample(series[metric][port], round, nowNs, value);
    const luck = SQRT_12 * (uniformAt(this.seed, port, round) - 0.5);
    poll(
      'port_fec_corrected_codewords',
      this.corrected.count(port, signals.correctedCodewords[receiving], luck),
    );
    poll('port_fec_symbol_errors', this.symbols.count(port, signals.symbolErrors[receiving], luck));
    poll(
      'port_fec_uncorrected_codewords',
      this.uncorrected.count(port, signals.uncorrectedCodewords[receiving], luck),
    );
    const ratio = series.port_fec_pre_ber[port];
    if (!signals.receives(receiving)) {
      book.notAvailable(ratio, nowNs);
      return;
    }
    // Worked out from the bits corrected in a second, so few errors make a rough figure.
    const mean = signals.bitErrorRatio(receiving);
    const errors = Math.max(1, mean * rates.linkGbps[receiving >> 1] * NS_PER_S);
    const scatter = luck / Math.sqrt(errors);
    book.sample(ratio, round, nowNs, mean * Math.max(0, 1 + scatter));
  }

  private pollQueues(port: number, nowNs: number, round: number): void {
    const { topology, counters } = this.sources;
    const { book, series } = this;
    for (let classIndex = 0; classIndex < counters.priorities.length; classIndex++) {
      const queue = classIndex * topology.ports.length + port;
      const bytes = series.queue_tx_bytes[queue];
      if (bytes < 0) continue;
      const sent = Math.floor(counters.sentByClass(classIndex, this.directionOf[port]));
      book.sample(bytes, round, nowNs, sent);
      const dropped = Math.floor(counters.discards[classIndex][port]);
      book.sample(series.queue_drop_packets[queue], round, nowNs, dropped);
    }
  }

  pollOptics(device: number, nowNs: number, round: number): void {
    const { topology, physical } = this.sources;
    if (physical.deviceUp[device] === 0) return;
    for (const port of topology.devices[device].ports) {
      const poll = (metric: MetricName, value: number): void =>
        this.book.sample(this.series[metric][port], round, nowNs, value);
      poll('optic_rx_power_dbm', this.optics.rxPowerDbm(port, physical.lit(port), round));
      poll('optic_tx_power_dbm', this.optics.txPowerDbm(port, round));
      poll('optic_bias_ma', this.optics.biasCurrentMa(port, round));
      poll('optic_temperature_c', this.optics.temperature(port, round));
    }
  }
}
