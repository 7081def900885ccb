/**
 * The question without a drill, over REST and at the command line: same evidence, same verdict, nothing injected.
 */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cli } from '../support/cli.js';
import { experimentDocument, fabricDocument, yamlOf, type Json } from '../support/definitions.js';
import { queueBackends } from '../support/queue-backends.js';
import { startService, type TestService } from '../support/service.js';

jest.setTimeout(120_000);

const ARROW = 'application/vnd.apache.arrow.file';

describe('diagnose', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fabricdrill-diagnose-'));
  let service: TestService;
  let cli: Cli;
  let runId: string;
  let arrow: Buffer;
  let ownVerdict: Json;

  beforeAll(async () => {
    const [backend] = queueBackends('diagnose');
    service = await startService(backend, { api: true, worker: true });
    cli = Cli.compile({ FABRICDRILL_URL: service.url });
    // the jobs come with the experiment, so the evidence must carry them
    const { jobs } = fabricDocument('x').spec as { jobs: unknown };
    runId = await service.client.run(
      fabricDocument('small', { jobs: [] }),
      experimentDocument('cut', 'small', { jobs }),
    );
    await service.client.ended(runId);
    arrow = (await service.client.get(`/v1/runs/${runId}/evidence`)).bytes;
    writeFileSync(join(folder, 'run.arrow'), arrow);
    ownVerdict = (await service.client.get(`/v1/runs/${runId}/verdict`)).body as Json;
  });

  afterAll(async () => {
    cli.remove();
    await service.stop();
    rmSync(folder, { recursive: true });
  });

  it('holds up no other answer, however long it takes', async () => {
    const spec = {
      topology: { builder: 'leaf-spine', leaves: 2, spines: 2, hostsPerLeaf: 4, gpusPerHost: 2 },
      jobs: [
        {
          name: 'exposed',
          gpus: 16,
          placement: { strategy: 'packed' },
          step: { compute: '60ms', collectives: [{ collective: 'all-to-all', bytes: '20MB' }] },
        },
      ],
    };
    let answered = false;
    const asked = post({ fabric: fabricDocument('long', spec), to: '4s' }).finally(() => (answered = true));
    const answersMs: number[] = [];
    while (!answered) {
      const beganMs = performance.now();
      expect((await service.client.get('/health/live')).status).toBe(200);
      answersMs.push(performance.now() - beganMs);
    }
    expect((await asked).status).toBe(200);
    // held up, the first would be answered together with the question
    expect(answersMs.length).toBeGreaterThan(20);
  });

  const post = (body: unknown, headers?: Record<string, string>, query = '') =>
    service.client.post(`/v1/diagnose${query}`, body, headers);

  const postArrow = async (bytes: Buffer, query = ''): Promise<{ status: number; body: Json }> => {
    const response = await fetch(`${service.url}/v1/diagnose${query}`, {
      method: 'POST',
      headers: { 'content-type': ARROW },
      body: new Uint8Array(bytes),
    });
    return { status: response.status, body: (await response.json()) as Json };
  };

  it('gives for a stored run the verdict that the run itself came to', async () => {
    const { status, body } = await post({ run: runId });
    expect(status).toBe(200);
    expect(body).toEqual(ownVerdict);
  });

  it('gives the same for the downloaded file, which carries its fabric and jobs', async () => {
    expect(await postArrow(arrow)).toEqual({ status: 200, body: ownVerdict });
    const plain = (await service.client.get(`/v1/runs/${runId}/evidence?compression=none`)).bytes;
    expect(await postArrow(plain)).toEqual({ status: 200, body: ownVerdict });
  });

  it('looks at a part of the evidence', async () => {
    // too short for "no fault", and nothing to accuse anybody of
    const early = { faultFound: null, culprits: [] };
    expect(await post({ run: runId, to: '2900ms' })).toMatchObject({ status: 200, body: early });
    expect((await postArrow(arrow, '?to=2900ms')).body).toMatchObject(early);
  });

  it('watches a fabric without injecting or storing anything', async () => {
    const answer = await post({ fabric: fabricDocument('other'), to: '5s' });
    expect(answer).toMatchObject({ status: 200, body: { faultFound: false, culprits: [] } });
    expect(await service.rows('SELECT 1 FROM runs')).toHaveLength(1);
    expect(await service.rows('SELECT 1 FROM fabrics')).toHaveLength(1);
  });

  it.each([
    ['nothing to look at', {}, ''],
    ['a fabric that is not stored', { fabric: 'smal', to: '5s' }, '/fabric'],
    ['a fabric without an end', { fabric: 'small' }, '/to'],
    ['a fabric without jobs', { fabric: 'small', to: '5s' }, '/spec/jobs'],
    ['a time without a unit', { fabric: 'small', to: '5' }, '/to'],
    ['a misspelt key', { fabrik: 'small' }, '/fabrik'],
    ['a window of too many hours', { fabric: 'small', to: '5h' }, '/to'],
  ])('refuses %s', async (_, body, pointer) => {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(answer.body.errors[0].pointer).toBe(pointer);
  });

  it('answers 404 for a run that is not there and 400 for what is no evidence', async () => {
    expect((await post({ run: 'nope' })).status).toBe(404);
    expect((await postArrow(Buffer.from('not arrow'))).status).toBe(400);
    expect((await postArrow(arrow, '?fabric=nope')).status).toBe(400);
  });

  describe('at the command line', () => {
    it('says the verdict of a file in words, with exit code 0', async () => {
      const { exitCode, stdout } = await cli.run(['diagnose', '--evidence', join(folder, 'run.arrow')]);
      expect(stdout).toMatch(/^FAULT FOUND[.] /);
      expect(stdout).toContain((ownVerdict.culprits as { element: { id: string } }[])[0].element.id);
      expect(exitCode).toBe(0);
    });

    it('exits 3 where the evidence does not suffice', async () => {
      const { exitCode, stdout } = await cli.run(
        ['diagnose', '--evidence', 'run.arrow', '--to', '2900ms'],
        folder,
      );
      expect(stdout).toMatch(/^NOT KNOWN/);
      expect(exitCode).toBe(3);
    });

    it('says it as JSON, the same as REST', async () => {
      const local = await cli.run(['diagnose', '--evidence', 'run.arrow', '--output', 'json'], folder);
      expect(JSON.parse(local.stdout)).toEqual(ownVerdict);
      const remote = await cli.run(['diagnose', '--run', runId, '--output', 'json']);
      expect(JSON.parse(remote.stdout)).toEqual(ownVerdict);
    });

    it('watches a fabric of a file', async () => {
      writeFileSync(join(folder, 'fabric.yaml'), yamlOf(fabricDocument('mine')));
      const { exitCode, stdout } = await cli.run(
        ['diagnose', '--fabric', 'fabric.yaml', '--from', '1s', '--to', '9s'],
        folder,
      );
      expect(stdout).toMatch(/^NO FAULT/);
      expect(exitCode).toBe(0);
    });

    it.each([
      [['diagnose'], /nothing to look at/],
      [['diagnose', '--evidence', 'fabric.yaml'], /fabric\.yaml: this is no Arrow IPC file|no column/],
      [['diagnose', '--evidence', 'none.arrow'], /none\.arrow: there is no such file/],
      [['diagnose', '--evidence', 'run.arrow', '--from', '9'], /--from: "9" is no time/],
      [['diagnose', '--evidence', 'run.arrow', '--from', '90s'], /--from: the evidence covers/],
      [['diagnose', '--fabric', 'fabric.yaml'], /--to: how long/],
      [['diagnose', '--fabric', 'none.yaml', '--to', '5s'], /--fabric: there is no file "none\.yaml"/],
      [
        ['diagnose', '--fabric', 'smal', '--to', '5s'],
        /--fabric: there is no fabric "smal".*did you mean "small"/,
      ],
    ])('%p is bad input', async (args, message) => {
      const { exitCode, stderr, stdout } = await cli.run(args, folder);
      expect(stderr).toMatch(message);
      expect([exitCode, stdout]).toEqual([2, '']);
    });
  });

  it('reads the past of a site from its Prometheus, without a server of ours', async () => {
    const prometheus = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (text: string) => (body += text));
      request.on('end', () => {
        const asked = new URLSearchParams(body);
        const times = ['start', 'end'].map((name) => Number(asked.get(name)));
        const values = times.map((time) => [time, String(time)]);
        const data = { resultType: 'matrix', result: [{ metric: { device: 'p1' }, values }] };
        response.end(JSON.stringify({ status: 'success', data }));
      });
    });
    await new Promise<void>((resolve) => prometheus.listen(0, '127.0.0.1', resolve));
    const file = join(folder, 'site.yaml');
    const url = `http://127.0.0.1:${(prometheus.address() as AddressInfo).port}`;
    const settings = join(folder, 'settings.yaml');
    writeFileSync(settings, yamlOf({ prometheus: { site: { url } } }));
    const metrics = [{ metric: 'port_tx_bytes', query: 'x', element: 'port:leaf-1/{device}' }];
    const site = fabricDocument('site');
    writeFileSync(
      file,
      yamlOf({
        ...site,
        spec: { ...(site.spec as Json), driver: 'prometheus', prometheus: { server: 'site', metrics } },
      }),
    );
    const ask = (from: string) =>
      cli
        .with({ FABRICDRILL_URL: 'http://127.0.0.1:1', FABRICDRILL_CONFIG: settings })
        .run([
          'diagnose',
          '--fabric',
          file,
          '--from',
          from,
          '--to',
          '2026-11-30T01:10:00Z',
          '--output',
          'json',
        ]);
    const { exitCode, stdout } = await ask('2026-11-30T01:00:00Z');
    expect(exitCode).toBe(3);
    expect((JSON.parse(stdout) as { faultFound: unknown }).faultFound).toBeNull();
    const wrong = await ask('2026-11-30T01:00:00');
    expect(wrong.exitCode).toBe(2);
    expect(wrong.stderr).toMatch(/--from: "2026-11-30T01:00:00" is no instant with a time zone/);
    prometheus.close();
  });
});
