/**
 * A dialect: how one family of devices is told and asked, as data, so that what is Linux stays apart from what is FRR.
 *
 * Words in braces are filled in for the port that is meant, each within one word of an argument vector: {interface}; {table},
 * a name that belongs to the port; {bits}, {mbps}, the rate; {burst}, {limit}, of a token bucket. What a family can't do is
 * left out, and an impairment that needs it is refused when a run is planned. Commands may be given twice.
 */
import type { DialectName } from '../../../fabric-api/transport-settings.js';

export interface DialectStep {
  command: readonly string[];
  /** Its standard input. */
  input?: string;
}

/** A setting of a port that is one of two words. */
export interface DialectChoice {
  ask: readonly string[];
  /** In what is answered: its presence means `present`, its absence `absent`. A regular expression. */
  pattern: string;
  present: string;
  absent: string;
  tell: Readonly<Record<string, readonly DialectStep[]>>;
}

/** The speed of a port. */
export interface DialectRate {
  ask: readonly string[];
  /** First group: the rate. */
  pattern: string;
  /** Gbit/s of one unit of the answer. */
  gbpsPerUnit: number;
  tell: readonly DialectStep[];
  /** Where a port may have no limit of its own: what says so, and what takes ours away. */
  unlimited?: { pattern: string; tell: readonly DialectStep[] };
}

export interface Dialect {
  name: DialectName;
  /** One line, for plans. */
  summary: string;
  /** Why it should not be relied on; left out where it was tried. */
  untested?: string;
  /** Programs that must be on the device, and the package that brings each. */
  needs: Readonly<Record<string, string>>;
  adminState: DialectChoice;
  rate?: DialectRate;
  /** What arrives at the port is lost. */
  arrivals?: DialectChoice;
  /** The kernel forwards by itself, so that netfilter and queueing disciplines see the packets of the fabric. */
  kernelForwards: boolean;
  /**
   * What is counted where: `queues` by the kernel's own queueing disciplines as well, `links` in the statistics of the
   * interfaces only, `none` in neither; what is not counted has no series.
   */
  counts: 'queues' | 'links' | 'none';
  /** Sessions as FRR's `show bfd peers json` gives them; {sockets} is the folder of its vty sockets. */
  bfd?: readonly string[];
}

/** Words of a template. */
export type TemplateWords = Readonly<Record<string, string | number>>;

/** @throws RangeError for a word that the template has and nobody gave */
export function filledIn(text: string, words: TemplateWords): string {
  return text.replace(/\{([a-z]+)\}/g, (_, name: string) => {
    const word = words[name];
    if (word === undefined) throw new RangeError(`a dialect asks for {${name}}`);
    return String(word);
  });
}
