/**
 * Questions to Prometheus' HTTP API: range queries, within a time limit, without following redirects.
 *
 * Answers: docs of the HTTP API ("range queries", format of matrix results). Queries travel in the body of a POST, so that
 * long ones fit and none is logged by proxies. Whatever the server says is checked before it is used; what it may say is
 * bounded. Not modelled: streaming of large answers, several tenants.
 */
import { z } from 'zod';
import { EnvironmentError, InputError } from '../../core/problem.js';
import type { PrometheusSettings } from '../../fabric-api/prometheus-settings.js';

const MOST_ANSWER_BYTES = 256 * 1024 * 1024;
/** The server refuses more points a series (web/api/v1, "exceeded maximum resolution"). */
const MOST_POINTS = 11_000;

const matrixSchema = z.object({
  status: z.literal('success'),
  data: z.object({
    resultType: z.literal('matrix'),
    result: z.array(
      z.object({
        metric: z.record(z.string(), z.string()),
        values: z.array(z.tuple([z.number(), z.string()])),
      }),
    ),
  }),
});
const errorSchema = z.object({ status: z.literal('error'), errorType: z.string(), error: z.string() });

export interface PrometheusSeries {
  labels: Record<string, string>;
  /** Seconds since 1970, rising. */
  times: number[];
  /** NaN where the server says so, or no number. */
  values: number[];
}

export class PrometheusClient {
  private readonly headers: Record<string, string>;

  /** @throws EnvironmentError when the variable that holds the token is not set */
  constructor(
    private readonly settings: Pick<PrometheusSettings, 'url' | 'authorization' | 'timeout' | 'step'>,
    environment: Readonly<Record<string, string | undefined>> = process.env,
  ) {
    this.headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' };
    const { authorization } = settings;
    if (authorization === undefined) return;
    const token = environment[authorization.env];
    if (token === undefined || token === '') {
      throw new EnvironmentError(
        `the environment variable ${authorization.env}, which holds the token for Prometheus, is not set`,
        `export ${authorization.env}=…`,
      );
    }
    this.headers.authorization = `${authorization.scheme} ${token}`;
  }

  /**
   * @param pointer of the query in its document
   * @throws InputError for what the server does not understand, EnvironmentError when it does not answer
   */
  async range(query: string, fromS: number, toS: number, pointer: string): Promise<PrometheusSeries[]> {
    const stepS = this.settings.step / 1e9;
    const byLabels = new Map<string, PrometheusSeries>();
    for (let from = fromS; from <= toS; from += MOST_POINTS * stepS) {
      const to = Math.min(toS, from + (MOST_POINTS - 1) * stepS);
      const body = new URLSearchParams({ query, start: String(from), end: String(to), step: String(stepS) });
      for (const { metric, values } of await this.ask(body, pointer)) {
        const key = JSON.stringify(Object.entries(metric).sort());
        const series = byLabels.get(key) ?? { labels: metric, times: [], values: [] };
        byLabels.set(key, series);
        for (const [time, value] of values) {
          series.times.push(time);
          series.values.push(numberOf(value));
        }
      }
    }
    return [...byLabels.values()];
  }

  private async ask(
    body: URLSearchParams,
    pointer: string,
  ): Promise<z.output<typeof matrixSchema>['data']['result']> {
    const url = new URL('api/v1/query_range', this.settings.url.replace(/\/*$/, '/'));
    const { status, text } = await this.post(url, body);
    if (status === 401 || status === 403) {
      const named = this.settings.authorization?.env;
      const hint =
        named === undefined
          ? 'add authorization { env } to the server’s settings'
          : `look at the token in ${named}`;
      throw new EnvironmentError(`Prometheus at ${url.origin} refuses access (${status})`, hint);
    }
    const json = jsonOf(text);
    const problem = errorSchema.safeParse(json);
    if (problem.success) {
      const { errorType, error } = problem.data;
      if (errorType !== 'bad_data') throw unavailable(url, `${errorType}: ${error}`);
      throw InputError.at(pointer, `Prometheus does not understand the query: ${error}`);
    }
    if (status >= 400) throw unavailable(url, `HTTP status ${status}`);
    const answer = matrixSchema.safeParse(json);
    if (!answer.success) throw unavailable(url, 'the answer is not one of its range queries');
    return answer.data.data.result;
  }

  private async post(url: URL, body: URLSearchParams): Promise<{ status: number; text: string }> {
    const timeoutMs = this.settings.timeout / 1e6;
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: this.headers,
        body,
        // a token must not follow to another host
        redirect: 'error',
        signal,
      });
      return { status: response.status, text: await boundedText(response) };
    } catch (error) {
      if (signal.aborted) throw unavailable(url, `no answer within ${timeoutMs} ms`);
      throw unavailable(url, reasonOf(error));
    }
  }
}

async function boundedText(response: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    const data = piece as Uint8Array;
    bytes += data.length;
    if (bytes > MOST_ANSWER_BYTES) throw new Error(`the answer is larger than ${MOST_ANSWER_BYTES} bytes`);
    pieces.push(data);
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** fetch says "fetch failed" and keeps the reason in the cause. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as { message?: string; cause?: { message?: string; code?: string } };
  return cause?.message || cause?.code || message || String(error);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Infinity is no figure that a counter or a sensor has. */
function numberOf(text: string): number {
  const value = text === '' ? NaN : Number(text);
  return Number.isFinite(value) ? value : NaN;
}

const unavailable = (url: URL, why: string): EnvironmentError =>
  new EnvironmentError(
    `Prometheus at ${url.origin} gives no metrics: ${why}`,
    `is ${url.origin} the right address, and can it be reached from here?`,
  );
