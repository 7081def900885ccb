/**
 * Which names of time zones are taken, and which one was meant.
 *
 * The runtime's Intl decides what is a zone (ICU with the IANA database), with two exceptions: offsets, and abbreviations
 * such as `BST`, which ICU takes for Dhaka. Neither is a place whose clocks are known, and other runtimes refuse them.
 */
import { editDistance, listChoices, nearest } from '../../core/nearest.js';
import { InputError } from '../../core/problem.js';
import { isKnown } from './zone.js';

/** @throws InputError with the nearest name */
export function checkZone(zone: string): void {
  const refuse = (what: string, near?: string): never => {
    const choices = listChoices(['Europe/Berlin', 'America/New_York', 'UTC']);
    throw InputError.at('', `"${zone}" ${what}`, near ?? `such as ${choices}`);
  };
  if (/^(?:[+-]|(?:GMT|UTC)[+-])/i.test(zone)) {
    return refuse('is an offset, which stays as it is when the clocks are changed; name a time zone');
  }
  const meant = ABBREVIATIONS.get(zone.toUpperCase());
  if (meant !== undefined) {
    const what =
      'is an abbreviation, which several places use and which changes with the clocks; name a time zone';
    return refuse(what, `such as ${meant}`);
  }
  // ICU's own copies of rules of the seventies
  if (isKnown(zone) && !/^SystemV\//i.test(zone)) return;
  const near = nearestZone(zone);
  return refuse('is no time zone of the IANA database', near && `did you mean "${near}"?`);
}

/**
 * What the runtime may take for a zone (ICU has old names of its own, such as `PST` and `IST`), though the IANA database
 * does not, and what people write for one; with a place that is often meant.
 */
const ABBREVIATIONS: ReadonlyMap<string, string> = new Map(
  [
    'America/Argentina/Buenos_Aires AGT',
    'America/Chicago CST CDT',
    'America/Denver MDT',
    'America/Halifax AST ADT',
    'America/Indiana/Indianapolis IET',
    'America/Los_Angeles PST PDT',
    'America/New_York EDT',
    'America/Phoenix PNT',
    'America/Puerto_Rico PRT',
    'America/Sao_Paulo BET BRT',
    'America/St_Johns CNT',
    'Africa/Cairo ART',
    'Africa/Maputo CAT',
    'Africa/Nairobi EAT',
    'Asia/Ho_Chi_Minh VST',
    'Asia/Hong_Kong HKT',
    'Asia/Karachi PLT',
    'Asia/Kolkata IST',
    'Asia/Seoul KST',
    'Asia/Shanghai CTT',
    'Asia/Singapore SGT',
    'Asia/Tokyo JST',
    'Asia/Yerevan NET',
    'Australia/Darwin ACT',
    'Australia/Sydney AEST AEDT AET',
    'Europe/Berlin CEST',
    'Europe/Helsinki EEST',
    'Europe/London BST',
    'Europe/Moscow MSK',
    'Europe/Paris ECT',
    'Pacific/Apia MIT',
    'Pacific/Auckland NST NZST NZDT',
    'Pacific/Guadalcanal SST',
  ].flatMap((line) => {
    const [place, ...short] = line.split(' ');
    return short.map((abbreviation) => [abbreviation, place] as const);
  }),
);

/** Names of the IANA database that the runtime takes and does not list, since it knows the place by an older one. */
const UNLISTED = [
  ...['UTC', 'Etc/UTC', 'Africa/Asmara', 'America/Argentina/Buenos_Aires', 'America/Indiana/Indianapolis'],
  ...['America/Nuuk', 'Asia/Ho_Chi_Minh', 'Asia/Kathmandu', 'Asia/Kolkata', 'Asia/Yangon', 'Atlantic/Faroe'],
  ...['Europe/Kyiv', 'Pacific/Chuuk', 'Pacific/Kanton', 'Pacific/Pohnpei'],
  ...['US/Alaska', 'US/Arizona', 'US/Central', 'US/Eastern', 'US/Hawaii', 'US/Mountain', 'US/Pacific'],
  ...['Canada/Atlantic', 'Canada/Central', 'Canada/Eastern', 'Canada/Mountain', 'Canada/Pacific'],
];

/** A city alone is found too; of short ones, which are near to many, only with one slip. */
function nearestZone(zone: string): string | undefined {
  const names = [...UNLISTED, ...Intl.supportedValuesOf('timeZone')];
  const whole = nearest(zone.trim(), names);
  if (zone.includes('/') || whole === 'UTC') return whole;
  const cityOf = (name: string): string => name.slice(name.lastIndexOf('/') + 1);
  const word = zone.trim().replaceAll(' ', '_');
  const city = nearest(word, names.map(cityOf));
  const slips = city === undefined ? Infinity : editDistance(word.toLowerCase(), city.toLowerCase());
  return slips <= (word.length < 7 ? 1 : 2) ? names.find((name) => cityOf(name) === city) : undefined;
}
