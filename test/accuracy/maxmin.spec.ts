import { describe, expect, it } from '@jest/globals';
import { parseHandCases, parseMaxMinCase, worstFlowError } from '../../bench/maxmin-case.js';
import { runFlowList } from '../../bench/reference-models/flow-list.js';
import { MaxMin } from '../../src/simulator/rates/maxmin.js';
import { caseJson, caseText } from './cases.js';

describe('max-min sharing', () => {
  it.each(parseHandCases(caseJson('maxmin_hand.json')))(
    'gives the rates of $name solved by hand',
    (handCase) => {
      const solver = new MaxMin(handCase.capacities);
      const ids = handCase.flows.map(({ links }) =>
        solver.add(links, new Float64Array(links.length).fill(1)),
      );
      solver.solve();
      handCase.flows.forEach(({ rate }, index) => expect(solver.rate(ids[index]) / rate).toBeCloseTo(1, 12));
    },
  );

  it.each([
    ['maxmin_ft64_200.csv', 200],
    ['maxmin_ft1024_1000.csv', 1000],
    ['maxmin_ft1024_10000.csv', 10_000],
    ['maxmin_ft1024_poisson10000.csv', 10_000],
  ])('ends every flow of %s when the recorded run does, within 1e-5', (file, count) => {
    const source = parseMaxMinCase(caseText(file));
    expect(source.flows).toHaveLength(count);
    expect(worstFlowError(source, runFlowList(source.capacities, source.flows))).toBeLessThanOrEqual(1e-5);
  });

  it('notices a rate that is wrong by one part in a thousand', () => {
    const source = parseMaxMinCase(caseText('maxmin_ft64_200.csv'));
    const wider = source.capacities.map((capacity) => capacity * 1.001);
    expect(worstFlowError(source, runFlowList(wider, source.flows))).toBeGreaterThan(5e-4);
  });

  it('names the line of a case file that can not be read', () => {
    const text = caseText('maxmin_ft64_200.csv').split('\n').slice(0, 5).join('\n');
    expect(() => parseMaxMinCase(text.slice(0, -20))).not.toThrow();
    expect(() => parseMaxMinCase(`${text}\n5,1,2,-3,0,1,a|b`)).toThrow(/^line 6: .*bytes > 0/);
    expect(() => parseMaxMinCase('a,b\n1,2')).toThrow(/^line 1: expected the header/);
  });
});
