/** A real Prometheus that scrapes a small exporter; skipped, with the reason, where there is none. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PrometheusClient } from './client.js';
import { PrometheusSource } from './source.js';
import { prometheusSettings } from './testing/settings.js';

const found = spawnSync('prometheus', ['--version'], { encoding: 'utf8' });
const why = found.error === undefined ? undefined : 'there is no program prometheus (package prometheus)';
if (why !== undefined) console.warn(`skipped: metrics of a real Prometheus: ${why}`);

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

(why === undefined ? describe : describe.skip)('a real Prometheus', () => {
  let folder: string;
  let exporter: Server;
  let program: ChildProcess;
  let url: string;
  let silent = false;
  let bytes = 0;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'fabricdrill-prometheus-'));
    exporter = createServer((_, response) => {
      if (silent) return response.destroy();
      bytes += 1000;
      return response.end(
        `port_bytes_total{device="p1"} ${bytes}\nport_up{device="p1"} ${bytes > 3000 ? 0 : 1}\n`,
      );
    });
    await new Promise<void>((resolve) => exporter.listen(0, '127.0.0.1', resolve));
    const target = `127.0.0.1:${(exporter.address() as AddressInfo).port}`;
    const scrape = { job_name: 'site', scrape_interval: '500ms', static_configs: [{ targets: [target] }] };
    writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify({ scrape_configs: [scrape] }));
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const options = {
      'config.file': join(folder, 'prometheus.yml'),
      'storage.tsdb.path': join(folder, 'data'),
      'web.listen-address': `127.0.0.1:${port}`,
    };
    const flags = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
    program = spawn('prometheus', flags, { stdio: 'ignore' });
    for (let tries = 0; bytes < 1000; tries++) {
      if (tries > 200) throw new Error('prometheus scrapes nothing');
      await sleep(100);
    }
  });
  afterAll(async () => {
    program?.kill('SIGKILL');
    exporter?.closeAllConnections();
    exporter?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('gives each scrape once, with its time, and nothing for a target that was silent', async () => {
    const zeroMs = Date.now();
    await sleep(3000);
    silent = true;
    await sleep(2500);
    silent = false;
    await sleep(2000);
    const settings = prometheusSettings({
      url,
      step: '250ms',
      metrics: [
        { metric: 'port_tx_bytes', query: 'port_bytes_total', element: 'port:leaf-1/{device}' },
        { metric: 'port_oper_status', query: 'port_up', element: 'port:leaf-1/{device}' },
      ],
    });
    const source = new PrometheusSource(new PrometheusClient(settings), settings, () => true);
    const { series } = await source.read(zeroMs, 0, 7.5e9);
    const [state, counter] = ['port_oper_status', 'port_tx_bytes'].map((metric) =>
      series.find((one) => one.metric === metric)!,
    );
    const gapsS = [...counter.timesNs].slice(1).map((time, at) => (time - counter.timesNs[at]) / 1e9);
    const rises = [...counter.values].slice(1).map((value, at) => value - counter.values[at]);
    expect(counter.values.length).toBeGreaterThan(5);
    // one step a scrape: none is told twice, and the silence is one gap
    expect(rises.every((rise) => rise >= 1000)).toBe(true);
    expect(Math.max(...gapsS)).toBeGreaterThan(2);
    expect(gapsS.filter((gap) => gap > 2)).toHaveLength(1);
    expect([...state.values].at(-1)).toBe(0);
    expect(state.values.length).toBeLessThanOrEqual(2);
  });

  it('says what is wrong with a query', async () => {
    const settings = prometheusSettings({
      url,
      metrics: [{ metric: 'port_tx_bytes', query: 'sum(', element: 'port:leaf-1/{device}' }],
    });
    const source = new PrometheusSource(new PrometheusClient(settings), settings, () => true);
    await expect(source.read(Date.now() - 5000, 0, 5e9)).rejects.toThrow(
      /does not understand the query: .*parse error/,
    );
  });
});
