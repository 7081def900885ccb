/**
 * Reads the flow-level cases: flows on named links, and when an exact max-min simulator saw them finish.
 *
 * CSV: comment lines from `#`, a header line, then `flow,src,dst,bytes,start_s,finish_s,links` with the link names
 * joined by `|`. Every link carries 12.5e9 bytes/s and adds no latency, and times are rounded to 1 ns; both are
 * properties of how these files were recorded, not columns. JSON: rates of a few cases that can be solved by hand.
 */
import { z } from 'zod';
import { InputError } from '../src/core/problem.js';
import type { ListedFlow } from './reference-models/flow-list.js';

/** Bytes/ns of every link of a CSV case. */
const LINK_BYTES_PER_NS = 12.5;

/** A recorded run of a flow-level simulator. */
export interface MaxMinCase {
  capacities: Float64Array;
  flows: ListedFlow[];
  /** Recorded flow completion time, ns, per flow. */
  completionNs: Float64Array;
}

/** @throws InputError with the line of what can't be read */
export function parseMaxMinCase(text: string): MaxMinCase {
  const linkIds = new Map<string, number>();
  const flows: ListedFlow[] = [];
  const completionNs: number[] = [];
  let header: string[] | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    if (line === '' || line.startsWith('#')) continue;
    const fields = line.trim().split(',');
    if (header === undefined) {
      header = fields;
      if (line.trim() !== 'flow,src,dst,bytes,start_s,finish_s,links') {
        throw lineError(
          index,
          `expected the header flow,src,dst,bytes,start_s,finish_s,links, found ${line.slice(0, 60)}`,
        );
      }
      continue;
    }
    const [wireBytes, startNs, finishNs] = [
      Number(fields[3]),
      Number(fields[4]) * 1e9,
      Number(fields[5]) * 1e9,
    ];
    if (fields.length !== 7 || !(wireBytes > 0) || !(startNs >= 0) || !(finishNs > startNs)) {
      throw lineError(index, 'expected seven columns with bytes > 0 and finish_s > start_s >= 0');
    }
    const links = [...new Set(fields[6].split('|'))].map((name) => {
      if (!linkIds.has(name)) linkIds.set(name, linkIds.size);
      return linkIds.get(name)!;
    });
    const coefficients = new Float64Array(links.length).fill(1);
    flows.push({ links: Int32Array.from(links), coefficients, wireBytes, startNs });
    completionNs.push(finishNs - startNs);
  }
  if (flows.length === 0) throw lineError(0, 'the file holds no flow');
  const capacities = new Float64Array(linkIds.size).fill(LINK_BYTES_PER_NS);
  return { capacities, flows, completionNs: Float64Array.from(completionNs) };
}

/** Largest relative error of a flow completion time. */
export function worstFlowError(
  { completionNs }: MaxMinCase,
  { startNs, finishNs }: { startNs: Float64Array; finishNs: Float64Array },
): number {
  let worst = 0;
  for (let flow = 0; flow < completionNs.length; flow++) {
    const error = Math.abs((finishNs[flow] - startNs[flow]) / completionNs[flow] - 1);
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

const handCases = z.array(
  z.object({
    name: z.string(),
    links: z.record(z.string(), z.number().nonnegative()),
    flows: z.record(z.string(), z.array(z.string())),
    rates: z.record(z.string(), z.number()),
  }),
);

/** One case solved by hand: capacities and rates in any one unit. */
export interface HandCase {
  name: string;
  capacities: Float64Array;
  flows: { links: Int32Array; rate: number }[];
}

/** @throws InputError when the document is not a list of such cases */
export function parseHandCases(document: unknown): HandCase[] {
  const parsed = handCases.safeParse(document);
  if (!parsed.success)
    throw InputError.at('', `not a list of cases solved by hand: ${z.prettifyError(parsed.error)}`);
  return parsed.data.map(({ name, links, flows, rates }) => {
    const names = Object.keys(links);
    return {
      name,
      capacities: Float64Array.from(Object.values(links)),
      flows: Object.entries(flows).map(([flow, path]) => ({
        links: Int32Array.from(path, (link) => names.indexOf(link)),
        rate: rates[flow],
      })),
    };
  });
}

function lineError(index: number, message: string): InputError {
  return new InputError([{ pointer: '', message, line: index + 1 }]);
}
