import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { experimentDocument, fabricDocument, yamlOf, type Json } from '../../../test/support/definitions.js';
import { InputError } from '../../core/problem.js';
import { readNamed } from './definitions.js';
import { isSchedule, readScheduleFile, type ScheduledExperiment } from './schedule-file.js';

describe('a schedule file', () => {
  let folder: string;
  const workOf = (reference: string): ScheduledExperiment =>
    readScheduleFile(reference, toPath).work as ScheduledExperiment;
  const toPath = (path: string): string => resolve(folder, path);
  const write = (file: string, ...documents: Json[]): void =>
    writeFileSync(toPath(file), documents.map(yamlOf).join('---\n'));
  const schedule = (spec: Json): Json => ({
    apiVersion: 'fabricdrill/v1',
    kind: 'Schedule',
    metadata: { name: 'nightly' },
    spec: { cron: '0 4 * * *', timeZone: 'UTC', ...spec },
  });
  const issueOf = (file: string): unknown => {
    try {
      readScheduleFile(file, toPath);
    } catch (error) {
      expect(error).toBeInstanceOf(InputError);
      return (error as InputError).issues[0];
    }
    return undefined;
  };

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'schedule-file-'));
    mkdirSync(toPath('schedules'));
    write('cut.yaml', experimentDocument('cut', 'fabrics.yaml#small'));
    write('fabrics.yaml', fabricDocument('small'), fabricDocument('large'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('names an experiment by a path from where it is, on the fabric of that one', () => {
    write('schedules/path.yaml', schedule({ experimentRef: '../cut.yaml' }));
    const { experiment, fabric } = workOf('schedules/path.yaml');
    expect(experiment).toMatchObject({ file: expect.stringContaining('cut.yaml') });
    expect(fabric).toMatchObject({ document: { value: { metadata: { name: 'small' } } } });
  });

  test('names another fabric by a path from where it is, or a stored one', () => {
    write(
      'schedules/fabric.yaml',
      schedule({ experimentRef: '../cut.yaml', fabric: '../fabrics.yaml#large' }),
    );
    expect(workOf('schedules/fabric.yaml').fabric).toMatchObject({
      document: { value: { metadata: { name: 'large' } } },
    });
    write('schedules/stored.yaml', schedule({ experimentRef: 'nobody-here', fabric: 'kept' }));
    const stored = workOf('schedules/stored.yaml');
    expect(stored).toMatchObject({ experiment: { stored: 'nobody-here' }, fabric: { stored: 'kept' } });
  });

  test('finds experiment and fabric beside it in the same file', () => {
    write(
      'all.yaml',
      schedule({ experimentRef: 'cut' }),
      experimentDocument('cut', 'small'),
      fabricDocument('small'),
    );
    const { experiment, fabric } = workOf('all.yaml');
    expect(experiment).toMatchObject({ reference: 'all.yaml#cut' });
    expect(fabric).toMatchObject({ document: { value: { kind: 'Fabric' } } });
    expect(isSchedule(readNamed('all.yaml', toPath))).toBe(true);
    expect(isSchedule(readNamed('all.yaml#cut', toPath))).toBe(false);
    expect(isSchedule(readNamed('cut.yaml', toPath))).toBe(false);
  });

  test('tells at its own line what it names and is not there', () => {
    write('schedules/lost.yaml', schedule({ experimentRef: '../cutt.yaml' }));
    expect(issueOf('schedules/lost.yaml')).toMatchObject({
      file: 'schedules/lost.yaml',
      pointer: '/spec/experimentRef',
      line: 8,
      message: 'there is no file "../cutt.yaml"',
    });
    const suite = {
      ...{ apiVersion: 'fabricdrill/v1', kind: 'Suite', metadata: { name: 'both' } },
      spec: { experiments: ['cut', 'burst'], objectives: [{ metric: 'training.step_time_s', margin: '3%' }] },
    };
    write('suite.yaml', suite, ...['cut', 'burst'].map((name) => experimentDocument(name, 'small')));
    write('schedules/lost.yaml', schedule({ experimentRef: '../suite.yaml' }));
    expect(issueOf('schedules/lost.yaml')).toMatchObject({
      pointer: '/spec/experimentRef',
      message: expect.stringMatching(/is a suite.*cut, burst/),
      hint: expect.stringContaining('gameDayRef'),
    });
    write('schedules/lost.yaml', schedule({ experimentRef: '../cut.yaml', fabric: '../none.yaml' }));
    expect(issueOf('schedules/lost.yaml')).toMatchObject({ pointer: '/spec/fabric', line: 9 });
  });
});
