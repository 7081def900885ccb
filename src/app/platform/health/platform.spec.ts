import { Controller, Get, type INestApplication, Module, Post, Body } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import request from 'supertest';
import type { App } from 'supertest/types.js';
import { createTestDatabase, testHome, type TestDatabase } from '../../../../test/support/database.js';
import { EnvironmentError, InputError } from '../../../core/problem.js';
import { AuthModule } from '../auth/auth.module.js';
import { DatabaseModule } from '../database/database.module.js';
import { type Database, openDatabase } from '../../../store/database/database.js';
import { createLogger } from '../../../system/logger.js';
import { NestLogger } from '../logging/nest-logger.js';
import { LoggingModule } from '../logging/logging.module.js';
import { ProblemFilter } from '../problem/problem.filter.js';
import { QueueModule } from '../queue/queue.module.js';
import { RUN_QUEUE, type RunQueue } from '../queue/run-queue.js';
import { VERSION } from '../../../system/version.js';
import { HealthModule } from './health.module.js';

jest.setTimeout(60_000);
const TOKEN = 'correct-horse-battery-staple-0123456789';

@Controller('things')
class ThingsController {
  @Get()
  list(): string[] {
    return ['a'];
  }

  @Get('broken')
  broken(): never {
    throw new Error('hunter2 in a stack');
  }

  @Get('elsewhere')
  elsewhere(): never {
    throw new EnvironmentError('the lab "b" is not up', 'fabrics up FILE builds it');
  }

  @Post()
  create(@Body() body: unknown): never {
    throw InputError.at('/kind', `no such kind ${JSON.stringify(body)}`, 'did you mean "b"?');
  }
}

@Module({ controllers: [ThingsController] })
class ThingsModule {}

let empty: TestDatabase;
let database: Database;
let app: INestApplication<App>;
let log: string[];

beforeAll(async () => {
  empty = await createTestDatabase();
});
afterEach(async () => {
  await app.close();
});
afterAll(() => empty.drop());

async function start(token?: string): Promise<void> {
  log = [];
  const logger = createLogger({ logLevel: 'info' }, { write: (line) => void log.push(line) });
  database = await openDatabase(
    { home: testHome(), databaseUrl: empty.url },
    { entities: [], migrations: [] },
  );
  const module = await Test.createTestingModule({
    imports: [
      LoggingModule.forRoot(logger),
      DatabaseModule.forDatabase(database),
      QueueModule.forRoot({ redisUrl: undefined }),
      AuthModule.forRoot({ token }),
      HealthModule,
      ThingsModule,
    ],
  }).compile();
  app = module.createNestApplication();
  app.useLogger(new NestLogger(logger));
  app.useGlobalFilters(new ProblemFilter());
  await app.listen(0, '127.0.0.1');
}

describe('with a token', () => {
  test('routes want exactly it, and say so as problem+json', async () => {
    await start(TOKEN);
    const http = request(app.getHttpServer());
    for (const header of [
      undefined,
      'Bearer',
      `Bearer ${TOKEN}x`,
      `Bearer ${TOKEN.slice(1)}`,
      `Basic ${TOKEN}`,
    ]) {
      const call = http.get('/things');
      const refused = await (header === undefined ? call : call.set('Authorization', header));
      expect(refused.status).toBe(401);
      expect(refused.headers['content-type']).toMatch(/^application\/problem\+json/);
      expect(refused.headers['www-authenticate']).toBe('Bearer realm="fabricdrill"');
      expect(refused.body).toMatchObject({ title: 'Unauthorized', status: 401, instance: '/things' });
    }
    const taken = await http.get('/things').set('Authorization', `Bearer ${TOKEN}`);
    expect([taken.status, taken.body]).toEqual([200, ['a']]);
  });

  test('probes do without it, figures do not', async () => {
    await start(TOKEN);
    const http = request(app.getHttpServer());
    expect((await http.get('/health/live')).body).toEqual({ status: 'ok' });
    const ready = await http.get('/health/ready');
    expect([ready.status, ready.body]).toEqual([
      200,
      { status: 'ok', details: { database: { status: 'up' }, queue: { status: 'up' } } },
    ]);
    expect((await http.get('/metrics')).status).toBe(401);
  });
});

describe('without a token', () => {
  test('routes are open, but not under a name that a web page could have brought along', async () => {
    await start();
    const http = request(app.getHttpServer());
    expect((await http.get('/things')).status).toBe(200);
    expect((await http.get('/things').set('Host', 'localhost:3000')).status).toBe(200);
    const foreign = await http.get('/things').set('Host', 'rebound.example:3000');
    expect([foreign.status, foreign.body.detail]).toEqual([403, expect.stringContaining('rebound.example')]);
  });

  test('a page of another site gets nothing, not even under our own name', async () => {
    await start();
    const http = request(app.getHttpServer());
    for (const origin of ['http://localhost:3000', 'http://127.0.0.1:5173', 'http://[::1]:3000']) {
      expect((await http.get('/things').set('Origin', origin)).status).toBe(200);
    }
    for (const origin of ['https://evil.example', 'http://localhost.evil.example', 'null', 'file://']) {
      const foreign = await http.post('/things').set('Host', 'localhost:3000').set('Origin', origin).send({});
      expect([foreign.status, foreign.body.detail]).toEqual([403, expect.stringContaining(`"${origin}"`)]);
    }
  });

  test('a method that a route does not have is 405 with those that it has; no route is 404', async () => {
    await start();
    const http = request(app.getHttpServer());
    const wrong = await http.delete('/things');
    expect([wrong.status, wrong.headers.allow, wrong.body.detail]).toEqual([
      405,
      'GET, HEAD, POST',
      'DELETE is not possible here',
    ]);
    expect((await http.post('/things/broken').send({})).headers.allow).toBe('GET, HEAD');
    const none = await http.delete('/nothing');
    expect([none.status, none.headers.allow]).toEqual([404, undefined]);
  });

  test('figures tell the version, the queue and the process', async () => {
    await start();
    await app.get<RunQueue>(RUN_QUEUE).add('a-run');
    const { text } = await request(app.getHttpServer()).get('/metrics');
    expect(text).toContain(`fabricdrill_info{version="${VERSION}",queue="postgresql"} 1`);
    expect(text).toContain('fabricdrill_runs{state="waiting"} 1');
    expect(text).toMatch(/fabricdrill_process_resident_memory_bytes \d+/);
    await app.get<RunQueue>(RUN_QUEUE).remove('a-run');
  });

  test('an input error is a 400 with pointer and hint, broken JSON and an unknown route are problems too', async () => {
    await start();
    const http = request(app.getHttpServer());
    const wrong = await http.post('/things').send({ kind: 'a' });
    expect([wrong.status, wrong.body.errors]).toEqual([
      400,
      [{ pointer: '/kind', message: 'no such kind {"kind":"a"}', hint: 'did you mean "b"?' }],
    ]);
    const broken = await http.post('/things').set('Content-Type', 'application/json').send('{"kind":');
    expect([broken.status, broken.headers['content-type']]).toEqual([
      400,
      expect.stringMatching(/^application\/problem\+json/),
    ]);
    expect((await http.get('/nothing')).body).toMatchObject({ status: 404, title: 'Not Found' });
  });

  test('our own bug leaks nothing, and the log has it under the id that was told', async () => {
    await start();
    const { status, body, text } = await request(app.getHttpServer()).get('/things/broken?x=1');
    expect(status).toBe(500);
    expect(text).not.toMatch(/hunter2|stack|spec\.ts/);
    const incident = (body.instance as string).replace('urn:uuid:', '');
    const line = log.find((one) => one.includes(incident));
    expect(line).toMatch(/hunter2 in a stack/);
    expect(JSON.parse(line!)).toMatchObject({ level: 'error', context: 'problem' });
  });

  test('what is missing around us is told to who asked, and is no alarm in the log', async () => {
    await start();
    const answer = await request(app.getHttpServer()).get('/things/elsewhere');
    expect(answer.status).toBe(503);
    expect(answer.body.detail).toContain('the lab "b" is not up');
    expect(log.join('')).not.toMatch(/"level":"(warn|error)"/);
  });

  test('a database that is gone makes it not ready, but alive', async () => {
    await start();
    await database.dataSource.destroy();
    const http = request(app.getHttpServer());
    const ready = await http.get('/health/ready');
    expect([ready.status, ready.body.details.database.status, ready.body.details.queue.status]).toEqual([
      503,
      'down',
      'up',
    ]);
    expect((await http.get('/health/live')).status).toBe(200);
  });

  test('closing the application closes queue and database', async () => {
    await start();
    const queue = app.get<RunQueue>(RUN_QUEUE);
    await app.close();
    expect(database.dataSource.isInitialized).toBe(false);
    await expect(queue.worker(async () => undefined, { concurrency: 1 })).rejects.toThrow(/closed/);
  });
});
