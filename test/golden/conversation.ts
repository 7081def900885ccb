/**
 * A conversation with a server, and its transcript without what differs from one time to the next: ids, times, address.
 */
import type { Json } from '../support/definitions.js';
import type { Answer, HttpClient } from '../support/http-client.js';
import { until } from '../support/until.js';

export interface Step {
  /** `GET /v1/runs/{run}`; in braces what an earlier step kept. */
  ask: string;
  /** A text is sent as YAML, anything else as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
  /** Keeps the last part of the answer's Location under this name. */
  keep?: string;
  /** Asks again until this holds of the body; only the last answer is written down. */
  until?: (body: Json) => boolean;
}

export interface Exchange {
  ask: string;
  status: number;
  headers: Record<string, string>;
  body: unknown;
}

const HEADERS = [
  'content-type',
  'location',
  'link',
  'allow',
  'retry-after',
  'idempotency-replayed',
  'content-disposition',
];
const PATIENCE_MS = 120_000;

export async function converse(client: HttpClient, steps: readonly Step[]): Promise<Exchange[]> {
  const kept = new Map<string, string>();
  const filled = (text: string): string =>
    text.replaceAll(/\{(\w+)\}/g, (braced, name: string) => kept.get(name) ?? braced);
  const exchanges: Exchange[] = [];
  for (const { ask, body, headers, keep, until: holds } of steps) {
    const [method, path] = filled(ask).split(' ');
    const sent =
      body === undefined ? undefined : filled(typeof body === 'string' ? body : JSON.stringify(body));
    const type = { 'content-type': typeof body === 'string' ? 'application/yaml' : 'application/json' };
    const once = (): Promise<Answer> =>
      client.send(method, path, sent, { ...(sent === undefined ? {} : type), ...headers });
    let answer = await once();
    if (holds !== undefined) {
      await until(async () => holds((answer = await once()).body as Json), ask, PATIENCE_MS);
    }
    if (keep !== undefined) kept.set(keep, answer.headers.get('location')?.split('/').at(-1) ?? '');
    exchanges.push({ ask, ...written(answer) });
  }
  return normalised(exchanges, client.url);
}

function written({ status, headers, text, body }: Answer): Omit<Exchange, 'ask'> {
  const type = headers.get('content-type') ?? '';
  const shown = HEADERS.flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  const isText = type.startsWith('text/') || type.includes('xml');
  const said: unknown = type.includes('json') ? body : isText ? linesOf(text) : null;
  return { status, headers: Object.fromEntries(shown), body: said };
}

/** A picture goes by the wall clock to the pixel, and has specs of its own. */
const linesOf = (text: string): string[] => text.replaceAll(/<svg[^]*?<\/svg>/g, '<svg></svg>').split('\n');

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const SECOND = /20\d\d-\d\d-\d\d \d\d:\d\d:\d\d/g;
const TOOK = /(?<=TIME UTC )\(\d+ s\)|(?<=time=\\")[\d.]+(?=\\")/g;
const TIME = /20\d\d-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?Z/g;

/** The same id has the same name all along. */
function normalised(exchanges: readonly Exchange[], url: string): Exchange[] {
  const names = new Map<string, string>();
  const text = JSON.stringify(exchanges)
    .replaceAll(url, 'URL')
    .replaceAll(UUID, (id) => {
      if (!names.has(id)) names.set(id, `ID-${names.size + 1}`);
      return names.get(id)!;
    })
    .replaceAll(TIME, 'TIME')
    .replaceAll(SECOND, 'TIME')
    .replaceAll(TOOK, 'TOOK')
    .replaceAll(/"version":"[^"]*"/g, '"version":"VERSION"')
    .replaceAll(/"(digest|seal)":"[^"]*"/g, '"$1":"ANY"')
    .replaceAll(/cursor=[\w%-]+/g, 'cursor=CURSOR');
  return JSON.parse(text) as Exchange[];
}
