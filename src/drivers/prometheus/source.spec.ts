/** A real HTTP server that answers as Prometheus does; what it answers was recorded from Prometheus 2.42. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { QUALITY, type Evidence } from '../../model/telemetry/series.js';
import { fabricSpecSchema } from '../../fabric-api/definition.js';
import { PrometheusClient } from './client.js';
import { prometheusDriver } from './driver.js';
import { PrometheusSource } from './source.js';
import { prometheusSettings, siteServer } from './testing/settings.js';

interface Row {
  metric: Record<string, string>;
  values: [number, string][];
}

/** 1 600 000 000 s and on. */
const ZERO_MS = 1_600_000_000_000;
const at = (second: number): number => ZERO_MS / 1000 + second;
const matrix = (...result: Row[]): string =>
  JSON.stringify({ status: 'success', data: { resultType: 'matrix', result } });

describe('metrics from Prometheus', () => {
  let server: Server;
  let url: string;
  let asked: { query: URLSearchParams; headers: IncomingMessage['headers'] }[];
  let answer: (query: URLSearchParams, response: ServerResponse) => void;

  beforeEach(async () => {
    asked = [];
    server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (text: string) => (body += text));
      request.on('end', () => {
        const query = new URLSearchParams(body);
        asked.push({ query, headers: request.headers });
        answer(query, response);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const settings = (changes: Record<string, unknown> = {}) =>
    prometheusSettings({
      url,
      step: '1s',
      metrics: [
        {
          metric: 'port_tx_bytes',
          query: 'node_network_transmit_bytes_total',
          element: 'port:{instance}/{device}',
          values: { instance: { '10.0.0.1:9100': 'leaf-1' }, device: { 'to-s1': 'p3' } },
        },
      ],
      ...changes,
    });
  const read = (
    changes?: Record<string, unknown>,
    environment?: Record<string, string>,
  ): Promise<Evidence> => {
    const all = settings(changes);
    const known = (element: string): boolean => element.startsWith('port:leaf-1/');
    return new PrometheusSource(new PrometheusClient(all, environment), all, known).read(ZERO_MS, 0, 8e9);
  };
  /** Values as given, scraped at the second that each stands for. */
  const serve = (
    labels: Record<string, string>,
    values: [number, string][],
    scrapedAt = values.map(([s]) => s),
  ) => {
    answer = (query, response) => {
      const stamps = query.get('query')!.startsWith('timestamp(');
      const rows = values.map(([second, value], index): [number, string] => [
        at(second),
        stamps ? String(at(scrapedAt[index])) : value,
      ]);
      const { __name__: _, ...rest } = labels;
      response.end(matrix({ metric: stamps ? rest : labels, values: rows }));
    };
  };
  const LABELS = {
    __name__: 'node_network_transmit_bytes_total',
    instance: '10.0.0.1:9100',
    device: 'to-s1',
  };

  it('become series of elements here, at the instants at which they were scraped', async () => {
    serve(
      LABELS,
      [
        [1, '100'],
        [2, '200'],
        [3, '300'],
      ],
      [0.4, 1.4, 2.4],
    );
    const { series, fromNs, toNs } = await read();
    expect({ fromNs, toNs }).toEqual({ fromNs: 0, toNs: 8e9 });
    expect(series).toHaveLength(1);
    expect(series[0]).toMatchObject({ metric: 'port_tx_bytes', element: 'port:leaf-1/p3' });
    const { timesNs, values } = series[0];
    expect([...timesNs].map((time) => Math.round(time / 1e6))).toEqual([400, 1400, 2400]);
    expect([...values]).toEqual([100, 200, 300]);
    expect(asked[0].query.get('start')).toBe(String(at(0)));
    expect(asked[0].query.get('step')).toBe('1');
  });

  it('are missing where nothing was scraped, although the server repeats the last sample', async () => {
    serve(
      LABELS,
      [
        [1, '100'],
        [2, '200'],
        [3, '200'],
        [4, '200'],
        [7, '700'],
      ],
      [1, 2, 2, 2, 7],
    );
    const [{ timesNs, values }] = (await read()).series;
    expect([...timesNs].map((time) => Math.round(time / 1e9))).toEqual([1, 2, 7]);
    expect([...values]).toEqual([100, 200, 700]);
  });

  it('are not available where they are no number', async () => {
    serve(LABELS, [
      [1, '100'],
      [2, 'NaN'],
      [3, '+Inf'],
      [4, '400'],
    ]);
    const [{ values, quality }] = (await read()).series;
    expect([...values]).toEqual([100, NaN, NaN, 400]);
    expect([...quality]).toEqual([QUALITY.fresh, QUALITY.notAvailable, QUALITY.notAvailable, QUALITY.fresh]);
  });

  it('that are states are told when they change', async () => {
    serve(LABELS, [
      [1, '1'],
      [2, '1'],
      [3, '0'],
      [4, '0'],
      [5, '1'],
    ]);
    const metrics = [
      { metric: 'port_oper_status', query: 'node_network_up', element: 'port:{instance}/{device}' },
    ];
    const values = { instance: { '10.0.0.1:9100': 'leaf-1' } };
    const [series] = (await read({ metrics: metrics.map((one) => ({ ...one, values })) })).series;
    expect(series.element).toBe('port:leaf-1/to-s1');
    expect([...series.values]).toEqual([1, 0, 1]);
  });

  it('are asked for in pieces that the server does not refuse, and put together', async () => {
    answer = (query, response) => {
      const stamps = query.get('query')!.startsWith('timestamp(');
      const [start, end] = [Number(query.get('start')), Number(query.get('end'))];
      const values: [number, string][] = [start, end].map((time) => [time, stamps ? String(time) : '1']);
      response.end(matrix({ metric: LABELS, values }));
    };
    const all = settings({ step: '100ms' });
    const source = new PrometheusSource(new PrometheusClient(all), all, () => true);
    const { series } = await source.read(ZERO_MS, 0, 1500e9);
    expect(asked.filter(({ query }) => !query.get('query')!.startsWith('timestamp'))).toHaveLength(2);
    expect(series[0].timesNs).toHaveLength(4);
  });

  it('are refused when two of them mean the same element, and when none means one that is here', async () => {
    answer = (_, response) => {
      const row = (extra: string): Row => ({ metric: { ...LABELS, extra }, values: [[at(1), '1']] });
      response.end(matrix(row('a'), row('b')));
    };
    await expect(read()).rejects.toThrow(/port_tx_bytes of port:leaf-1\/p3 comes from more than one series/);
    serve({ ...LABELS, instance: '10.0.0.9:9100' }, [[1, '1']]);
    await expect(read()).rejects.toThrow(/nothing that was found is on this fabric: port:10.0.0.9:9100\/p3/);
    answer = (_, response) => response.end(matrix());
    await expect(read()).rejects.toThrow(/no sample of any of these metrics/);
  });

  it('are asked for with the token that the environment holds, and never without one that is named', async () => {
    serve(LABELS, [[1, '1']]);
    const env = 'FABRICDRILL_PROMETHEUS_SITE';
    const authorization = { env };
    await read({ authorization }, { [env]: 'secret' });
    expect(asked[0].headers.authorization).toBe('Bearer secret');
    await expect(async () => read({ authorization }, {})).rejects.toThrow(/_SITE.*is not set/);
  });

  it('that can not be had say why: a wrong query, a refusal, a redirect, nonsense, silence', async () => {
    const error = JSON.stringify({
      status: 'error',
      errorType: 'bad_data',
      error: 'parse error: unexpected }',
    });
    answer = (_, response) => response.writeHead(400).end(error);
    await expect(read()).rejects.toThrow(
      '/spec/prometheus/metrics/0/query: Prometheus does not understand the query: parse error: unexpected }',
    );
    answer = (_, response) => response.writeHead(403).end('forbidden');
    await expect(read()).rejects.toThrow(/refuses access \(403\)/);
    answer = (_, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
    await expect(read()).rejects.toThrow(/gives no metrics/);
    answer = (_, response) => response.end('<html>');
    await expect(read()).rejects.toThrow(/not one of its range queries/);
    answer = () => undefined;
    await expect(read({ timeout: '200ms' })).rejects.toThrow(/no answer within 200 ms/);
    server.closeAllConnections();
    server.close();
    await expect(read()).rejects.toThrow(/gives no metrics: .*(ECONNREFUSED|closed)/);
  });

  it('make a fabric that is only watched: nothing can be done to it', async () => {
    const spec = fabricSpecSchema.parse({
      driver: 'prometheus',
      topology: { builder: 'leaf-spine', leaves: 1, spines: 1, hostsPerLeaf: 2, gpusPerHost: 1 },
      jobs: [{ name: 'llm', gpus: 2, step: { compute: '1s' } }],
      prometheus: {
        server: 'site',
        metrics: [{ metric: 'port_tx_bytes', query: 'x', element: 'port:leaf-1/{device}' }],
      },
    });
    const fabric = await prometheusDriver.create({ name: 'site', spec }, 1, undefined, siteServer({ url }));
    expect(fabric.describe().capabilities.size).toBe(0);
    const impairment = { type: 'link-cut' as const, link: fabric.describe().topology.links[0].id };
    await expect(fabric.apply('id', impairment)).rejects.toThrow(/"site" is only watched/);
    await expect(fabric.revert('id', impairment)).rejects.toThrow(/only watched/);
    serve({ device: 'p1' }, [[1, '7']]);
    const { series } = await fabric.remember(ZERO_MS, ZERO_MS + 8000);
    expect(series.map(({ element }) => element)).toEqual(['port:leaf-1/p1']);
  });

  it.each([
    [{ url: 'ftp://a' }, /http or https/],
    [{ url: 'http://user:secret@a' }, /no user and password/],
    [{ authorization: { env: 'A-B' } }, /name of an environment variable/],
    [{ step: '1ms' }, /from 100ms/],
    [{ metrics: [] }, /metrics|Too small/],
  ])('settings that can not be meant are refused: %j', (changes, message) => {
    expect(() => settings(changes)).toThrow(message);
  });
});
