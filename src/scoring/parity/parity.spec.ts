/** Parity: what counts as agreement, that no data never does, and that the worst layer grades. */
import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import {
  compareLayer,
  compareLayers,
  gradeOf,
  GRADES,
  LAYERS,
  parityVerdict,
  sideOf,
  trustIn,
  type LayerReadings,
  type Reading,
} from './parity.js';

const [before, , reroute] = LAYERS;
const figure = (value: number, resolution = 0): Reading => ({ is: 'measured', value, resolution });
const UNKNOWN: Reading = { is: 'unknown' };
const NOTHING: Reading = { is: 'nothing' };
const NEVER: Reading = { is: 'never' };

const amounts = fc.double({ min: 0, max: 100, noNaN: true });
const readings: fc.Arbitrary<Reading> = fc.oneof(
  fc.record({
    is: fc.constant('measured' as const),
    value: amounts,
    resolution: fc.double({ min: 0, max: 2, noNaN: true }),
  }),
  fc.constantFrom(UNKNOWN, NOTHING, NEVER),
);
const layers = fc.constantFrom(...LAYERS);
const runs: fc.Arbitrary<LayerReadings> = fc.record(
  Object.fromEntries(LAYERS.map(({ name }) => [name, readings])) as Record<
    keyof LayerReadings,
    fc.Arbitrary<Reading>
  >,
);
const all = (reading: Reading): LayerReadings =>
  Object.fromEntries(LAYERS.map(({ name }) => [name, reading])) as LayerReadings;

describe('a layer', () => {
  it('agrees within a quarter of what was measured, a time within 100 ms in any case', () => {
    expect(compareLayer(before, [figure(0.8)], [figure(1)])).toMatchObject({ agrees: true, tolerance: 0.25 });
    expect(compareLayer(before, [figure(0.7)], [figure(1)])).toMatchObject({ agrees: false });
    expect(compareLayer(reroute, [figure(0.1)], [figure(0.02)])).toMatchObject({
      agrees: true,
      tolerance: 0.1,
    });
    expect(compareLayer(reroute, [figure(2.4)], [figure(2)])).toMatchObject({ agrees: true, tolerance: 0.5 });
    expect(compareLayer(reroute, [figure(2.6)], [figure(2)])).toMatchObject({ agrees: false });
  });

  it('can not be told apart more finely than the coarser side tells', () => {
    expect(compareLayer(reroute, [figure(0.01)], [figure(0.9, 1)])).toMatchObject({
      agrees: true,
      tolerance: 1,
    });
    expect(compareLayer(reroute, [figure(0.01)], [figure(1.2, 1)])).toMatchObject({ agrees: false });
  });

  it('agrees in kind where both say that nothing happened, or never came', () => {
    expect(compareLayer(reroute, [NOTHING], [NOTHING])).toMatchObject({ agrees: true, excess: null });
    expect(compareLayer(reroute, [NEVER], [NEVER]).agrees).toBe(true);
    expect(compareLayer(reroute, [NEVER], [figure(2)]).agrees).toBe(false);
    expect(compareLayer(reroute, [NOTHING], [NEVER]).agrees).toBe(false);
  });

  it('is not known as soon as one side is not, whatever the other says', () => {
    fc.assert(
      fc.property(layers, readings, (layer, reading) => {
        expect(compareLayer(layer, [UNKNOWN], [reading]).agrees).toBeNull();
        expect(compareLayer(layer, [reading], [UNKNOWN]).agrees).toBeNull();
      }),
    );
  });

  it('agrees with itself, without a difference', () => {
    fc.assert(
      fc.property(layers, readings, (layer, reading) => {
        const { agrees, excess } = compareLayer(layer, [reading], [reading]);
        expect(agrees).toBe(reading.is === 'unknown' ? null : true);
        expect(excess ?? 0).toBe(0);
      }),
    );
  });

  it('differs by as much, the other way, when the sides change places', () => {
    fc.assert(
      fc.property(layers, readings, readings, (layer, one, other) => {
        const there = compareLayer(layer, [one], [other]);
        const back = compareLayer(layer, [other], [one]);
        expect(back.difference === null).toBe(there.difference === null);
        expect((there.difference ?? 0) + (back.difference ?? 0)).toBe(0);
        // in kind both ways say the same; only a share of what was measured depends on who measured
        if (there.difference === null) expect(back.agrees).toBe(there.agrees);
      }),
    );
  });

  it('is graded no better the farther a prediction is off', () => {
    fc.assert(
      fc.property(layers, amounts, amounts, amounts, (layer, measured, near, more) => {
        const grade = (value: number): number =>
          GRADES.indexOf(gradeOf(compareLayer(layer, [figure(value)], [figure(measured)]))!);
        expect(grade(measured + near + more)).toBeGreaterThanOrEqual(grade(measured + near));
      }),
    );
  });
});

describe('several runs of a side', () => {
  it('say their median with its interval', () => {
    expect(sideOf([figure(3), figure(1), figure(2, 0.5)])).toMatchObject({
      ...{ is: 'measured', value: 2, low: 1, high: 3, resolution: 0.5, runs: 3, of: 3 },
    });
  });

  it('say what most of those say that know, and nothing where these are divided', () => {
    expect(sideOf([NEVER, figure(2), UNKNOWN, NEVER])).toMatchObject({ is: 'never', runs: 2, of: 4 });
    expect(sideOf([NEVER, figure(2)])).toMatchObject({ is: 'unknown', value: null, of: 2 });
    expect(sideOf([])).toMatchObject({ is: 'unknown', of: 0 });
  });
});

describe('trust', () => {
  it('is that of the worst layer, and names it', () => {
    const off = { ...all(figure(1)), reroute: figure(1.6) };
    const trust = trustIn(compareLayers([off], [all(figure(1))]));
    expect(trust).toEqual({ grade: 'C', because: ['reroute'], unknown: [] });
    expect(trustIn(compareLayers([all(figure(1))], [all(figure(1))]))).toEqual({
      ...{ grade: 'A', because: [], unknown: [] },
    });
    const other = compareLayers([{ ...all(figure(1)), failback: NEVER }], [all(figure(1))]);
    expect(trustIn(other)).toMatchObject({ grade: 'D', because: ['failback'] });
  });

  it('is the worst of the grades of all known layers, and lists exactly the others', () => {
    fc.assert(
      fc.property(runs, runs, (predicted, measured) => {
        const compared = compareLayers([predicted], [measured]);
        const { grade, unknown } = trustIn(compared);
        const grades = compared.map((layer) => gradeOf(layer));
        expect(unknown).toEqual(LAYERS.map(({ name }) => name).filter((_, at) => grades[at] === null));
        const worst = Math.max(...grades.map((one) => (one === null ? -1 : GRADES.indexOf(one))));
        expect(grade).toBe(worst === -1 ? null : GRADES[worst]);
      }),
    );
  });

  it('is agreement only where every layer is known and agrees, and no run is in doubt', () => {
    const same = compareLayers([all(figure(1))], [all(figure(1))]);
    expect(parityVerdict(same, false)).toBe('agrees');
    expect(parityVerdict(same, true)).toBe('inconclusive');
    expect(parityVerdict([], false)).toBe('inconclusive');
    const gap = compareLayers([{ ...all(figure(1)), detect: UNKNOWN }], [all(figure(1))]);
    expect(parityVerdict(gap, false)).toBe('inconclusive');
    const off = compareLayers([{ ...all(figure(1)), detect: UNKNOWN, reroute: figure(9) }], [all(figure(1))]);
    expect(parityVerdict(off, false)).toBe('differs');
  });
});

describe('the published page', () => {
  it('says of every layer what it is and how far it may be off', () => {
    const page = readFileSync('docs/parity.md', 'utf8');
    for (const { name, relative, absolute } of LAYERS) {
      const row = new RegExp(`^\\| \`${name}\` \\|.*\\| (.*) \\|$`, 'm').exec(page);
      expect([name, row?.[1]]).toEqual([name, expect.stringContaining(`${100 * relative} %`)]);
      expect(row![1].includes(`${1000 * absolute} ms`)).toBe(absolute > 0);
    }
  });
});
