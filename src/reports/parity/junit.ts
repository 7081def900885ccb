/**
 * A parity check as JUnit: one test case a layer. What is not known is an *error*, since pipelines paint skipped cases green.
 */
import { xmlAttribute, xmlText } from '../common/escape.js';
import { LAYERS, type LayerComparison, type ParityResult } from '../../scoring/parity/parity.js';
import {
  agreementText,
  differenceText,
  doubtsOf,
  sideText,
  toleranceText,
  type ParityFormat,
  type ParityReportOptions,
} from './format.js';

/** Dots separate packages in the readers' trees. */
const part = (text: string): string => text.replaceAll('.', '_');

function explanation(layer: LayerComparison, options: ParityReportOptions): string {
  const off = differenceText(layer);
  return [
    ...LAYERS.filter(({ name }) => name === layer.layer).map(({ description }) => description),
    `predicted ${sideText(layer.predicted, layer.unit)}`,
    `measured ${sideText(layer.measured, layer.unit)}`,
    ...(off === '' ? [] : [`off by ${off}, allowed ${toleranceText(layer)}`]),
    ...(options.command === undefined ? [] : [`Reproduce: ${options.command}`]),
  ].join('\n');
}

function render(result: ParityResult, options: ParityReportOptions = {}): string {
  const { layers, experiment, measured } = result;
  const doubts = doubtsOf(result);
  const count = (agrees: boolean | null): number => layers.filter((layer) => layer.agrees === agrees).length;
  const tests = layers.length + 1;
  const errors = count(null) + Number(doubts.length > 0);
  const totals = `tests="${tests}" failures="${count(false)}" errors="${errors}"`;
  const classname = xmlAttribute(
    ['fabricdrill', 'parity', part(experiment), part(measured.fabric)].join('.'),
  );
  const testcase = (name: string, tag?: 'failure' | 'error', message = '', body = ''): string[] => {
    const head = `    <testcase classname="${classname}" name="${xmlAttribute(name)}"`;
    if (tag === undefined) return [`${head}/>`];
    const inner = `<${tag} type="parity" message="${xmlAttribute(message)}">${xmlText(body)}</${tag}>`;
    return [`${head}>`, `      ${inner}`, '    </testcase>'];
  };
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="fabricdrill" ${totals}>`,
    `  <testsuite name="${xmlAttribute(`parity of ${experiment}`)}" ${totals} skipped="0">`,
    ...(doubts.length > 0 ? testcase('runs', 'error', doubts[0], doubts.join('\n')) : testcase('runs')),
    ...layers.flatMap((layer) => {
      if (layer.agrees === true) return testcase(layer.label);
      const tag = layer.agrees === false ? 'failure' : 'error';
      return testcase(layer.label, tag, agreementText(layer), explanation(layer, options));
    }),
    '  </testsuite>',
    '</testsuites>',
  ];
  return `${lines.join('\n')}\n`;
}

export const parityJunit: ParityFormat = { name: 'junit', render };
