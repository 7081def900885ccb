/**
 * What a device answers when it is polled: counters of its ports and queues, of its NICs, and its optical modules.
 *
 * A device without power answers nothing. Counters are read as devices keep them: whole numbers, rounded down; ratios
 * over a NIC's last poll interval are worked out from two readings. Counter names: telemetry/catalog.ts.
 */
import type { MetricName } from '../../telemetry/catalog.js';
import { directionFrom, type Topology } from '../../topology/model.js';
import { packetBytes, type FabricSettings } from '../settings.js';
import type { Counters } from './counters.js';
import { Optics } from './optics.js';
import type { PhysicalLayer } from './physical-layer.js';
import type { Rates } from './rates.js';
import type { SeriesBook } from './series-book.js';

export interface DeviceSources {
  topology: Topology;
  settings: FabricSettings;
  physical: PhysicalLayer;
  rates: Rates;
  counters: Counters;
}

/** By metric: series number of each element, by the element's index; -1 where there is none. */
export type SeriesNumbers = Readonly<Record<MetricName, Int32Array>>;

const NS_PER_S = 1e9;

export class DevicePolls {
  private readonly optics: Optics;
  private readonly directionOf: Int32Array;
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
    this.optics = new Optics(topology, noise, seed);
    this.directionOf = Int32Array.from(topology.ports, (port) => directionFrom(topology, port.index));
    const nicsOf = topology.devices.map((): number[] => []);
    for (const nic of topology.nics) nicsOf[nic.host].push(nic.index);
    this.nicsOf = nicsOf;
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
    book.sample(series.nic_local_ack_timeouts[nic], round, nowNs, counters.ackTimeouts[nic]);
    book.sample(
      series.nic_adaptive_retransmissions[nic],
      round,
      nowNs,
      counters.adaptiveRetransmissions[nic],
    );
    book.sample(series.nic_retries_exceeded[nic], round, nowNs, counters.retriesExceeded[nic]);
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
    const { topology, physical, rates, counters, settings } = this.sources;
    const { book, series } = this;
    const sending = this.directionOf[port];
    const receiving = sending ^ 1;
    const link = topology.links[topology.ports[port].link];
    const arrived = counters.received(receiving);
    const rate = series.port_rate_gbps[port];
    if (physical.operUp[port] === 1) book.sample(rate, round, nowNs, rates.linkGbps[link.index]);
    else book.notAvailable(rate, nowNs);
    const poll = (metric: MetricName, value: number): void =>
      book.sample(series[metric][port], round, nowNs, value);
    poll('port_tx_bytes', Math.floor(counters.sent(sending)));
    poll('port_rx_bytes', Math.floor(arrived));
    poll('port_tx_discards', Math.floor(counters.discarded(port)));
    poll('port_rx_errors', Math.floor((arrived / packetBytes(settings)) * link.lossRatio));
    poll('port_link_down_events', physical.linkDownEvents[port]);
    poll('port_pause_rx_s', counters.pausedNs[sending] / NS_PER_S);
    poll('port_pause_tx_s', counters.pausedNs[receiving] / NS_PER_S);
    this.pollQueues(port, nowNs, round);
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
      poll('optic_temperature_c', this.optics.temperature(port, round));
    }
  }
}
