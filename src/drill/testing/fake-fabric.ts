/**
 * A fabric in memory that fails where a test says, and a plan on it.
 *
 * Time moves without traffic, so a walk over it costs nothing; every call is a step that a test can count, abort at or
 * break. What is impaired is one text per element, as a real device's read-back would show it.
 */
import type { Evidence } from '../../model/telemetry/series.js';
import type {
  AdvancesTime,
  ConfigurationSnapshot,
  Fabric,
  FabricDescription,
} from '../../fabric-api/fabric.js';
import { impairedElement, type Impairment, type ImpairmentType } from '../../fabric-api/impairment.js';
import { settingText } from '../../fabric-api/setting.js';
import { buildTopology, topologySchema } from '../../model/topology/topology-spec.js';
import type { Plan, PlannedImpairment } from '../plan/plan.js';

const TOPOLOGY = buildTopology(
  topologySchema.parse({ builder: 'leaf-spine', leaves: 2, spines: 2, hostsPerLeaf: 1, gpusPerHost: 1 }),
);

export const LINKS: readonly string[] = TOPOLOGY.links.map(({ id }) => id);

/** Called before (and with `after` after) every call to the fabric; may throw. */
export type Step = (call: string, when: 'before' | 'after') => void;

export class FakeFabric implements Fabric, AdvancesTime {
  nowNs = 0;
  /** Ids in the order of their application. */
  readonly applied: string[] = [];
  readonly reverted: string[] = [];
  private readonly settings = new Map<string, string>();
  private readonly holders = new Map<string, Set<string>>();

  /** @param cutBefore links that an operator had cut before the drill */
  constructor(
    private readonly step: Step = () => undefined,
    cutBefore: readonly string[] = [],
    private readonly supported: readonly ImpairmentType[] = ['link-cut'],
  ) {
    for (const link of cutBefore) this.settings.set(link, 'cut');
  }

  describe(): FabricDescription {
    return {
      name: 'fake',
      driver: 'fake',
      topology: TOPOLOGY,
      jobs: [],
      transport: { mtuBytes: 4096, headerBytes: 58, ackBytes: 64 },
      capabilities: new Map(this.supported.map((type) => [type, ''])),
    };
  }

  /** Settings of all links. */
  get state(): Record<string, string> {
    return Object.fromEntries(LINKS.map((link) => [link, this.settings.get(link) ?? 'connected']));
  }

  async readBack(impairment: Impairment): Promise<ConfigurationSnapshot> {
    this.step('readBack', 'before');
    const element = impairedElement(impairment);
    return { [element]: { cable: this.settings.get(element) ?? 'connected' } };
  }

  async apply(id: string, impairment: Impairment): Promise<void> {
    this.step('apply', 'before');
    const element = impairedElement(impairment);
    this.applied.push(id);
    this.holders.set(element, (this.holders.get(element) ?? new Set()).add(id));
    this.settings.set(element, 'cut');
    this.step('apply', 'after');
  }

  async revert(id: string, impairment: Impairment, saved: ConfigurationSnapshot): Promise<void> {
    this.step('revert', 'before');
    const element = impairedElement(impairment);
    const holders = this.holders.get(element);
    holders?.delete(id);
    if ((holders?.size ?? 0) === 0)
      this.settings.set(element, settingText(saved[element]?.cable ?? 'connected'));
    this.reverted.push(id);
    this.step('revert', 'after');
  }

  async advance(toNs: number): Promise<void> {
    this.step('advance', 'before');
    this.nowNs = toNs;
  }

  async observe(window: { fromNs: number; toNs: number }): Promise<Evidence> {
    this.step('observe', 'before');
    return { ...window, series: [] };
  }

  async close(): Promise<void> {
    return undefined;
  }
}

/** Cuts of links, each from one second to another. */
export function planOfCuts(cuts: readonly { link: string; fromS: number; toS: number }[]): Plan {
  const impairments = cuts.map(({ link, fromS, toS }, ordinal): PlannedImpairment => ({
    id: `cut/${ordinal}`,
    impairment: { type: 'link-cut', link },
    atNs: fromS * 1e9,
    untilNs: toS * 1e9,
  }));
  const atNs = Math.min(...impairments.map((one) => one.atNs));
  const endNs = Math.max(...impairments.map((one) => one.untilNs));
  return {
    experiment: 'cuts',
    fabric: 'fake',
    driver: 'fake',
    seed: 1,
    durationNs: endNs + 2e9,
    faults: [
      {
        name: 'cut',
        kind: 'link-down',
        parameters: { variant: 'cut' },
        targets: cuts.map(({ link }) => ({ type: 'link', id: link })),
        atNs,
        durationNs: endNs - atNs,
        impairments,
        truth: [],
        expectedMetrics: [],
      },
    ],
    blastRadius: { links: cuts.map(({ link }) => link), devices: [], exposedJobs: null, bystanderJobs: null },
    unsupported: [],
    undo: [],
  };
}
