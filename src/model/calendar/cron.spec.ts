import { describe, expect, test } from '@jest/globals';
import { InputError } from '../../core/problem.js';
import { parseCron } from './cron.js';

function problemOf(text: string): string {
  try {
    parseCron(text);
  } catch (error) {
    expect(error).toBeInstanceOf(InputError);
    const [{ message, hint }] = (error as InputError).issues;
    return `${message} (${hint ?? ''})`;
  }
  return 'accepted';
}

describe('a cron expression', () => {
  test('may have ranges, steps, lists and names', () => {
    expect(parseCron('0-30/15 */6 1,15 JAN-mar Mon-5')).toMatchObject({
      minutes: [0, 15, 30],
      hours: [0, 6, 12, 18],
      daysOfMonth: [1, 15],
      months: [1, 2, 3],
      daysOfWeek: [1, 2, 3, 4, 5],
      eitherDay: true,
    });
  });

  test('knows Sunday as 0 and as 7, and a range that ends on it', () => {
    expect(parseCron('0 0 * * 7').daysOfWeek).toEqual([0]);
    expect(parseCron('0 0 * * 5-7').daysOfWeek).toEqual([0, 5, 6]);
    expect(parseCron('0 0 * * *').daysOfWeek).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  test.each([
    ['', /0 fields instead of five/],
    ['* * * *', /4 fields/],
    ['0 0 4 * * *', /no field for seconds/],
    ['@daily', /write "0 0 \* \* \*"/],
    ['60 * * * *', /60 is no minute; it must be 0 to 59/],
    ['0 24 * * *', /24 is no hour/],
    ['0 0 0 * *', /0 is no day of month; it must be 1 to 31/],
    ['0 0 * * mno', /mno is no day of week.*did you mean "mon"/],
    ['0 0 * * Monday', /Monday is no day of week.*write mon/],
    ['0 0 L * *', /L is no day of month.*28 is a day that every month has/],
    ['0 0 15W * *', /L, W and # are not known here/],
    ['0 0 * * 5L', /L, W and # are not known here/],
    ['0 0 * * 1#2', /"1#2" is no day of week.*L, W and # are not known here/],
    ['0 0 ? * *', /"\?" is no day of month.*write \*/],
    ['H 4 * * *', /H is not known here.*jitter/],
    ['5-1 * * * *', /runs backwards.*write 5-59,0-1/],
    ['0 0 * * sat-sun', /runs backwards.*write 6-7/],
    ['0 0 * * fri-mon', /runs backwards.*write 5-6,0-1/],
    ['*/0 * * * *', /a step of the minute must be 1 to 59/],
    ['*/90 * * * *', /a step of the minute must be 1 to 59/],
    ['5/10 * * * *', /write 5-59\/10/],
    ['1,,2 * * * *', /"" is no minute/],
    ['*-5 * * * *', /is no minute/],
    ['0 0 30 2 *', /never fires: no month of 2 has a day 30/],
    ['0 0 31 2,4,6,9,11 *', /never fires/],
  ])('is refused: %s', (text, expected) => {
    expect(problemOf(text)).toMatch(expected);
  });

  test('says what to write instead of a range over the end of the week so that it is taken', () => {
    expect(parseCron('0 0 * * 6-7').daysOfWeek).toEqual([0, 6]);
    expect(parseCron('0 0 * * 5-6,0-1').daysOfWeek).toEqual([0, 1, 5, 6]);
  });

  test('fires on a leap day, and on a weekday where the date never comes', () => {
    expect(problemOf('0 0 29 2 *')).toBe('accepted');
    expect(problemOf('0 0 30 2 1')).toBe('accepted');
  });
});
