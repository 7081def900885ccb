/**
 * Where bytes are missing in a simulated fabric, told from its counters alone, at every poll.
 *
 * A link loses only frames that its receiver counts as errors (or, where it is cut, what vanishes); a switch sends on what
 * it takes in, but for what waits in its queues and what its ports count as dropped. Counters of bytes are rounded down,
 * and those of packets say nothing of a packet's size, so each balance has its range.
 */
import type { FlowSimulator } from '../../src/simulator/flow-simulator.js';
import { packetBytes } from '../../src/simulator/settings.js';

export interface Imbalance {
  element: string;
  timeS: number;
  /** Bytes beyond what the counters allow: more than zero went away, less came from nowhere. */
  bytes: number;
}

export class Conservation {
  private readonly values = new Map<string, Float64Array>();
  private readonly timesNs: Float64Array;
  private readonly packet: number;

  /**
   * Counters may hold a fraction of a packet that they do not show.
   * @param lossy switches may drop
   * @param damages links may damage frames
   */
  constructor(
    private readonly simulator: FlowSimulator,
    private readonly lossy: boolean,
    private readonly damages: boolean,
  ) {
    const { series } = simulator.evidence(0, simulator.nowNs);
    let times: Float64Array | undefined;
    for (const { metric, element, timesNs, values } of series) {
      if (!/^(port|queue|device_buffer)_/.test(metric)) continue;
      this.values.set(`${metric} ${element}`, Float64Array.from(values));
      if (metric === 'port_tx_bytes') times ??= Float64Array.from(timesNs);
    }
    this.timesNs = times!;
    this.packet = packetBytes(simulator.settings);
  }

  /** @param holes links that lose what nobody counts, by index */
  imbalances(holes: ReadonlySet<number> = new Set()): Imbalance[] {
    return [...this.links(holes), ...this.switches(), ...this.gauges(), ...this.fallen()];
  }

  private links(holes: ReadonlySet<number>): Imbalance[] {
    const { links, ports } = this.simulator.topology;
    return links.flatMap(({ index, portA, portB }) =>
      [
        [portA, portB],
        [portB, portA],
      ].flatMap(([from, to]) => {
        const [sender, receiver] = [ports[from].name, ports[to].name];
        return this.beyond(`${sender} to ${receiver}`, (at) => {
          const lost = this.port('port_tx_bytes', sender, at) - this.port('port_rx_bytes', receiver, at);
          const errors = this.port('port_rx_errors', receiver, at);
          const most = holes.has(index) ? Infinity : (errors + Number(this.damages)) * this.packet;
          return [lost, 0, most, 1];
        });
      }),
    );
  }

  private switches(): Imbalance[] {
    const { devices, ports } = this.simulator.topology;
    return devices
      .filter(({ role }) => role === 'switch')
      .flatMap((device) =>
        this.beyond(device.name, (at) => {
          let missing = 0;
          let drops = 0;
          for (const { name } of device.ports.map((port) => ports[port])) {
            missing += this.port('port_rx_bytes', name, at) - this.port('port_tx_bytes', name, at);
            missing -= this.queues('queue_depth_bytes', name, at);
            drops += this.port('port_rx_discards', name, at) + this.queues('queue_drop_packets', name, at);
          }
          // Each of the counters of drops may have one packet more in its fraction.
          const counters = device.ports.length * (1 + this.classes);
          const most = (drops + (this.lossy || drops > 0 ? counters : 0)) * this.packet;
          return [missing, drops * this.leastDropped, most, counters + device.ports.length];
        }),
      );
  }

  /** A buffer holds what its queues hold, a port sends what its queues send, and no watermark is below its level. */
  private gauges(): Imbalance[] {
    const { devices, ports } = this.simulator.topology;
    return devices
      .filter(({ role }) => role === 'switch')
      .flatMap((device) => {
        const names = device.ports.map((port) => ports[port].name);
        const sum = (metric: string, at: number): number =>
          names.reduce((total, name) => total + this.queues(metric, name, at), 0);
        const slack = names.length * this.classes;
        return [
          ...this.beyond(`buffer of ${device.name}`, (at) => {
            const used = this.at('device_buffer_used_bytes', `device:${device.name}`, at);
            return [used - sum('queue_depth_bytes', at), 0, 0, slack];
          }),
          ...this.beyond(`watermark of ${device.name}`, (at) => {
            const over = sum('queue_depth_max_bytes', at) - sum('queue_depth_bytes', at);
            return [over, 0, Infinity, 0];
          }),
          ...names.flatMap((name) =>
            this.beyond(`queues of ${name}`, (at) => [
              this.port('port_tx_bytes', name, at) - this.queues('queue_tx_bytes', name, at),
              0,
              0,
              this.classes,
            ]),
          ),
        ];
      });
  }

  /** Counters never fall. */
  private fallen(): Imbalance[] {
    const found: Imbalance[] = [];
    for (const [series, values] of this.values) {
      if (/depth|used|ber|rate|status|watchdog/.test(series)) continue;
      for (let at = 1; at < values.length; at++) {
        const bytes = values[at] - values[at - 1];
        if (bytes < 0) found.push({ element: `falls: ${series}`, timeS: this.timesNs[at] / 1e9, bytes });
      }
    }
    return found;
  }

  private beyond(
    element: string,
    balance: (at: number) => [value: number, least: number, most: number, slack: number],
  ): Imbalance[] {
    const found: Imbalance[] = [];
    for (let at = 0; at < this.timesNs.length; at++) {
      const [value, least, most, slack] = balance(at);
      const bytes = value < least - slack ? value - least : value > most + slack ? value - most : 0;
      if (bytes !== 0 || Number.isNaN(value)) found.push({ element, timeS: this.timesNs[at] / 1e9, bytes });
    }
    return found;
  }

  /** Bytes that the smallest packet among the dropped ones has. */
  private get leastDropped(): number {
    return this.simulator.settings.ackBytes;
  }

  private get classes(): number {
    const { topology } = this.simulator;
    const port = topology.ports.find(({ nic }) => nic < 0)!;
    return [0, 1, 2, 3, 4, 5, 6, 7].filter((priority) =>
      this.values.has(`queue_tx_bytes queue:${port.name}/${priority}`),
    ).length;
  }

  private port(metric: string, name: string, at: number): number {
    return this.at(metric, `port:${name}`, at);
  }

  private queues(metric: string, port: string, at: number): number {
    let sum = 0;
    for (let priority = 0; priority < 8; priority++) {
      sum += this.values.get(`${metric} queue:${port}/${priority}`)?.[at] ?? 0;
    }
    return sum;
  }

  private at(metric: string, element: string, at: number): number {
    return this.values.get(`${metric} ${element}`)?.[at] ?? NaN;
  }
}
