import { describe, expect, test } from '@jest/globals';
import { InputError } from '../../core/problem.js';
import { checkZone } from './zone-names.js';

function problemOf(zone: string): string {
  try {
    checkZone(zone);
  } catch (error) {
    expect(error).toBeInstanceOf(InputError);
    const [{ message, hint }] = (error as InputError).issues;
    return `${message} (${hint ?? ''})`;
  }
  return 'accepted';
}

describe('a name of a time zone', () => {
  test.each([
    'Europe/Berlin',
    'UTC',
    'US/Pacific',
    'Asia/Calcutta',
    'Asia/Kolkata',
    'Etc/GMT-2',
    'CET',
    'EST5EDT',
  ])('may be any of the IANA database, old ones included: %s', (zone) =>
    expect(problemOf(zone)).toBe('accepted'),
  );

  test.each([
    ['Europe/Berln', /no time zone of the IANA database.*"Europe\/Berlin"/],
    ['Tokio', /"Asia\/Tokyo"/],
    ['nwe york', /"America\/New_York"/],
    ['US/Pacifc', /"US\/Pacific"/],
    ['Asia/Kolkatta', /"Asia\/Kolkata"/],
    ['Kyiv', /"Europe\/Kyiv"/],
    ['local', /such as Europe\/Berlin/],
    ['Etc/GMT+15', /such as/],
    ['+02:00', /is an offset/],
    ['UTC+2', /is an offset/],
    // the runtime would take it for Dhaka
    ['BST', /is an abbreviation.*such as Europe\/London/],
    ['pst', /is an abbreviation.*such as America\/Los_Angeles/],
    ['CEST', /is an abbreviation.*such as Europe\/Berlin/],
    ['SystemV/PST8PDT', /no time zone/],
  ])('is refused with what may be meant: %s', (zone, expected) => {
    expect(problemOf(zone)).toMatch(expected);
  });
});
