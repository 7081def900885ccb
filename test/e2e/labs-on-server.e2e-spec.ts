/**
 * Labs are built and removed where the drills of a server run: asked for over REST and by `fabrics up` with FABRICDRILL_URL.
 * Where there can be no lab, the reason comes back the same way.
 */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { downOnServer, upOnServer } from '../../src/cli/client/labs.js';
import { ApiClient } from '../../src/cli/client/api-client.js';
import { EnvironmentError } from '../../src/core/problem.js';
import { Cli } from '../support/cli.js';
import { fabricDocument, yamlOf, type Json } from '../support/definitions.js';
import { labName, whyNoLab } from '../support/linux-lab.js';
import { queueBackends } from '../support/queue-backends.js';
import { startService, type TestService } from '../support/service.js';

jest.setTimeout(120_000);
const [backend] = queueBackends('labs on a server');
const why = whyNoLab('labs on a server');

const labDocument = (name: string): Json =>
  fabricDocument(name, {
    driver: 'linux',
    topology: {
      ...{ builder: 'leaf-spine', leaves: 1, spines: 1, hostsPerLeaf: 1, gpusPerHost: 1 },
      ...{ hostRate: '50Mbps', fabricRate: '50Mbps' },
    },
    jobs: [],
    lab: { prefix: name },
  });

describe('a lab on the machine of the server', () => {
  let service: TestService;
  let client: ApiClient;

  beforeAll(async () => {
    service = await startService(backend, { api: true, worker: true });
    client = new ApiClient(service.url);
  });
  afterAll(() => service.stop());

  it('is nothing that a simulated fabric, a site, or a name that is none could be', async () => {
    expect((await service.client.post('/v1/fabrics', fabricDocument('small'))).status).toBe(201);
    expect(await service.client.post('/v1/fabrics/small/up')).toMatchObject({
      status: 409,
      body: { code: 'not-a-lab', params: { fabric: 'small' } },
    });
    expect((await service.client.post('/v1/fabrics/none/up')).status).toBe(404);
    expect((await service.client.post('/v1/fabrics/none/down')).status).toBe(404);
    for (const name of ['..%2F..%2Fetc', '-x', 'a%20b'])
      expect((await service.client.post(`/v1/fabrics/${name}/down`)).status).toBe(400);
    expect((await service.client.get('/v1/fabrics/small/lab')).body).toMatchObject({ state: 'down' });
  });

  it('is not built by an API whose drills run elsewhere', async () => {
    const other = await service.join({ api: true, worker: false });
    const refused = await fetch(`${other.url}/v1/fabrics/small/up`, { method: 'POST' });
    expect(refused.status).toBe(409);
    expect(await refused.json()).toMatchObject({ code: 'drills-elsewhere' });
    await other.close();
  });

  it('is built behind the request, told step by step, and removed; or says why it can not be', async () => {
    const name = labName();
    const steps: string[] = [];
    const up = upOnServer(client, name, labDocument(name), (step) => steps.push(step));
    if (why !== undefined) {
      await expect(up).rejects.toThrow(EnvironmentError);
      const { body } = await service.client.get(`/v1/fabrics/${name}/lab`);
      expect(body).toMatchObject({ state: 'failed', reason: expect.any(String), lab: null });
      return;
    }
    expect(await up).toMatchObject({ name, devices: 3, links: 2 });
    expect(steps.length).toBeGreaterThan(0);
    expect((await service.client.get(`/v1/fabrics/${name}/lab`)).body).toMatchObject({ state: 'up' });
    expect(await downOnServer(client, name)).toMatchObject({ namespaces: expect.any(Array) });
    expect((await service.client.get(`/v1/fabrics/${name}/lab`)).body).toMatchObject({ state: 'down' });
    expect((await service.client.get(`/v1/fabrics/${name}`)).status).toBe(200);
  });

  it('is built and removed there by the commands, too; or they say why it can not be', async () => {
    const name = labName();
    const folder = mkdtempSync(join(tmpdir(), 'fabricdrill-labs-'));
    writeFileSync(join(folder, 'lab.yaml'), yamlOf(labDocument(name)));
    const cli = Cli.compile({ FABRICDRILL_URL: service.url });
    try {
      const up = await cli.run(['fabrics', 'up', 'lab.yaml'], folder);
      const { body } = await service.client.get(`/v1/fabrics/${name}/lab`);
      if (why !== undefined) {
        expect([up.exitCode, body.state]).toEqual([3, 'failed']);
        expect(up.stderr).toContain(body.reason);
        return;
      }
      expect([up.exitCode, up.stderr, body.state]).toEqual([0, expect.any(String), 'up']);
      expect((await cli.run(['fabrics', 'down', name], folder)).exitCode).toBe(0);
      expect((await service.client.get(`/v1/fabrics/${name}/lab`)).body).toMatchObject({ state: 'down' });
    } finally {
      cli.remove();
      rmSync(folder, { recursive: true });
    }
  });
});
