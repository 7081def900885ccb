/**
 * Phrases that all kinds share: times, shares and elements as people read them.
 */
import { elementName } from '../core/elements.js';
import { seconds } from './series/change.js';
import type { Context } from './series/context.js';
import type { Explanation } from './explanation.js';

/** Seconds with hundredths. */
export const time = (ns: number): string => String(Math.round(seconds(ns) * 100) / 100);

export const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** `at 20.01 s`, or that it was there before. */
export const when = ({ onsetNs }: Explanation): string =>
  onsetNs === null ? 'before the window opened' : `at ${time(onsetNs)} s`;

/** The same after `from`. */
export const since = ({ onsetNs }: Explanation): string =>
  onsetNs === null ? 'before the window opened' : `${time(onsetNs)} s`;

export function until(context: Context, { during }: Pick<Explanation, 'during'>): string {
  return during.toNs < context.window.toNs ? `until ${time(during.toNs)} s` : 'to the end of the window';
}

export function listed(names: readonly string[], most = 4): string {
  return names.length <= most
    ? names.join(', ')
    : `${names.slice(0, most).join(', ')} and ${names.length - most} more`;
}

/** How people call what an element id stands for. */
export function nameOf(context: Context, { element, device, kind }: Explanation): string {
  if (element.type === 'pattern') return PATTERNS[kind] ?? `The pattern ${elementName(element.id)}`;
  const host = device !== undefined && context.topology.devices[device].role === 'host';
  const word = {
    device: host ? 'Host' : 'Device',
    nic: 'NIC',
    link: 'Link',
    queue: 'Switch queue',
    port: 'Switch port',
  }[element.type as string];
  return `${word ?? element.type} ${elementName(element.id)}`;
}

const PATTERNS: Partial<Record<Explanation['kind'], string>> = {
  'ecmp-collision': 'A collision of flows (ECMP)',
};
