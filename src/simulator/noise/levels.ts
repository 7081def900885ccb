/**
 * Two untidy worlds, figure by figure: what healthy fabrics of today do, and what badly kept ones do.
 *
 * The sources behind each row id (G GPUs and hosts, O optics, N NICs, T traffic, S telemetry, C control plane) stand in
 * docs/realism.md; where none is published the figure is a choice of ours, which that page says.
 */

type Span = readonly [least: number, most: number];

export interface Level {
  /** Standard deviations of lasting factors, and where they are cut. G1 */
  gpuFactor: { spread: number; cut: number };
  hostFactor: { spread: number };
  /** Share of hosts that are 10 % slower than others. G2 */
  slowHosts: { share: number; factor: number };
  /** How much more the last stage of a pipeline has to do. G4 */
  lastStage: number;
  /** Coefficients of variation by rank and step: the machine's, and that of its sequences. G6, G4 */
  stepNoise: number;
  sequenceNoise: number;
  /** Peak to peak over a day, all ranks alike. G3 */
  daySwing: number;
  /** Longer stops of one rank by the operating system: a minute, s. G8 */
  osStall: { perMinute: number; lastS: Span };
  /** Garbage collection: every so many steps, of all ranks at once or of each on its own, s. G7 */
  gc: { everySteps: number; together: boolean; medianS: number; sigma: number };
  /** One rank waits for its data: per step, s. G4 */
  loaderStall: { perStep: number; medianS: number; sigma: number; capS: number };
  /** A GPU too hot: per GPU-day, s, factor. G5 */
  throttle: { perDay: number; meanS: number; factor: Span };
  /** log10 of the bit-error ratio before FEC. O1, O2, O7; `bad`: share moved to the worst decade. */
  opticBer: { mean: number; spread: number; cut: Span; bad: number };
  copperBer: { mean: number; spread: number; exactZero: number };
  /** log10 in time. O1 */
  berDrift: { spread: number; perDegree: number };
  /** Uncorrectable codewords that a link-up leaves, in lots of four. O9 */
  linkUpLots: number;
  /** Links that corrupt without harm: log10 of the loss. O14 */
  corruption: { share: number; log10: Span };
  /** dB: launched by port, read with a lasting error, noise and a daily drift. O10-O12 */
  launchDbm: { mean: number; spread: number };
  powerError: { spread: number; cut: number; noise: number; dayDrift: number };
  temperatureC: { mean: number; spread: number; daySwing: number };
  /** Per link-month; s. O17, O18 */
  flap: { perMonth: number; medianS: number; sigma: number };
  /** Per NIC-hour: packets out of sequence each; and ACK timeouts. N1, N3, N4 */
  lossBurst: { perHour: number; packets: Span };
  ackTimeout: { perHour: number };
  /** While sending, a second. N6, D3 */
  cnp: Span;
  pause: { perS: Span; lastS: Span };
  /** Packets that a NIC drops at the start of its job. N6 */
  startDiscards: Span;
  /** Lifetime values: share that is 0, log10 of the others. N2 */
  lifetime: { zero: number; log10: Span };
  /** Each way on a port that is up, bytes/s. T4 */
  controlBytesPerS: number;
  /** Of a scrape's time, s: about 0, or a tail of late ones. S3 */
  jitterS: { spread: number; tailMedian: number; tailSigma: number };
  /** Scrapes that fail; gaps a day, of so many s on such a share of the devices. S4 */
  missing: number;
  gap: { perDay: number; lastS: Span; targets: Span };
  /** Age that a device's cache may reach, s; share of devices three times as slow. S1, C3 */
  cache: { queueS: number; opticS: number; slow: number };
  /** Series that answer N/A. S6 */
  blank: number;
  /** Counters that start again, per device-month. S5 */
  resetPerMonth: number;
  /** s: hosts, of which `far` are off by so much; switches. S8 */
  clock: { host: number; far: { share: number; offset: number }; switch: number };
  /** s. Link down to reroute as a factor on the settings, the time per prefix, and events that wait. C1-C3 */
  reroute: { median: number; sigma: number; perPrefixS: number; late: { share: number; byS: Span } };
  /** Sessions that go down for nothing, per session-day. C7 */
  bfdBouncePerDay: number;
  /** s until a port with light says so. C4, C5 */
  portUp: { medianS: number; sigma: number; capS: number };
}

const typical: Level = {
  gpuFactor: { spread: 0.01, cut: 0.03 }, // G1
  hostFactor: { spread: 0.004 }, // G1
  slowHosts: { share: 0.001, factor: 1.1 }, // G2
  lastStage: 0.05, // G4
  stepNoise: 0.004, // G6
  sequenceNoise: 0.01, // G4
  daySwing: 0.01, // G3
  osStall: { perMinute: 0, lastS: [0.002, 0.01] }, // G8
  gc: { everySteps: 500, together: true, medianS: 0.15, sigma: 0 }, // G7
  loaderStall: { perStep: 0.001, medianS: 0.5, sigma: 0.8, capS: 10 }, // G4
  throttle: { perDay: 0.001, meanS: 600, factor: [1.03, 1.1] }, // G5
  opticBer: { mean: -9.5, spread: 1.2, cut: [-13, -6.5], bad: 0 }, // O1, O2, O7
  copperBer: { mean: -11, spread: 1, exactZero: 0.8 }, // O1, O3
  berDrift: { spread: 0.1, perDegree: 0 }, // O1
  linkUpLots: 1, // O9
  corruption: { share: 0.001, log10: [-9, -7] }, // O14
  launchDbm: { mean: 1.5, spread: 1 }, // O11, O12
  powerError: { spread: 0.7, cut: 2, noise: 0.03, dayDrift: 0.1 }, // O10
  temperatureC: { mean: 50, spread: 4, daySwing: 1.5 }, // O11
  flap: { perMonth: 0.01, medianS: 5, sigma: 0.7 }, // O17, O18
  lossBurst: { perHour: 0.02, packets: [1, 20] }, // N1, N3
  ackTimeout: { perHour: 0.002 }, // N4
  cnp: [10, 300], // N6, D3
  pause: { perS: [0, 10], lastS: [1e-6, 2e-5] }, // N6
  startDiscards: [0, 20], // N6
  lifetime: { zero: 0.4, log10: [0, 3] }, // N2
  controlBytesPerS: 350, // T4
  jitterS: { spread: 0.003, tailMedian: 0, tailSigma: 0 }, // S3
  missing: 0.001, // S4
  gap: { perDay: 0.1, lastS: [300, 300], targets: [0.05, 0.05] }, // S4
  cache: { queueS: 10, opticS: 60, slow: 0 }, // S1, C3
  blank: 0.0005, // S6
  resetPerMonth: 1, // S5
  clock: { host: 1e-4, far: { share: 0, offset: 0.05 }, switch: 1e-3 }, // S8
  reroute: { median: 1, sigma: 0.5, perPrefixS: 5e-4, late: { share: 0, byS: [5, 30] } }, // C1-C3
  bfdBouncePerDay: 1e-4, // C7
  portUp: { medianS: 6, sigma: 0.4, capS: 60 }, // C4, C5
};

const rough: Level = {
  gpuFactor: { spread: 0.02, cut: 0.06 }, // G1
  hostFactor: { spread: 0.01 }, // G1
  slowHosts: { share: 0.005, factor: 1.1 }, // G2
  lastStage: 0.12, // G4
  stepNoise: 0.015, // G6
  sequenceNoise: 0.05, // G4
  daySwing: 0.02, // G3
  osStall: { perMinute: 1, lastS: [0.002, 0.01] }, // G8
  gc: { everySteps: 200, together: false, medianS: 0.15, sigma: 0.6 }, // G7
  loaderStall: { perStep: 1 / 150, medianS: 0.5, sigma: 0.8, capS: 60 }, // G4
  throttle: { perDay: 0.01, meanS: 600, factor: [1.05, 1.2] }, // G5
  opticBer: { mean: -8.3, spread: 1.4, cut: [-12, -5], bad: 0.02 }, // O1, O2, O7
  copperBer: { mean: -10, spread: 1.2, exactZero: 0.5 }, // O1, O3
  berDrift: { spread: 0.25, perDegree: 0.03 }, // O1
  linkUpLots: 1, // O9
  corruption: { share: 0.005, log10: [-9, -6.3] }, // O14
  launchDbm: { mean: 1, spread: 1.6 }, // O11, O12
  powerError: { spread: 1.2, cut: 3, noise: 0.1, dayDrift: 0.3 }, // O10
  temperatureC: { mean: 56, spread: 6, daySwing: 4 }, // O11
  flap: { perMonth: 0.3, medianS: 5, sigma: 0.7 }, // O17, O18
  lossBurst: { perHour: 1, packets: [1, 50] }, // N1, N3
  ackTimeout: { perHour: 0.05 }, // N4
  cnp: [10, 3000], // N6, D3
  pause: { perS: [0, 300], lastS: [1e-6, 1e-4] }, // N6
  startDiscards: [0, 200], // N6
  lifetime: { zero: 0.2, log10: [0, 6] }, // N2
  controlBytesPerS: 350, // T4
  jitterS: { spread: 0, tailMedian: 0.02, tailSigma: 1 }, // S3
  missing: 0.01, // S4
  gap: { perDay: 2, lastS: [120, 600], targets: [0.1, 0.35] }, // S4
  cache: { queueS: 10, opticS: 60, slow: 0.01 }, // S1, C3
  blank: 0.01, // S6
  resetPerMonth: 4.3, // S5
  clock: { host: 2e-3, far: { share: 0.01, offset: 0.05 }, switch: 1e-2 }, // S8
  reroute: { median: 3, sigma: 0.8, perPrefixS: 1.4e-3, late: { share: 0.01, byS: [5, 30] } }, // C1-C3
  bfdBouncePerDay: 3e-3, // C7
  portUp: { medianS: 12, sigma: 0.6, capS: 60 }, // C4, C5
};

/** What files may ask for; `quiet` has no table, since it draws nothing. */
export const REALISM = ['quiet', 'typical', 'rough'] as const;
export type Realism = (typeof REALISM)[number];

export const levelOf = (realism: Realism): Level | undefined =>
  realism === 'quiet' ? undefined : { typical, rough }[realism];
