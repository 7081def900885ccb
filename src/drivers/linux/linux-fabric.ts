/**
 * The fabric contract over Linux network stacks: namespaces of this host, with FRR on the switches and real jobs.
 *
 * Before a setting is turned, a timer is armed where it is turned, which gives it back when the lease ends; it is proved by
 * reading back, and disarmed once the setting has been given back in the ordinary way. A profile is one impairment with one
 * timer: its later levels are turned here, when they are due.
 */
import { EnvironmentError, messageOf } from '../../core/problem.js';
import { ownIdentity } from '../../system/process-identity.js';
import { through, Turnstile } from '../../system/turnstile.js';
import type { Evidence } from '../../model/telemetry/series.js';
import type { Job } from '../../model/workload/job.js';
import type {
  ConfigurationSnapshot,
  Fabric,
  FabricDescription,
  KeepsTime,
  Prepares,
  RunsWorkload,
  TracesPaths,
} from '../../fabric-api/fabric.js';
import { levelsOf, type Impairment, type ImpairmentType } from '../../fabric-api/impairment.js';
import { keyOf, Override, savedValue } from '../../fabric-api/overrides.js';
import { sameSetting, settingText, type SettingValue } from '../../fabric-api/setting.js';
import type { Clock } from './clock.js';
import { knobsOf } from './controls/controls.js';
import type { Knob } from './controls/knob.js';
import type { Scheduler } from './controls/scheduler-knobs.js';
import { HEADER_BYTES, type Lab } from './lab/lab.js';
import { requireMachine } from './lab/requirements.js';
import { jobsByElement, type JobFlow } from './lab/crossing.js';
import { quoteCommand, quoteWord } from './undo/shell.js';
import { preferThisSession } from './priority.js';
import { Profiles, type Level } from './profiles.js';
import { TimerActedError, type UndoKeeper } from './undo/timers.js';

/** The jobs of a lab, as far as the fabric has to do with them. */
export interface Workload extends Scheduler {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Connections there are, or those that there will be once the jobs are started. */
  flows(): Promise<readonly JobFlow[]>;
  /** By how much the instants that its hosts report may be off from this machine's clock, ns. */
  clockErrorNs(): number;
}

/** Whoever watches the lab. */
export interface Collector {
  start(): Promise<void>;
  /** The drill's clock runs: what was found until now is how it begins. */
  begin(): void;
  evidence(fromNs: number, toNs: number): Promise<Evidence>;
  stop(): Promise<void>;
}

export interface LinuxFabricParts {
  lab: Lab;
  jobs: readonly Job[];
  clock: Clock;
  workload: Workload;
  collector: Collector;
  undo: UndoKeeper;
  capabilities: ReadonlyMap<ImpairmentType, string>;
  /** Makes the fabric this process's own while its jobs run; returns what gives it up. */
  claim?: () => () => void;
  /** What ends the ways to devices, when all is done. */
  hangUp?: () => void;
}

/** Hosts, switches and whatever else runs share the cores of one machine: 1 to 8 % were measured, by its load. */
const PACE_NOISE = 0.1;
/** A plan asks for every link in turn: the kernels are asked once for all of them. */
const CROSSING_HOLDS_MS = 1000;
/** Of an impairment whose planned time is not known. */
const DEFAULT_HOLD_NS = 60e9;

export class LinuxFabric implements Fabric, KeepsTime, Prepares, RunsWorkload, TracesPaths {
  private readonly overrides = new Map<string, Override>();
  private readonly profiles = new Profiles();
  /** A level that is due and what a drill does meanwhile must not turn one knob at the same time. */
  private readonly turning = new Turnstile(1);
  private readonly lifted = new Set<string>();
  /** By knob: what takes back that it is ready. */
  private readonly ready = new Map<string, () => Promise<void>>();
  /** When impairments began to be turned, by id, ns. */
  private readonly turned = new Map<string, number>();
  /** Impairments that a timer has ended before their time. */
  private readonly endedEarly: string[] = [];
  /** Later levels that could not be turned, and why. */
  private readonly unturned: string[] = [];
  private crossing: { askedMs: number; jobs: Promise<Map<string, string[]>> } | undefined;
  private stepBack: () => void = () => undefined;
  private giveUp: () => void = () => undefined;
  private started = false;
  private closed = false;

  constructor(private readonly parts: LinuxFabricParts) {}

  describe(): FabricDescription {
    const { lab, jobs, capabilities } = this.parts;
    return {
      name: lab.name,
      driver: 'linux',
      topology: lab.topology,
      jobs,
      transport: { mtuBytes: lab.settings.mtu, headerBytes: HEADER_BYTES, ackBytes: HEADER_BYTES },
      paceNoise: PACE_NOISE,
      capabilities,
    };
  }

  clockNs(): number {
    return this.parts.clock.nowNs();
  }

  turnedNs(id: string): number | undefined {
    return this.turned.get(id);
  }

  clockErrorNs(): number {
    return this.parts.workload.clockErrorNs();
  }

  async prepare(_id: string, impairment: Impairment, untilNs: number): Promise<void> {
    this.checkOpen();
    for (const knob of this.knobsOf(impairment, this.leaseS(untilNs))) await this.makeReady(knob);
  }

  private async makeReady(knob: Knob): Promise<void> {
    const key = keyOf(knob);
    if (knob.prepare === undefined || this.ready.has(key)) return;
    this.ready.set(key, await knob.prepare());
  }

  async startJobs(): Promise<void> {
    this.checkOpen();
    const { clock, collector, lab, workload } = this.parts;
    this.giveUp = this.parts.claim?.() ?? this.giveUp;
    this.started = true;
    // Hosts and switches of a lab share the cores of this machine; those of a site do not.
    if (!lab.isRemote) this.stepBack = preferThisSession();
    // Processes that come up slowly on a loaded machine must not eat the baseline.
    await workload.start();
    // Nor must first steps, in which programs and connections warm up, or the time until all devices have been read.
    await collector.start();
    clock.start();
    collector.begin();
  }

  async jobsCrossing(elementId: string): Promise<string[]> {
    const nowMs = performance.now();
    if (this.crossing === undefined || nowMs - this.crossing.askedMs > CROSSING_HOLDS_MS) {
      const { lab, workload } = this.parts;
      const jobs = workload.flows().then((flows) => jobsByElement(lab, flows));
      this.crossing = { askedMs: nowMs, jobs };
    }
    return (await this.crossing.jobs).get(elementId) ?? [];
  }

  async readBack(impairment: Impairment): Promise<ConfigurationSnapshot> {
    const snapshot: Record<string, Record<string, SettingValue>> = {};
    const knobs = this.knobsOf(impairment);
    const values = await Promise.all(knobs.map((knob) => knob.read()));
    knobs.forEach(({ element, setting }, index) => {
      snapshot[element] = { ...snapshot[element], [setting]: values[index] };
    });
    return snapshot;
  }

  async apply(id: string, impairment: Impairment, holdNs = DEFAULT_HOLD_NS): Promise<void> {
    this.checkOpen();
    const leaseS = this.leaseS(holdNs);
    const [first, ...later] = levelsOf(impairment).map(({ afterNs, impairment: level }) => ({
      afterNs,
      knobs: this.knobsOf(level, leaseS),
    }));
    const beganMs = await through([this.turning], () => this.begin(id, first.knobs, leaseS));
    if (beganMs === undefined || later.length === 0) return;
    const levels = later.map(({ afterNs, knobs }): Level => ({
      afterNs,
      enter: (signal) =>
        through([this.turning], async () => {
          if (!signal.aborted) await this.want(id, knobs);
        }),
    }));
    this.profiles.start(id, levels, beganMs, (error) => {
      if (error instanceof TimerActedError) this.endedEarly.push(id);
      else this.unturned.push(`${id}: ${messageOf(error)}`);
    });
  }

  /** @returns when it began to be turned, by `performance.now()`; undefined where it is in place already */
  private async begin(id: string, knobs: readonly Knob[], leaseS: number): Promise<number | undefined> {
    await this.checkForeignTimers(knobs);
    const overrides = await Promise.all(
      knobs.map(
        async (knob) => this.overrides.get(keyOf(knob)) ?? new Override(await knob.read(), knob.worse),
      ),
    );
    await this.armTimers(knobs, overrides, leaseS);
    if (overrides.every((override) => override.has(id))) return undefined;
    await Promise.all(knobs.map((knob) => this.makeReady(knob)));
    knobs.forEach((knob, index) => this.overrides.set(keyOf(knob), overrides[index]));
    this.lifted.delete(id);
    this.turned.set(id, this.clockNs());
    const beganMs = performance.now();
    await this.want(id, knobs);
    return beganMs;
  }

  /** What holds already is not told again. */
  private async want(id: string, knobs: readonly Knob[]): Promise<void> {
    await Promise.all(
      knobs.map(async (knob) => {
        const override = this.overrides.get(keyOf(knob))!;
        const now = override.isHeld ? override.value : undefined;
        override.want(id, knob.impaired);
        if (!sameSetting(override.value, now)) await this.turn(knob, override);
      }),
    );
  }

  /** To what hurts most of what is wanted, under the eyes of its timer where commands on the device are all it takes. */
  private async turn(knob: Knob, { value, before }: Override): Promise<void> {
    if (!knob.byCommands) return knob.write(value);
    const undo = { setting: keyOf(knob), node: knob.node, steps: knob.undo(before) };
    await this.parts.undo.turn(undo, knob.undo(value));
    // A device that says OK and does nothing would pass every drill.
    if (sameSetting(value, before) || !sameSetting(await knob.read(), before)) return;
    throw new EnvironmentError(
      `${knob.node.name} took the order to set ${knob.setting} of ${knob.element} to ${settingText(value)}, and did not`,
      'does another program hold its configuration? no fault is in place there',
    );
  }

  /** All of them, or none that was not armed before. */
  private async armTimers(
    knobs: readonly Knob[],
    overrides: readonly Override[],
    leaseS: number,
  ): Promise<void> {
    try {
      await Promise.all(
        knobs.map((knob, index) => {
          const steps = knob.undo(overrides[index].before);
          return this.parts.undo.arm({ setting: keyOf(knob), node: knob.node, steps }, leaseS, ownIdentity());
        }),
      );
    } catch (error) {
      for (const knob of knobs.filter((one) => !this.overrides.has(keyOf(one)))) {
        // One that could not be armed has mostly lost its device: why it failed is what must be told.
        await Promise.resolve(this.parts.undo.disarm(keyOf(knob), knob.node)).catch(() => undefined);
      }
      throw error;
    }
  }

  async revert(id: string, impairment: Impairment, saved: ConfigurationSnapshot): Promise<void> {
    this.checkOpen();
    const knobs = this.knobsOf(impairment);
    if (this.lifted.has(id)) return;
    await this.profiles.stop(id);
    await through([this.turning], () => Promise.all(knobs.map((knob) => this.lift(id, knob, saved))));
    this.lifted.add(id);
  }

  private async lift(id: string, knob: Knob, saved: ConfigurationSnapshot): Promise<void> {
    const key = keyOf(knob);
    const override = this.overrides.get(key);
    if (override === undefined) {
      await giveBack(knob, savedValue(knob, saved));
      await this.parts.undo.disarm(key, knob.node);
      return;
    }
    const now = override.value;
    override.drop(id);
    if (override.isHeld) {
      if (sameSetting(override.value, now)) return;
      await this.turn(knob, override).catch((error: unknown) => {
        if (!(error instanceof TimerActedError)) throw error;
        this.endedEarly.push(id);
      });
      return;
    }
    await giveBack(knob, override.before);
    this.overrides.delete(key);
    this.ready.delete(key);
    if (await this.parts.undo.disarm(key, knob.node)) this.endedEarly.push(id);
  }

  async observe(window: { fromNs: number; toNs: number }): Promise<Evidence> {
    if (this.endedEarly.length > 0) {
      throw new EnvironmentError(
        `undo timers ended ${this.endedEarly.join(', ')} before the drill did, so the drill is none`,
        'was the machine asleep or overloaded? run it again',
      );
    }
    if (this.unturned.length > 0) {
      throw new EnvironmentError(
        `a later level could not be set, so the drill is none: ${this.unturned.join('; ')}`,
        'does the device answer? run it again',
      );
    }
    return this.parts.collector.evidence(window.fromNs, window.toNs);
  }

  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    const { collector, workload } = this.parts;
    try {
      await this.profiles.stopAll();
      await Promise.all([...this.ready.values()].map((takeBack) => takeBack()));
      if (this.started) await Promise.all([workload.stop(), collector.stop()]);
    } finally {
      this.stepBack();
      this.giveUp();
      this.parts.hangUp?.();
    }
  }

  private knobsOf(impairment: Impairment, leaseS = this.leaseS(DEFAULT_HOLD_NS)): Knob[] {
    const { lab, workload } = this.parts;
    return knobsOf(impairment, { lab, scheduler: workload, leaseS, capabilities: this.parts.capabilities });
  }

  private leaseS(holdNs: number): number {
    return Math.ceil((holdNs + this.parts.lab.lab.undoMargin) / 1e9);
  }

  /** A timer that another drill has left would end this one's fault in the midst of it. */
  private async checkForeignTimers(knobs: readonly Knob[]): Promise<void> {
    if (!this.parts.lab.isRemote) requireMachine();
    const settings = new Set(knobs.map(keyOf));
    const own = ownIdentity();
    const armed = await this.parts.undo.armed(knobs.map(({ node }) => node));
    const foreign = armed.find(({ setting, owner }) => settings.has(setting) && owner !== own);
    if (foreign === undefined) return;
    throw new EnvironmentError(
      `an undo timer of another drill is armed for ${foreign.setting}; it fires at ${new Date(foreign.firesAtMs).toISOString()}`,
      'wait until it has fired, or do at once what it would do',
    );
  }

  private checkOpen(): void {
    if (this.closed) throw new Error(`the fabric "${this.parts.lab.name}" is closed`);
  }
}

/** @throws Error that says what a person would have to do, where it can't be done from here */
async function giveBack(knob: Knob, value: SettingValue): Promise<void> {
  try {
    await knob.write(value);
  } catch (error) {
    const steps = (knob.byHand?.(value) ?? knob.undo(value)).map(({ command, input }) => {
      const line = quoteCommand(knob.node.place.byHand(command));
      return input === undefined ? line : `printf %s ${quoteWord(input)} | ${line}`;
    });
    const why = messageOf(error);
    throw new Error(`${why}; by hand: ${steps.join('; ')}`, { cause: error });
  }
}
