import { describe, expect, test } from '@jest/globals';
import { InputError, type InputIssue } from '../core/problem.js';
import { nextTickMs } from '../model/calendar/decide.js';
import { refuseFiles } from './fabric-document.js';
import { loadDefinitions } from './load.js';
import { rulesOf } from './schedule-rules.js';

const FILE = 'nightly.yaml';

const text = (spec: string): string =>
  `apiVersion: fabricdrill/v1\nkind: Schedule\nmetadata: { name: nightly }\nspec:\n  experimentRef: cut\n${spec}`;

function issuesOf(spec: string): InputIssue[] {
  try {
    loadDefinitions(text(spec), refuseFiles, FILE);
  } catch (error) {
    expect(error).toBeInstanceOf(InputError);
    return [...(error as InputError).issues];
  }
  return [];
}

const NIGHTLY = '  cron: "0 4 * * *"\n  timeZone: Asia/Tokyo\n';

describe('a schedule file', () => {
  test('has everything but its time, zone and experiment by default', () => {
    const { schedules } = loadDefinitions(text(NIGHTLY), refuseFiles, FILE);
    expect(schedules[0].value.spec).toMatchObject({
      concurrencyPolicy: 'Forbid',
      startingDeadline: 300e9,
      missedRunPolicy: 'skip',
      jitter: 0,
      blackouts: [],
      suspend: false,
    });
    expect(rulesOf(schedules[0].value.spec)).toMatchObject({
      zone: 'Asia/Tokyo',
      startingDeadlineMs: 300_000,
    });
  });

  test('may name one time, the first where the clocks show it twice', () => {
    const once = '  once: 2027-10-31T02:30\n  timeZone: Europe/Berlin\n';
    const { schedules } = loadDefinitions(text(once), refuseFiles, FILE);
    const rules = rulesOf(schedules[0].value.spec);
    const atMs = Date.parse('2027-10-31T00:30Z');
    expect(nextTickMs(rules, 0)).toBe(atMs);
    expect(nextTickMs(rules, atMs)).toBeUndefined();
  });

  test.each([
    [
      'a zone that is misspelt',
      NIGHTLY.replace('Tokyo', 'Tokio'),
      '/spec/timeZone',
      7,
      /did you mean "Asia\/Tokyo"/,
    ],
    [
      'a city alone',
      NIGHTLY.replace('Asia/Tokyo', 'Tokyo'),
      '/spec/timeZone',
      7,
      /did you mean "Asia\/Tokyo"/,
    ],
    ['an offset', NIGHTLY.replace('Asia/Tokyo', '"+09:00"'), '/spec/timeZone', 7, /is an offset/],
    ['no zone', '  cron: "0 4 * * *"\n', '/spec/timeZone', 5, /missing/],
    [
      'a day that never comes',
      NIGHTLY.replace('* *"', '30 2 *"').replace('4 * 30', '4 30'),
      '/spec/cron',
      6,
      /never fires/,
    ],
    ['no time', '  timeZone: UTC\n', '/spec/cron', 5, /neither cron nor once/],
    ['two times', `${NIGHTLY}  once: 2027-01-01T04:00\n`, '/spec/cron', 6, /both cron and once/],
    ['a date that is none', '  once: 2027-02-30T04:00\n  timeZone: UTC\n', '/spec/once', 6, /no date/],
    [
      'a time that the clocks leave out',
      '  once: 2027-03-28T02:30\n  timeZone: Europe/Berlin\n',
      '/spec/once',
      6,
      /does not exist in Europe\/Berlin.*2027-03-28T03:00/,
    ],
    [
      'an unknown policy',
      `${NIGHTLY}  concurrencyPolicy: forbid\n`,
      '/spec/concurrencyPolicy',
      8,
      /"Forbid"/,
    ],
    [
      'jitter beyond the next tick',
      '  cron: "*/5 * * * *"\n  timeZone: UTC\n  jitter: 6m\n',
      '/spec/jitter',
      8,
      /5 min/,
    ],
    [
      'windows that cover everything',
      `${NIGHTLY}  blackouts:\n    - { from: "22:00", to: "03:00" }\n    - { from: "03:00", to: "22:00" }\n`,
      '/spec/blackouts',
      9,
      /cover every tick/,
    ],
    [
      'a window that covers every tick',
      `${NIGHTLY}  blackouts: [{ from: "22:00", to: "06:00" }]\n`,
      '/spec/blackouts',
      8,
      /cover every tick/,
    ],
    [
      'a window over the one time',
      '  once: 2027-01-01T04:00\n  timeZone: UTC\n  blackouts: [{ from: "22:00", to: "06:00" }]\n',
      '/spec/blackouts',
      8,
      /the blackout 22:00 to 06:00, until 2027-01-01 06:00/,
    ],
    [
      'windows of which only rare ones leave anything out',
      `  cron: "0 0 * * *"\n  timeZone: UTC\n  blackouts: [{ from: "23:30", to: "00:30" }${', { cron: "0 0 29 2 *", duration: 31d }'.repeat(19)}]\n`,
      '/spec/blackouts',
      8,
      /cover every tick/,
    ],
    [
      'a window in a zone that is misspelt',
      `${NIGHTLY}  blackouts: [{ from: "22:00", to: "03:00", timeZone: Europe/Berln }]\n`,
      '/spec/blackouts/0/timeZone',
      8,
      /did you mean "Europe\/Berlin"/,
    ],
    [
      'half a window',
      `${NIGHTLY}  blackouts: [{ from: "22:00" }]\n`,
      '/spec/blackouts/0',
      8,
      /needs from and to/,
    ],
    [
      'a window of two kinds',
      `${NIGHTLY}  blackouts: [{ from: "22:00", to: "06:00", duration: 8h }]\n`,
      '/spec/blackouts/0',
      8,
      /not some of each/,
    ],
    [
      'a window that begins never',
      `${NIGHTLY}  blackouts: [{ cron: "0 0 31 4 *", duration: 8h }]\n`,
      '/spec/blackouts/0/cron',
      8,
      /never fires/,
    ],
  ])('is refused with %s', (_what, spec, pointer, line, expected) => {
    const issues = issuesOf(spec);
    expect(issues).toEqual([expect.objectContaining({ pointer, line, file: FILE })]);
    expect(`${issues[0].message} ${issues[0].hint ?? ''}`).toMatch(expected);
  });

  test('lets windows pass that leave some tick, however rare', () => {
    expect(
      issuesOf(`${NIGHTLY}  blackouts: [{ from: "22:00", to: "06:00", days: [Mon, Tue, Wed] }]\n`),
    ).toEqual([]);
    const busy = '  cron: "* * * * *"\n  timeZone: UTC\n';
    expect(issuesOf(`${busy}  blackouts: [{ from: "00:01", to: "00:00" }]\n`)).toEqual([]);
    expect(issuesOf(`${busy}  blackouts: [{ cron: "* * * * *", duration: 2h }]\n`)).toHaveLength(1);
  });
});
