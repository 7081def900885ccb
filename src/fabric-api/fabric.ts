/**
 * The fabric contract: small on purpose, so that a new fabric is one folder.
 *
 * The caller picks an impairment's id and stores it, with what will undo it, *before* `apply`; another process can
 * then revert after a crash. `revert` is idempotent: for an id this instance never saw it must still bring the
 * element back to what `saved` says. Extras are optional interfaces found by type, as in k6's outputs.
 */
import type { EvidenceSize } from '../model/telemetry/evidence-size.js';
import type { Evidence } from '../model/telemetry/series.js';
import type { Job } from '../model/workload/job.js';
import type { Topology } from '../model/topology/model.js';
import type { Impairment, ImpairmentType } from './impairment.js';
import type { ConfigurationSnapshot } from './setting.js';

export type { ConfigurationSnapshot };

/** What an operator knows about the fabric and the jobs on it; all a diagnoser gets besides evidence. */
export interface FabricDescription {
  name: string;
  driver: string;
  topology: Topology;
  jobs: readonly Job[];
  /** Packet sizes on this fabric, for closed-form expectations: payload per packet, headers, one ACK. */
  transport: { mtuBytes: number; headerBytes: number; ackBytes: number };
  /** How its switches and NICs are set against congestion; left out where the fabric can't tell. */
  congestion?: CongestionDescription;
  /** How much the pace of steps may scatter though nothing is wrong, where that is more than a profile's default. */
  paceNoise?: number;
  /** Impairments this fabric can apply, and what each costs in realism ('' when it is the real thing). */
  capabilities: ReadonlyMap<ImpairmentType, string>;
}

/** Settings against congestion as they are before any fault: what a wrong setting is wrong in comparison with. */
export interface CongestionDescription {
  /** Traffic classes that have queues, ascending. */
  priorities: readonly number[];
  /** Those that are paused rather than dropped; empty where PFC is off. */
  losslessPriorities: readonly number[];
  /** Whether NICs slow down when packets are marked. */
  dcqcn: boolean;
  /** @param device index of a switch */
  ofSwitch(device: number): SwitchBuffering;
}

export interface SwitchBuffering {
  /** Marking begins at kmin and is most frequent, `pmax` of packets, from kmax on; a pmax of 0 never marks. */
  kminBytes: number;
  kmaxBytes: number;
  pmax: number;
  /** Memory that all ports share. */
  bufferBytes: number;
  /** Room per port and class for what is under way when a pause is sent. */
  headroomBytes: number;
  /** Share of the free buffer that a port may fill before it pauses (alpha). */
  freeShare: number;
}

export interface Fabric {
  describe(): FabricDescription;
  /** Reads the settings that the impairment would change, from the fabric itself, never from a cache of intents. */
  readBack(impairment: Impairment): Promise<ConfigurationSnapshot>;
  /**
   * Applied in its first level; the fabric goes through the later ones by itself, until it is reverted. An id that is in
   * place is left as it is.
   * @param holdNs how long it is to last: a real fabric gives the setting back by itself some time after that
   * @throws InputError when the fabric can't apply it; nothing is changed then
   */
  apply(id: string, impairment: Impairment, holdNs?: number): Promise<void>;
  /** Idempotent, safe for ids never applied; no later level comes after it. `saved` is what readBack gave before apply. */
  revert(id: string, impairment: Impairment, saved: ConfigurationSnapshot): Promise<void>;
  /** Telemetry between two instants of the fabric's clock, ns from the run's start. */
  observe(window: { fromNs: number; toNs: number }): Promise<Evidence>;
  close(): Promise<void>;
}

/** A fabric whose clock the drill drives (a simulator). */
export interface AdvancesTime {
  readonly nowNs: number;
  /** Runs the fabric up to `toNs`; resolves there. */
  advance(toNs: number): Promise<void>;
}

/** A fabric with a clock of its own that nobody drives: what it observes is stamped by it. */
export interface KeepsTime {
  /** ns since its jobs were started, 0 before that. */
  clockNs(): number;
  /**
   * When the settings of an impairment began to be turned, ns: nothing of it can show before, however long it took until
   * `apply` resolved. Undefined when it was not applied.
   */
  turnedNs?(id: string): number | undefined;
  /** By how much the instants that jobs have reported may be off from that clock, ns; 0 where they are stamped by it. */
  clockErrorNs?(): number;
}

/** A fabric on which some impairments take a while to get ready, such as programs that have to start. */
export interface Prepares {
  /**
   * Does what changes nothing yet, so that `apply` is a matter of an instant; `close` ends what was never applied.
   * @param untilNs when the impairment will have been reverted, ns from the run's start
   */
  prepare(id: string, impairment: Impairment, untilNs: number): Promise<void>;
}

/** A fabric whose telemetry of the past can be asked for, by wall-clock time. */
export interface RemembersTelemetry {
  /** Evidence whose times count from `fromMs`; ms since 1970. */
  remember(fromMs: number, toMs: number): Promise<Evidence>;
}

/** A fabric that can start jobs itself. */
export interface RunsWorkload {
  startJobs(): Promise<void>;
}

/** A fabric that knows which jobs' routes cross an element at this moment. */
export interface TracesPaths {
  /** Names of jobs with a connection whose current path crosses the element (link, port, device or nic id). */
  jobsCrossing(elementId: string): Promise<string[]>;
}

/** The begin of something in a job: of a step, of a collective over the fabric, of a checkpoint. */
export interface JobBoundary {
  /** Name of the job. */
  job: string;
  kind: 'step' | 'collective' | 'checkpoint';
  /** Counted over the job's life from 1; left out: the next one. */
  number?: number;
}

/** A fabric whose jobs tell when they begin a step, a collective or a checkpoint. */
export interface WatchesJobs {
  /**
   * Goes on until the first of these boundaries, or to `untilNs`.
   * @returns which of them came (index) and when it began; undefined when none did
   */
  untilBoundary(
    boundaries: readonly JobBoundary[],
    untilNs: number,
  ): Promise<{ index: number; beganNs: number } | undefined>;
}

/** A fabric that knows how much evidence it will have given after so long. */
export interface SizesEvidence {
  evidenceSize(durationNs: number): EvidenceSize;
}

/** A fabric whose time passes by computing: it tells that it is at work, and how exact it was. */
export interface Computes {
  /** Called back from within whatever may take long, many times a second; what it throws ends the computation. */
  onWork(listener: () => void): void;
  searches(): SearchRecord;
}

/** How near the searches for steady states came to their end. No series shows it: an operator has nothing like it. */
export interface SearchRecord {
  searches: number;
  /** Those that stopped before they came to their end. */
  stopped: number;
  /** Largest relative error that one was left with, and when, ns; 0 and null where all came to their end. */
  worstResidual: number;
  worstNs: number | null;
}

/** What a simulated world drew, or a file stated, beside what was asked for; nothing that an operator could know. */
export interface WorldRecord {
  realism: string;
  /** Lasting traits, by name: unit, elements whose value a file stated, value by element. */
  traits: Readonly<
    Record<string, { unit: string; stated: readonly string[]; values: Readonly<Record<string, number>> }>
  >;
  /** What happened though nobody injected it, ns of the fabric's clock. */
  events: readonly { event: string; element: string; fromNs: number; toNs: number; value?: number }[];
}

/** A fabric whose world is drawn. */
export interface DrawsWorld {
  /** Undefined where nothing was drawn. */
  world(): WorldRecord | undefined;
}

export const drawsWorld = (fabric: Fabric): fabric is Fabric & DrawsWorld =>
  'world' in fabric && typeof fabric.world === 'function';
export const advancesTime = (fabric: Fabric): fabric is Fabric & AdvancesTime =>
  'advance' in fabric && typeof fabric.advance === 'function';
export const keepsTime = (fabric: Fabric): fabric is Fabric & KeepsTime =>
  'clockNs' in fabric && typeof fabric.clockNs === 'function';
export const prepares = (fabric: Fabric): fabric is Fabric & Prepares =>
  'prepare' in fabric && typeof fabric.prepare === 'function';
export const remembersTelemetry = (fabric: Fabric): fabric is Fabric & RemembersTelemetry =>
  'remember' in fabric && typeof fabric.remember === 'function';
export const runsWorkload = (fabric: Fabric): fabric is Fabric & RunsWorkload =>
  'startJobs' in fabric && typeof fabric.startJobs === 'function';
export const tracesPaths = (fabric: Fabric): fabric is Fabric & TracesPaths =>
  'jobsCrossing' in fabric && typeof fabric.jobsCrossing === 'function';
export const sizesEvidence = (fabric: Fabric): fabric is Fabric & SizesEvidence =>
  'evidenceSize' in fabric && typeof fabric.evidenceSize === 'function';
export const computes = (fabric: Fabric): fabric is Fabric & Computes =>
  'onWork' in fabric && typeof fabric.onWork === 'function';
export const watchesJobs = (fabric: Fabric): fabric is Fabric & WatchesJobs =>
  'untilBoundary' in fabric && typeof fabric.untilBoundary === 'function';
