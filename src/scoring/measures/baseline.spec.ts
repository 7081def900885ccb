/** Baseline health: healthy, sick for each reason, and not known. */
import { describe, expect, it } from '@jest/globals';
import { deviceId, portId } from '../../core/elements.js';
import { checkBaseline } from './baseline.js';
import type { BaselineInput } from './baseline.js';
import {
  type EvidenceWriter,
  INJECTED_S,
  LEAF_PORT,
  STEP_S,
  STORY,
  evidenceOf,
  jobs,
  topology,
} from '../testing/synthetic-drill.js';
import type { Story } from '../testing/synthetic-drill.js';

const ideal = new Map(jobs.map(({ name }) => [name, STEP_S * 1e9]));
const check = (
  story: Partial<Story> = {},
  change?: (writer: EvidenceWriter) => void,
  overrides: Partial<BaselineInput> = {},
) =>
  checkBaseline({
    evidence: evidenceOf({ ...STORY, ...story }, change),
    topology,
    jobs,
    injectedNs: INJECTED_S * 1e9,
    idealStepNs: ideal,
    ...overrides,
  });

describe('a healthy baseline', () => {
  it('needs no reason', () => {
    expect(check()).toEqual({ healthy: true, reasons: [] });
  });

  it('does not look at what happened from the injection on', () => {
    expect(check({ exposedStallS: 100, exposedDiesS: 25, failbackS: null }).healthy).toBe(true);
  });
});

describe('a sick baseline is told, with the reason', () => {
  it('steps far above the closed form', () => {
    const slow = check({}, undefined, { idealStepNs: new Map([['exposed', 0.2e9]]) });
    expect(slow).toEqual({
      healthy: false,
      reasons: ['job exposed took 0.5 s a step before the fault, where 0.2 s is ideal'],
    });
    const lenient = {
      idealStepNs: new Map([['exposed', 0.2e9]]),
      limits: { idealStepRatio: 3, paceNoise: 0.02 },
    };
    expect(check({}, undefined, lenient).healthy).toBe(true);
  });

  it('a pace that scatters', () => {
    expect(check({ jitter: 0.3 }).reasons).toEqual([
      expect.stringMatching(/^the pace of job exposed scattered by \d+ %/),
      expect.stringMatching(/^the pace of job bystander scattered/),
    ]);
  });

  it.each<[string, (writer: EvidenceWriter) => void, RegExp]>([
    [
      'a port that is down',
      (w) => w.add('port_oper_status', 'port:leaf-2/p1', 5, 0),
      /^already down.*port:leaf-2\/p1$/,
    ],
    [
      'a port below its rated speed',
      (w) => w.add('port_rate_gbps', 'port:leaf-2/p1', 5, 50),
      /^not at the rated speed/,
    ],
    [
      'a device with fewer next hops than its sibling',
      (w) => w.add('route_next_hops', deviceId('leaf-2'), 0.5, 12),
      /^fewer next hops.*device:leaf-2$/,
    ],
    [
      'routes that move',
      (w) => w.add('route_next_hops', deviceId('spine-3'), 12, 7),
      /^routes changed.*device:spine-3$/,
    ],
    [
      'an error counter that rises',
      (w) => {
        w.add('port_rx_errors', portId(LEAF_PORT), 0, 3);
        w.add('port_rx_errors', portId(LEAF_PORT), 10, 4);
      },
      /^port_rx_errors rose before the fault/,
    ],
  ])('%s', (_, change, reason) => {
    const health = check({}, change);
    expect(health.healthy).toBe(false);
    expect(health.reasons.some((text) => reason.test(text))).toBe(true);
  });
});

describe('a baseline without evidence', () => {
  it('is not known: too few steps, no port status, no job', () => {
    const early = check({}, undefined, { injectedNs: 1.2e9 });
    expect(early.healthy).toBeNull();
    expect(early.reasons[0]).toContain('fewer than three steps');
    const silent = check({}, undefined, { evidence: { fromNs: 0, toNs: 60e9, series: [] } });
    expect(silent.healthy).toBeNull();
    expect(silent.reasons).toContain('no port told its status before the fault');
    expect(check({}, undefined, { jobs: [] }).healthy).toBeNull();
  });
});

describe('the limits of health', () => {
  const healthy = (...all: Parameters<typeof check>) => check(...all).healthy;
  const ideally = (ns: number) => ({ idealStepNs: new Map([['exposed', ns]]) });

  it('are twice the ideal step, and two per cent of scatter', () => {
    expect([healthy({}, undefined, ideally(0.25e9)), healthy({}, undefined, ideally(0.249e9))]).toEqual([
      true,
      false,
    ]);
    expect(healthy({}, undefined, { idealStepNs: new Map() })).toBe(true);
    expect([healthy({ jitter: 0.019 }), healthy({ jitter: 0.021 })]).toEqual([true, false]);
  });

  it('are a hundredth of the rated speed', () => {
    const rate = (gbps: number) => healthy({}, (w) => w.add('port_rate_gbps', 'port:leaf-2/p1', 5, gbps));
    expect([99, 98.9, 101, 101.1].map(rate)).toEqual([true, false, true, false]);
  });

  it('are looked at up to a second before the fault, where clocks may be off', () => {
    const at = (timeS: number) => ({
      port: healthy({}, (w) => w.add('port_oper_status', 'port:leaf-2/p1', timeS, 0)),
      speed: healthy({}, (w) => w.add('port_rate_gbps', 'port:leaf-2/p1', timeS, 50)),
      routes: healthy({}, (w) => w.add('route_next_hops', deviceId('spine-3'), timeS, 7)),
      errors: healthy({}, (w) => {
        w.add('port_rx_errors', portId(LEAF_PORT), 0, 3);
        w.add('port_rx_errors', portId(LEAF_PORT), timeS, 4);
      }),
    });
    expect(at(INJECTED_S - 1)).toEqual({ port: false, speed: false, routes: false, errors: false });
    expect(at(INJECTED_S - 0.9)).toEqual({ port: true, speed: true, routes: true, errors: true });
  });

  it('leave half of a baseline that is shorter than that', () => {
    const down = (timeS: number) =>
      check({}, (w) => w.add('port_oper_status', 'port:leaf-2/p1', timeS, 0), {
        injectedNs: 1.6e9,
        jobs: [],
      }).reasons.some((reason) => reason.startsWith('already down'));
    expect([down(0.79), down(0.81)]).toEqual([true, false]);
  });
});

it('an error counter that stands, or falls, or is read once, is no sickness', () => {
  const counted = (...values: number[]) =>
    check({}, (w) =>
      values.forEach((value, at) => w.add('queue_drop_packets', 'queue:leaf-1/p1/3', at, value)),
    ).healthy;
  expect([counted(7), counted(7, 7, 7), counted(7, 3), counted(7, 8, 8)]).toEqual([true, true, true, false]);
});

it('siblings are those of one tier, plane and set of links', () => {
  // spines have 8 next hops where leaves have 16: only like is compared with like
  expect(check().healthy).toBe(true);
  const fewer = check({}, (w) => w.add('route_next_hops', deviceId('spine-3'), 0.5, 7));
  expect(fewer.reasons).toContainEqual(expect.stringMatching(/^fewer next hops.*: device:spine-3$/));
});

it('what is wrong comes before what is missing', () => {
  const { healthy, reasons } = check({}, (w) => w.add('port_oper_status', 'port:leaf-2/p1', 5, 0), {
    jobs: [],
  });
  expect(healthy).toBe(false);
  expect(reasons).toEqual([expect.stringMatching(/^already down/), 'no job ran before the fault']);
});

it('a switch that tells nothing hides none of its siblings', () => {
  const evidence = evidenceOf(STORY, (w) => w.add('route_next_hops', deviceId('spine-3'), 0.5, 7));
  const series = evidence.series.filter(
    ({ metric, element }) => metric !== 'route_next_hops' || element !== deviceId('spine-1'),
  );
  const { reasons } = check({}, undefined, { evidence: { ...evidence, series } });
  expect(reasons).toContainEqual(expect.stringMatching(/^fewer next hops.*: device:spine-3$/));
});
