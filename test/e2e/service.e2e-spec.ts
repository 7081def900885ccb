/**
 * The service as a whole: its description, its probes, who is let in, and how it fails to start.
 */
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startApp } from '../../src/app/app.module.js';
import { loadConfig } from '../../src/system/config/config.js';
import { EnvironmentError, InputError } from '../../src/core/problem.js';
import { DOCUMENT_FORMATS, GATE_FORMATS, REPORT_FORMATS } from '../../src/reports/catalog.js';
import { compileProgram, startProgram, type ChildProgram } from '../support/child-program.js';
import { createTestDatabase, testHome } from '../support/database.js';
import { experimentDocument, fabricDocument, type Json } from '../support/definitions.js';
import { HttpClient } from '../support/http-client.js';
import { freePort } from '../support/redis.js';
import { queueBackends } from '../support/queue-backends.js';
import { startService, type TestService } from '../support/service.js';

jest.setTimeout(60_000);
const TOKEN = 'a-secret-of-the-suite-0123456789abcdef';

interface OpenApi {
  openapi: string;
  paths: Record<string, Record<string, Json>>;
}

describe.each(queueBackends('the service as a whole'))('a service with its queue in $name', (backend) => {
  let service: TestService;
  let client: HttpClient;
  let stranger: HttpClient;

  beforeAll(async () => {
    service = await startService(backend, { api: true, worker: true }, { FABRICDRILL_TOKEN: TOKEN });
    client = service.client;
    stranger = new HttpClient(service.url);
  });
  afterAll(() => service.stop());

  const describeApi = async (): Promise<OpenApi> => (await client.get('/openapi.json')).body as OpenApi;

  it('describes itself in valid OpenAPI 3.1', async () => {
    const document = await describeApi();
    expect(document.openapi).toBe('3.1.0');
    const result = await new Validator().validate(structuredClone(document) as unknown as Json);
    expect(result).toEqual({ valid: true });
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#([^"]+)"/g)].map(
      ([, pointer]) => pointer,
    );
    expect(references.length).toBeGreaterThan(0);
    for (const pointer of references) {
      const target = pointer
        .split('/')
        .slice(1)
        .reduce<unknown>(
          (inner, key) =>
            (inner as Json)?.[decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~')],
          document,
        );
      expect([pointer, typeof target]).toEqual([pointer, 'object']);
    }
  });

  it('describes what each operation takes and answers, and how it fails', async () => {
    const { paths } = await describeApi();
    interface Described {
      parameters?: { in: string; name: string; required?: boolean; description?: string; schema: Json }[];
      responses: Record<string, { description?: string; content?: Json; $ref?: string }>;
    }
    const wanting = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods as unknown as Record<string, Described>).flatMap(([method, operation]) => {
        const { parameters = [], responses } = operation;
        const statuses = Object.keys(responses);
        const headers = parameters.map((one) => `${one.in} ${one.name.toLowerCase()}`);
        return [
          ...parameters
            .filter((one) => !one.description || Object.keys(one.schema).length === 0)
            .map(({ name }) => `what ${name} is`),
          ...(parameters.some((one) => one.in === 'header' && one.required) ? ['no header must come'] : []),
          ...(new Set(headers).size < headers.length ? ['each parameter once'] : []),
          ...(statuses.some((status) => status.startsWith('2')) ? [] : ['a success']),
          ...(responses.default?.$ref === '#/components/responses/Problem' ? [] : ['a problem']),
          ...Object.entries(responses).flatMap(([status, { description, content, $ref }]) => {
            if ($ref !== undefined) return [];
            const isWhole = Boolean(description) && (status === '204' || content !== undefined);
            const isProblem = content !== undefined && 'application/problem+json' in content;
            return isWhole && isProblem === Number(status) >= 400 ? [] : [`what ${status} is`];
          }),
        ].map((what) => `${method} ${path}: ${what}`);
      }),
    );
    expect(wanting).toEqual([]);
  });

  it.each([
    ['/v1/runs/{id}/report', REPORT_FORMATS],
    ['/v1/gates/{id}', GATE_FORMATS],
    ['/v1/game-days/{id}/report', DOCUMENT_FORMATS],
  ])('describes every form in which %s is answered', async (path, formats) => {
    const { get } = (await describeApi()).paths[path] as unknown as {
      get: { responses: Record<string, { content: Json }> };
    };
    const described = Object.keys(get.responses['200'].content);
    const given = ['application/json', ...formats.map(({ mediaType }) => mediaType)];
    expect(described.sort()).toEqual([...new Set(given)].sort());
  });

  it('answers lists in the media type and shape that it describes', async () => {
    const { paths } = await describeApi();
    const lists = Object.entries(paths).filter(([path, { get }]) => get !== undefined && !path.includes('{'));
    expect(lists.length).toBeGreaterThan(5);
    for (const [path, { get }] of lists) {
      const { content } = (get as { responses: Record<string, { content: Json }> }).responses['200'];
      expect([path, content]).toMatchObject([
        path,
        { 'application/json': { schema: { required: ['data'], properties: { data: { type: 'array' } } } } },
      ]);
      const { status, headers, body } = await client.get(path);
      expect([path, status, headers.get('content-type')]).toEqual([
        path,
        200,
        'application/json; charset=utf-8',
      ]);
      expect(body).toMatchObject({ data: expect.any(Array) });
    }
  });

  it('describes every route of the interface', async () => {
    const { paths } = await describeApi();
    const routes = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(routes).toEqual(
      expect.arrayContaining([
        'GET /v1/faults',
        'GET /v1/faults/{kind}',
        'GET /v1/fabrics',
        'POST /v1/fabrics',
        'POST /v1/fabrics/import',
        'GET /v1/fabrics/{name}',
        'PUT /v1/fabrics/{name}',
        'DELETE /v1/fabrics/{name}',
        'GET /v1/fabrics/{name}/topology',
        'GET /v1/experiments',
        'POST /v1/experiments',
        'GET /v1/experiments/{id}',
        'PUT /v1/experiments/{id}',
        'DELETE /v1/experiments/{id}',
        'POST /v1/experiments/{id}/plan',
        'POST /v1/experiments/{id}/runs',
        'GET /v1/runs',
        'GET /v1/runs/{id}',
        'GET /v1/runs/{id}/events',
        'POST /v1/runs/{id}/abort',
        'POST /v1/runs/{id}/clear',
        'GET /v1/runs/{id}/scorecard',
        'GET /v1/runs/{id}/verdict',
        'GET /v1/runs/{id}/evidence',
        'GET /v1/runs/{id}/report',
      ]),
    );
  });

  it('lets nobody in without its token, on no described route', async () => {
    const { paths } = await describeApi();
    for (const [path, methods] of Object.entries(paths)) {
      for (const method of Object.keys(methods)) {
        const address = path.replaceAll(/\{\w+\}/g, '00000000-0000-4000-8000-000000000000');
        for (const authorization of [undefined, 'Bearer wrong', `Basic ${TOKEN}`]) {
          const headers = authorization === undefined ? undefined : { authorization };
          const answer = await stranger.send(method.toUpperCase(), address, undefined, headers);
          expect([method, path, answer.status]).toEqual([method, path, 401]);
          expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
          expect(answer.body).toMatchObject({ status: 401, detail: expect.stringContaining('token') });
        }
      }
    }
    const id = await client.run(fabricDocument('f'), experimentDocument('e', 'f'));
    expect((await stranger.post(`/v1/runs/${id}/abort`)).status).toBe(401);
    expect(await client.ended(id)).toMatchObject({ state: 'passed' });
  });

  it('asks for the token before it reads a body', async () => {
    // neither is read: no JSON could be told wrong, and of the second not a byte is there
    expect((await stranger.post('/v1/experiments', '{', { 'content-type': 'application/json' })).status).toBe(
      401,
    );
    const head = ['POST /v1/experiments HTTP/1.1', 'Host: 127.0.0.1', 'Content-Type: application/json'];
    const announced = await spokenOver(service.url, [...head, 'Content-Length: 20000000']);
    expect(announced).toMatch(/^HTTP\/1\.1 401 /);
    // a client that waits to be asked for its body is not asked, unless it has the token
    const polite = [...head, 'Content-Length: 1', 'Expect: 100-continue'];
    expect(await spokenOver(service.url, polite)).toMatch(/^HTTP\/1\.1 401 /);
    const known = await spokenOver(service.url, [...polite, `Authorization: Bearer ${TOKEN}`], '{');
    expect(known).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 400 /);
  });

  it.each([
    ['POST', '/v1/experiments'],
    ['POST', '/v1/fabrics'],
    ['POST', '/v1/schedules'],
    ['POST', '/v1/game-days'],
    ['POST', '/v1/gates'],
    ['PUT', '/v1/fabrics/some'],
    ['POST', '/v1/fabrics/import'],
    ['POST', '/v1/diagnose'],
    ['POST', '/v1/diagnoses/alertmanager'],
    ['POST', '/v1/runs/00000000-0000-4000-8000-000000000000/diagnoses'],
  ])('refuses 80 000 keys at %s %s, and says so in a hundred sentences at most', async (method, path) => {
    const keys = Object.fromEntries(Array.from({ length: 80_000 }, (_, at) => [`key-${at}`, at]));
    const { status, body } = await client.send(method, path, keys);
    expect(status).toBe(400);
    expect(body.errors.length).toBeGreaterThan(0);
    expect(body.errors.length).toBeLessThanOrEqual(101);
  });

  it('answers probes without a token and tells figures with one', async () => {
    expect((await stranger.get('/health/live')).body).toEqual({ status: 'ok' });
    expect((await stranger.get('/health/ready')).status).toBe(200);
    expect((await stranger.get('/metrics')).status).toBe(401);
    expect((await client.get('/metrics')).text).toContain(`queue="${backend.name}"`);
  });

  it('has readable documentation and schemas of its files', async () => {
    const page = await client.get('/docs');
    expect([page.status, page.headers.get('content-type')]).toEqual([
      200,
      expect.stringContaining('text/html'),
    ]);
    for (const kind of ['Experiment', 'Fabric']) {
      const { body } = await client.get(`/schemas/${kind}.json`);
      expect(body).toMatchObject({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        properties: { kind: { const: kind } },
      });
    }
  });
});

/** What comes back over a connection of its own until the other side ends it, for a head and, once asked for, a body. */
function spokenOver(url: string, head: readonly string[], body = ''): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(`${head.join('\r\n')}\r\n\r\n`));
    let said = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.endsWith('100 Continue\r\n\r\n')) socket.write(body);
      else if (body !== '') socket.end();
    });
    socket.once('error', reject).once('close', () => resolve(said));
  });
}

describe('a service that can not start', () => {
  let program: ChildProgram;
  let taken: Server;

  beforeAll(async () => {
    program = compileProgram(`
      import { main } from './src/cli/program.js';
      process.exitCode = await main(process.argv);
    `);
    taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    program.remove();
    await new Promise((resolve) => taken.close(resolve));
  });

  const takenPort = (): string => String((taken.address() as AddressInfo).port);

  const command = async (
    args: string[],
    environment: NodeJS.ProcessEnv,
  ): Promise<{ code: unknown; errors: string }> => {
    const child = startProgram(program, args, { env: { PATH: process.env.PATH, ...environment } });
    let errors = '';
    child.process.stderr!.on('data', (chunk: string) => (errors += chunk));
    return { code: await child.ended, errors };
  };

  it('for want of its database says so and exits with 3', async () => {
    const { code, errors } = await command(['runs', 'list'], {
      DATABASE_URL: `postgres://drill:secret@127.0.0.1:${await freePort()}/none`,
    });
    expect(code).toBe(3);
    expect(errors).toMatch(/DATABASE_URL/);
    expect(errors).toMatch(/ECONNREFUSED/);
    expect(errors).not.toMatch(/secret|at .*\.js:/);
  });

  it('since its port is taken exits with 3 and leaves no database behind', async () => {
    const home = mkdtempSync(join(tmpdir(), 'fabricdrill-home-'));
    chmodSync(home, 0o755);
    try {
      const { code, errors } = await command(['serve', '--port', takenPort()], { FABRICDRILL_HOME: home });
      expect(code).toBe(3);
      expect(errors).toMatch(new RegExp(`port ${takenPort()} .*taken`));
      expect(errors).toMatch(/--port/);
      expect(processesIn(home)).toEqual([]);
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  });

  it('since its port is taken begins with no run that waits', async () => {
    const [backend] = queueBackends('a taken port');
    const service = await startService(backend);
    try {
      const { client, config, rows, url } = service;
      await client.post('/v1/fabrics', fabricDocument('small'));
      const { body } = await client.post('/v1/experiments', experimentDocument('waits', 'small'));
      expect((await client.post(`/v1/experiments/${body.id}/runs`, {})).status).toBe(202);
      const second = startApp({ ...config, port: Number(new URL(url).port) }, { api: true, worker: true });
      await expect(second).rejects.toThrow(EnvironmentError);
      expect(await rows('SELECT state FROM runs')).toEqual([{ state: 'pending' }]);
    } finally {
      await service.stop();
    }
  });

  it('on a database of a newer schema is told what to upgrade to', async () => {
    const database = await createTestDatabase();
    const config = loadConfig({
      FABRICDRILL_HOME: testHome(),
      DATABASE_URL: database.url,
      FABRICDRILL_PORT: '0',
      LOG_LEVEL: 'fatal',
    });
    try {
      await (await startApp(config, { api: true, worker: false })).close();
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      await client.query(
        `INSERT INTO migrations ("timestamp", name) VALUES (9000000000000, 'Later9000000000000')`,
      );
      await client.query(`INSERT INTO migration_versions VALUES ('Later9000000000000', '9.9.9', now())`);
      await client.end();
      const start = startApp(config, { api: true, worker: true });
      await expect(start).rejects.toThrow(EnvironmentError);
      await expect(start).rejects.toMatchObject({
        message: expect.stringContaining('Later9000000000000'),
        hint: expect.stringContaining('9.9.9'),
      });
    } finally {
      await database.drop();
    }
  });

  it('beyond loopback without a token is refused before anything is started', () => {
    const start = (): unknown => loadConfig({ FABRICDRILL_HOST: '0.0.0.0' });
    expect(start).toThrow(InputError);
    expect(start).toThrow(/FABRICDRILL_TOKEN/);
    expect(loadConfig({ FABRICDRILL_HOST: '0.0.0.0', FABRICDRILL_TOKEN: TOKEN }).host).toBe('0.0.0.0');
  });
});

/** Processes of this machine whose command line names the folder. */
function processesIn(folder: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => commandLine(pid))
    .filter((line) => line.includes(folder));
}

function commandLine(pid: string): string[] {
  try {
    return [readFileSync(join('/proc', pid, 'cmdline'), 'utf8')];
  } catch {
    // it ended meanwhile
    return [];
  }
}
