/**
 * A fabric whose settings outlive the process that changed them, as those of real switches do.
 *
 * Traffic and telemetry come from the simulated fabric; what impairments change is kept in files of a folder that all
 * processes share, with a log of who did what. A test can hold a drill at any step, and make undo fail or lie.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openFabric } from '../../src/drivers/catalog.js';
import {
  advancesTime,
  runsWorkload,
  tracesPaths,
  type AdvancesTime,
  type ConfigurationSnapshot,
  type Fabric,
  type FabricDescription,
  type RunsWorkload,
  type TracesPaths,
} from '../../src/fabric-api/fabric.js';
import type { Impairment } from '../../src/fabric-api/impairment.js';
import type { Evidence } from '../../src/model/telemetry/series.js';

/** Steps of a drill at which it can be held, in the order they come. */
export const STEPS = [
  'preflight',
  'baseline',
  'intended',
  'injecting',
  'holding',
  'reverting',
  'reverted',
  'observing',
] as const;
export type Step = (typeof STEPS)[number];

export interface OutsideOptions {
  /** Folder that the processes share. */
  world: string;
  /** Resolves when the drill on this fabric may go on from a step. */
  hold?: (fabric: string, step: Step) => Promise<void> | undefined;
  /** What becomes of an undo: done, refused with an error, or claimed and not done. */
  undo?: (fabric: string) => 'works' | 'fails' | 'lies';
}

export interface LogLine {
  pid: number;
  action: 'apply' | 'revert';
  id: string;
}

/** Opener for a worker's settings. */
export const outsideFabrics =
  (options: OutsideOptions): typeof openFabric =>
  async (document, seed) => {
    const inner = await openFabric(document, seed);
    if (!advancesTime(inner) || !runsWorkload(inner) || !tracesPaths(inner))
      throw new Error('the simulated fabric lacks an interface');
    return new OutsideFabric(document.metadata.name, inner, options);
  };

/** What was done to a fabric by whom, in order. */
export function actionsOn(world: string, fabric: string): LogLine[] {
  const file = join(world, `${fabric}.log`);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as LogLine);
}

/** Settings that differ from a healthy fabric's. */
export function settingsOf(world: string, fabric: string): ConfigurationSnapshot {
  const file = join(world, `${fabric}.json`);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as ConfigurationSnapshot) : {};
}

class OutsideFabric implements Fabric, AdvancesTime, RunsWorkload, TracesPaths {
  private before = true;
  private readonly inPlace = new Set<string>();

  constructor(
    private readonly name: string,
    private readonly inner: Fabric & AdvancesTime & RunsWorkload & TracesPaths,
    private readonly options: OutsideOptions,
  ) {
    mkdirSync(options.world, { recursive: true });
  }

  get nowNs(): number {
    return this.inner.nowNs;
  }

  describe(): FabricDescription {
    return this.inner.describe();
  }

  async startJobs(): Promise<void> {
    await this.hold('preflight');
    await this.inner.startJobs();
  }

  async advance(toNs: number): Promise<void> {
    const done = this.before ? 'baseline' : 'observing';
    await this.hold(this.inPlace.size > 0 ? 'holding' : done);
    await this.inner.advance(toNs);
  }

  jobsCrossing(elementId: string): Promise<string[]> {
    return this.inner.jobsCrossing(elementId);
  }

  async readBack(impairment: Impairment): Promise<ConfigurationSnapshot> {
    const found = await this.inner.readBack(impairment);
    const outside = settingsOf(this.options.world, this.name);
    return Object.fromEntries(
      Object.entries(found).map(([element, own]) => [element, outside[element] ?? own]),
    );
  }

  async apply(id: string, impairment: Impairment): Promise<void> {
    await this.hold('intended');
    await this.inner.apply(id, impairment);
    this.write(await this.inner.readBack(impairment));
    this.log('apply', id);
    this.before = false;
    this.inPlace.add(id);
    await this.hold('injecting');
  }

  async revert(id: string, impairment: Impairment, saved: ConfigurationSnapshot): Promise<void> {
    await this.hold('reverting');
    const undo = this.options.undo?.(this.name) ?? 'works';
    if (undo === 'fails') throw new Error('the switch answers no more');
    if (undo === 'lies') return;
    await this.inner.revert(id, impairment, saved);
    this.write(saved);
    this.log('revert', id);
    this.inPlace.delete(id);
    await this.hold('reverted');
  }

  observe(window: { fromNs: number; toNs: number }): Promise<Evidence> {
    return this.inner.observe(window);
  }

  close(): Promise<void> {
    return this.inner.close();
  }

  private async hold(step: Step): Promise<void> {
    await this.options.hold?.(this.name, step);
  }

  private write(snapshot: ConfigurationSnapshot): void {
    const settings = { ...settingsOf(this.options.world, this.name), ...snapshot };
    writeFileSync(join(this.options.world, `${this.name}.json`), JSON.stringify(settings));
  }

  private log(action: LogLine['action'], id: string): void {
    const line: LogLine = { pid: process.pid, action, id };
    appendFileSync(join(this.options.world, `${this.name}.log`), `${JSON.stringify(line)}\n`);
  }
}
