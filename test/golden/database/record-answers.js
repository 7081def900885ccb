/**
 * Records what a built checkout of commit 5e5372a answers about the recorded database, with nothing at work on it.
 *
 *   node test/golden/database/record-answers.js CHECKOUT
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { format } from 'prettier';
import { answersOf } from './answers.js';

const checkout = resolve(process.argv[2] ?? '.');
const recorded = join(import.meta.dirname, '../recorded/database');
const dist = join(checkout, 'dist/src');
const { joinEmbeddedServer } = await import(join(dist, 'platform/database/embedded/embedded-server.js'));
const { startApp } = await import(join(dist, 'app.module.js'));
const { loadConfig } = await import(join(dist, 'platform/config/config.js'));

const home = mkdtempSync(join(tmpdir(), 'fd-golden-'));
const server = await joinEmbeddedServer(home);
try {
  const database = new pg.Client({ connectionString: server.url });
  await database.connect();
  await database.query(readFileSync(join(recorded, 'dump.sql'), 'utf8'));
  await database.end();
  const environment = {
    FABRICDRILL_HOME: home,
    DATABASE_URL: server.url,
    FABRICDRILL_PORT: '0',
    LOG_LEVEL: 'error',
  };
  const app = await startApp(loadConfig(environment), { api: true, worker: false, schedules: false });
  const answers = await answersOf(async (path) => {
    const response = await fetch(`${app.url}${path}`);
    const type = response.headers.get('content-type') ?? '';
    return { status: response.status, type, text: await response.text() };
  });
  const text = JSON.stringify(answers).replaceAll(app.url, 'URL');
  writeFileSync(join(recorded, 'answers.json'), await format(text, { parser: 'json', printWidth: 110 }));
  await app.close();
} finally {
  await server.leave();
  rmSync(home, { recursive: true, force: true });
}
