/**
 * What the command line of 5e5372a wrote of a run, of a gate that failed and of a parity check that differed, in each format.
 * Reports of a game day: rest.e2e-spec.ts.
 */
import { describe, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { GATE_FORMATS, PARITY_FORMATS, REPORT_FORMATS } from '../../src/reports/catalog.js';
import { expectGoldenText, recordedFile } from './golden.js';

/** The renderers take what their JSON holds. */
function recorded<Format extends { render(result: never, options?: never): string }>(
  subject: string,
  _formats: readonly Format[],
): Parameters<Format['render']>[0] {
  return JSON.parse(readFileSync(recordedFile(`reports/${subject}.json`), 'utf8')) as never;
}

describe('a run', () => {
  const scorecard = recorded('run', REPORT_FORMATS);
  it.each(REPORT_FORMATS)('as $name', async ({ name, render }) => {
    const command = 'fabricdrill run cut.yaml --seed 11';
    await expectGoldenText(`reports/run.${name}`, render(scorecard, { reproduceCommand: command }));
  });
});

describe('a gate', () => {
  const result = recorded('gate', GATE_FORMATS);
  const command = 'fabricdrill gate upgrade.yaml --baseline site.yaml --candidate thin.yaml';
  const replay = (experiment: string, seed: number): string =>
    `${command} --only ${experiment} --seed ${seed}`;
  it.each(GATE_FORMATS)('as $name', async ({ name, render }) => {
    await expectGoldenText(`reports/gate.${name}`, render(result, { command, replay, file: 'upgrade.yaml' }));
  });
});

describe('a parity check', () => {
  const result = recorded('parity', PARITY_FORMATS);
  it.each(PARITY_FORMATS)('as $name', async ({ name, render }) => {
    const command = 'fabricdrill parity cut.yaml --twin slow.yaml --seed 11';
    await expectGoldenText(`reports/parity.${name}`, render(result, { command }));
  });
});
