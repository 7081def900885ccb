/**
 * The table fault × metric: what moves, and what does not.
 *
 * Every kind and variant runs beside a control of the same seed. A metric moves when some series of it differs from the
 * control; what the kind itself promises must also be visible without a control, as a change after the injection. What
 * neither the kind nor the table here names must be the same as in the control, byte for byte, on every element.
 */
import { describe, expect, it } from '@jest/globals';
import { openFabric } from '../../src/drivers/catalog.js';
import { loadDefinitions } from '../../src/documents/load.js';
import { FAULT_KINDS, faultKind } from '../../src/faults/catalog.js';
import { Prng } from '../../src/core/prng.js';
import { changedAtNs } from '../../src/scoring/measures/change.js';
import { METRICS } from '../../src/model/telemetry/catalog.js';
import { EvidenceIndex, type Evidence, type Series } from '../../src/model/telemetry/series.js';
import type { ElementRef } from '../../src/model/telemetry/vocabulary.js';
import { readSource } from '../support/source-tree.js';
import { ALL_SWITCHES, CASES, type Case } from './fault-symptom-cases.js';
import { FABRICS, LOAD, type FabricName, type FabricOfTable } from './fault-symptom-fabrics.js';

/** While a collective is under way, so that packets are lost and not only paths. */
const AT_NS = 20.3e9;
const HELD_NS = 15e9;
const END_NS = 50e9;
const refOf = (id: string): ElementRef => ({ type: id.slice(0, id.indexOf(':')) as ElementRef['type'], id });

async function evidenceOf(fabricName: FabricName, one: Case | undefined): Promise<Evidence> {
  const { file, from = '', to = '', loaded = false } = FABRICS[fabricName] as FabricOfTable;
  const { fabrics } = loadDefinitions(readSource(`experiments/${file}`).replace(from, to), () => '');
  const fabric = await openFabric(fabrics[0].value, 5);
  const clock = fabric as unknown as { startJobs(): Promise<void>; advance(toNs: number): Promise<void> };
  await clock.startJobs();
  if (loaded) await fabric.apply('load', LOAD);
  const kind = faultKind(one?.kind ?? 'none');
  const { topology } = fabric.describe();
  const switches = topology.devices
    .filter(({ role }) => role === 'switch')
    .map(({ name }) => `device:${name}`);
  const targets = one?.target === undefined ? [] : one.target === ALL_SWITCHES ? switches : [one.target];
  const { impairments } = kind.compile(
    kind.parameters.parse(one?.params ?? {}) as never,
    targets.map(refOf),
    { ...fabric.describe(), durationNs: HELD_NS, random: new Prng(5) },
  );
  const moves = impairments
    .flatMap(({ impairment, atNs, untilNs }, index) => [
      { timeNs: AT_NS + atNs, id: `${index}`, impairment, apply: true },
      { timeNs: AT_NS + untilNs, id: `${index}`, impairment, apply: false },
    ])
    .sort((a, b) => a.timeNs - b.timeNs || Number(a.apply) - Number(b.apply));
  for (const { timeNs, id, impairment, apply } of moves) {
    await clock.advance(timeNs);
    if (apply) await fabric.apply(id, impairment);
    else await fabric.revert(id, impairment, {});
  }
  await clock.advance(END_NS);
  return fabric.observe({ fromNs: 0, toNs: END_NS });
}

/** Figures of steps: a slower job has fewer of them, which says nothing about their values. */
const OF_STEPS = new Set<string>(
  METRICS.filter(({ element, kind }) => element === 'job' && kind === 'gauge').map(({ name }) => name),
);

const bytesOf = ({ buffer, byteOffset, byteLength }: Float64Array | Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

const sameNumbers = (one: Float64Array | Uint8Array, other: Float64Array | Uint8Array): boolean =>
  one === other || bytesOf(one).equals(bytesOf(other));

const sameSamples = (one: Series, other: Series): boolean =>
  sameNumbers(one.timesNs, other.timesNs) &&
  sameNumbers(one.values, other.values) &&
  sameNumbers(one.quality, other.quality);

/** Every value of one occurs in the other, but for rounding, and the other way round. */
function sameValues(one: Series, other: Series): boolean {
  const rounded = ({ values }: Series): string[] => [
    ...new Set([...values].map((value) => value.toPrecision(9))),
  ];
  return rounded(one).sort().join() === rounded(other).sort().join();
}

const same = (one: Series, other: Series): boolean =>
  OF_STEPS.has(one.metric) ? sameValues(one, other) : sameSamples(one, other);

it('the table has every kind and every variant', () => {
  const all = FAULT_KINDS.flatMap((kind) =>
    Object.keys(kind.allSymptoms()).map((name) => `${kind.name} ${name}`),
  );
  expect(CASES.map(({ kind, variant }) => `${kind} ${variant}`).sort()).toEqual(all.sort());
});

it('the table moves every metric of the catalogue', () => {
  const moved = new Set<string>(
    CASES.flatMap(({ kind: name, params, also }) => {
      const kind = faultKind(name);
      const symptoms = kind.symptoms(kind.parameters.parse(params) as never);
      return [...symptoms.flatMap(({ metrics }) => metrics), ...also];
    }),
  );
  expect(METRICS.map(({ name }) => name).filter((name) => !moved.has(name))).toEqual([]);
});

describe('under', () => {
  const controls = new Map<FabricName, EvidenceIndex>();
  const controlOf = async (fabric: FabricName): Promise<EvidenceIndex> => {
    const known = controls.get(fabric) ?? new EvidenceIndex(await evidenceOf(fabric, undefined));
    controls.set(fabric, known);
    return known;
  };

  it.each(CASES.map((one) => [`${one.kind} ${one.variant}`, one] as const))('%s', async (_, one) => {
    const fabric = one.fabric ?? 'rails';
    const control = await controlOf(fabric);
    const evidence = await evidenceOf(fabric, one);
    const kind = faultKind(one.kind);
    const promised = kind
      .symptoms(kind.parameters.parse(one.params) as never)
      .flatMap(({ metrics }) => metrics);
    const visible = new Set(
      evidence.series
        .filter(({ metric }) => promised.includes(metric))
        .filter((series) => changedAtNs(series, AT_NS, END_NS) !== null)
        .map(({ metric }) => metric),
    );
    const differs = new Set(
      evidence.series
        .filter((series) => !same(series, control.get(series.metric, series.element)!))
        .map(({ metric }) => metric),
    );
    expect(promised.filter((metric) => !visible.has(metric))).toEqual([]);
    const table = new Set<string>([...promised, ...one.also]);
    const inOrder = (names: ReadonlySet<string>) =>
      METRICS.map(({ name }) => name).filter((name) => names.has(name));
    expect(inOrder(differs)).toEqual(inOrder(table));
  });
});
