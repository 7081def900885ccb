/**
 * Traits that a file may state in place of a draw: what they are of, their unit, and the range that physics leaves.
 *
 * Lasting traits hold for the whole run. The value of an event is the instant at which it happens, from the start.
 */
import { NS_PER } from '../../core/units.js';

type TraitElement = 'device' | 'nic' | 'port' | 'link';
type TraitUnit = 'x' | '%' | '' | 's' | 'dB' | 'dBm' | 'C' | 'events' | '/s' | 'B/s';

export interface TraitDefinition {
  of: TraitElement;
  unit: TraitUnit;
  least: number;
  most: number;
  meaning: string;
  /** One GPU of a host may be named. */
  gpu?: true;
  event?: true;
}

/** No drill is longer than a week. */
const LONGEST_S = (7 * NS_PER.d) / NS_PER.s;

const event = (of: TraitElement, meaning: string): TraitDefinition => ({
  of,
  unit: 's',
  least: 0,
  most: LONGEST_S,
  meaning,
  event: true,
});

const TRAITS = {
  computeFactor: {
    of: 'device',
    unit: 'x',
    least: 0.5,
    most: 10,
    gpu: true,
    meaning: 'how many times longer than normal the GPUs of a host compute',
  },
  stepNoise: {
    of: 'device',
    unit: '%',
    least: 0,
    most: 50,
    gpu: true,
    meaning: 'scatter of the compute time of its ranks from step to step, as a coefficient of variation',
  },
  preFecBer: {
    of: 'port',
    unit: '',
    least: 0,
    most: 0.5,
    meaning: 'bit-error ratio before FEC of what the port receives',
  },
  frameLoss: {
    of: 'port',
    unit: '',
    least: 0,
    most: 0.1,
    meaning: 'share of the frames that arrive damaged for no reason that FEC shows',
  },
  launchPower: {
    of: 'port',
    unit: 'dBm',
    least: -15,
    most: 10,
    meaning: 'light that the module launches',
  },
  powerError: {
    of: 'port',
    unit: 'dB',
    least: -3,
    most: 3,
    meaning: 'how far its readings of power are off (SFF-8472 allows 3 dB)',
  },
  moduleTemperature: { of: 'port', unit: 'C', least: -5, most: 90, meaning: 'temperature of the module' },
  lifetimeEvents: {
    of: 'device',
    unit: 'events',
    least: 0,
    most: 1e12,
    meaning: 'what its counters of events and frames showed before the run',
  },
  lossBurstRate: {
    of: 'nic',
    unit: '/s',
    least: 0,
    most: 1000,
    meaning: 'packets that it sends again although nothing is wrong, a second',
  },
  cnpRate: {
    of: 'nic',
    unit: '/s',
    least: 0,
    most: 1e6,
    meaning: 'notifications while it receives, a second',
  },
  pauseRate: {
    of: 'port',
    unit: '/s',
    least: 0,
    most: 1e5,
    meaning: 'short pauses that it sends while it receives, a second',
  },
  clockOffset: { of: 'device', unit: 's', least: -60, most: 60, meaning: 'how far its clock is ahead' },
  pollPhase: {
    of: 'device',
    unit: '%',
    least: 0,
    most: 99,
    meaning: 'when in the poll interval it is asked, as a share of it',
  },
  pollJitter: {
    of: 'device',
    unit: 's',
    least: 0,
    most: 1,
    meaning: 'scatter of the times under which its answers are found',
  },
  missingSamples: { of: 'device', unit: '%', least: 0, most: 100, meaning: 'share of its polls that fail' },
  flap: event('link', 'the link is down for some seconds'),
  bfdBounce: event('link', 'the BFD session over the link goes down and comes back; its ports stay up'),
  lossBurst: event('nic', 'some packets of the NIC are sent again'),
  ackTimeout: event('nic', 'an ACK comes too late'),
  loaderStall: event('device', 'a rank on the host waits for its data'),
  gcPause: event('device', 'the ranks on the host stop for garbage collection'),
  throttle: { ...event('device', 'a GPU of the host is too hot for some minutes'), gpu: true },
  scrapeGap: event('device', 'nothing is collected of the device for some minutes'),
  counterReset: event('device', 'all its counters start again at 0'),
} as const satisfies Record<string, TraitDefinition>;

export type TraitName = keyof typeof TRAITS;
export const TRAIT_NAMES = Object.keys(TRAITS) as TraitName[];

export const traitDefinition = (name: TraitName): TraitDefinition => TRAITS[name];

/** `-12..8 dBm` */
export const rangeOf = ({ least, most, unit }: TraitDefinition): string =>
  `${least} to ${most}${unit === '' ? '' : ` ${unit}`}`;
