/**
 * Makes the database that later versions must be able to open, with the service of a built checkout of commit 5e5372a:
 * runs in every state, an open undo on a paced simulation and one on a simulation that died with its worker, schedules,
 * game days, a gate.
 *
 *   node test/golden/database/record.js CHECKOUT   (as root, with the packages of the labs)
 *
 * It is made by asking the service over REST, and by killing its process twice. Nothing is written into the database by
 * hand. What a drill meets on the way (service.js) is a fabric that answers no more, one on which time stands still, and one
 * that was not healthy when the drill began.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { EXPERIMENTS, FABRICS, GAME_DAYS, GATE, LAB, onceAt, SCHEDULES } from './definitions.js';
import { dumpDatabase } from './dump.js';

const PATIENCE_MS = 180_000;
/** So many levels of the growing errors are in place when the worker of the paced drill dies. */
const LEVELS = 12;

const checkout = resolve(process.argv[2] ?? '.');
const recorded = join(import.meta.dirname, '../recorded/database');
const work = mkdtempSync(join(tmpdir(), 'fd-golden-'));
const { joinEmbeddedServer } = await import(
  join(checkout, 'dist/src/platform/database/embedded/embedded-server.js')
);
const { MIGRATIONS } = await import(join(checkout, 'dist/migrations/index.js'));

let url;
let stop = async () => undefined;
async function send(method, path, body, headers = {}) {
  const isText = typeof body === 'string';
  const type = body === undefined ? {} : { 'content-type': isText ? 'application/yaml' : 'application/json' };
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { ...type, ...headers },
    ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  if (response.status >= 400) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return { body: text === '' ? undefined : JSON.parse(text), location: response.headers.get('location') };
}
const get = async (path) => (await send('GET', path)).body;
/** Several documents in one body, apart by `---`; JSON is YAML. */
const sendAll = (path, documents) =>
  send('POST', path, documents.map((one) => JSON.stringify(one)).join('\n---\n'));

async function until(holds, what) {
  for (const endMs = Date.now() + PATIENCE_MS; Date.now() < endMs; await sleep(100))
    if (await holds()) return;
  throw new Error(`waited in vain for ${what}`);
}
const inState = (path, state) => until(async () => (await get(path)).state === state, `${path} ${state}`);

async function startService(databaseUrl) {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [join(import.meta.dirname, 'service.js'), checkout], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...{ PATH, HOME, TMPDIR: work, DATABASE_URL: databaseUrl, LOG_LEVEL: 'error' },
      ...{ FABRICDRILL_PORT: '0', FABRICDRILL_WORKER_CONCURRENCY: '2' },
    },
  });
  const [line] = await once(child.stdout, 'data');
  url = String(line).trim();
  stop = async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  };
}

/** Starts a run of the experiment. */
async function run(name, options = {}, headers = {}) {
  const { data } = await get(`/v1/experiments?name=${name}`);
  return (await send('POST', `/v1/experiments/${data[0].id}/runs`, options, headers)).location;
}

async function runsThatEnd() {
  const passed = await run('passes', {}, { 'idempotency-key': 'the-first-one' });
  await inState(passed, 'passed');
  await inState(await run('fails'), 'failed');
  await inState(await run('tells-nothing'), 'inconclusive');
  await inState(await run('stays-in-place'), 'rollback-failed');
  const aborted = await run('passes', { pace: '1x' });
  await inState(aborted, 'holding');
  await send('POST', `${aborted}/abort`, { reason: 'seen enough' });
  await inState(aborted, 'aborted');
  const culprit = { kind: 'link-down', element: { type: 'device', id: 'device:leaf-1' }, probability: 0.6 };
  await send('POST', `${passed}/diagnoses?author=netops`, { faultFound: true, culprits: [culprit] });
  const alert = { status: 'firing', labels: { alertname: 'PortDown' }, startsAt: '2026-01-01T00:00:00Z' };
  await send('POST', '/v1/diagnoses/alertmanager', { version: '4', receiver: 'drills', alerts: [alert] });
}

async function gate() {
  const { location } = await send('POST', '/v1/gates', GATE);
  await until(async () => (await get(location)).final, 'the gate');
}

async function gameDays() {
  const ended = (await sendAll('/v1/game-days', GAME_DAYS.ended)).location;
  const waiting = (await sendAll('/v1/game-days', GAME_DAYS.waiting)).location;
  const blind = (await sendAll('/v1/game-days', GAME_DAYS.blind)).location;
  await inState(ended, 'waiting');
  await send('POST', `${ended}/notes`, { text: 'the dashboard was late', author: 'barbara', kind: 'action' });
  await send('POST', `${ended}/continue`, { stage: 'again', by: 'ada' });
  await until(async () => (await get(ended)).endedAt !== null, 'the end of the game day');
  await inState(waiting, 'waiting');
  await inState(blind, 'waiting');
}

/** Builds the lab of a real fabric, or takes it away: schedules and runs on it are planned with a look at it. */
async function lab(...args) {
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, TMPDIR: work, FABRICDRILL_HOME: join(work, 'home') };
  const command = [join(checkout, 'dist/src/cli.js'), 'fabrics', ...args];
  const [code] = await once(spawn(process.execPath, command, { env, stdio: 'inherit' }), 'exit');
  if (code !== 0) throw new Error(`fabrics ${args.join(' ')} ended with ${code}`);
}

async function schedules() {
  const minute = new Date(Date.now() + 75_000).toISOString().slice(0, 16);
  const once = (await sendAll('/v1/schedules', onceAt(minute))).location;
  for (const documents of Object.values(SCHEDULES)) await sendAll('/v1/schedules', documents);
  const ticks = async () => (await get(`${once}/ticks`)).data;
  await until(async () => (await ticks()).length > 0, 'the tick of the schedule');
  await inState(`/v1/runs/${(await ticks())[0].runId}`, 'passed');
}

/** Leaves four runs under way: three that have things in place, one that waits. */
async function runsUnderWay(database) {
  const paced = await run('paced', { pace: '1x' });
  for (const name of ['every-setting', 'polarised']) await inState(await run(name), 'holding');
  await run('passes', { seed: 12 });
  await until(async () => {
    const sql = `SELECT count(*)::int AS count FROM undo_entries WHERE run_id = $1 AND status = 'applied'`;
    return (await database.query(sql, [paced.split('/').at(-1)])).rows[0].count >= 3 + LEVELS;
  }, 'the growing errors');
}

const pacedFolders = () => {
  const base = join(work, `fabricdrill-paced-${process.getuid?.() ?? 0}`);
  return readdirSync(base).map((name) => join(base, name));
};
const recordOf = (folder) => JSON.parse(readFileSync(join(folder, 'record.json'), 'utf8'));

/** Of the simulation that still has something in place. */
function keepRecord() {
  const folder = pacedFolders().find((one) => recordOf(one).state === 'up');
  const kept = join(recorded, 'paced', recordOf(folder).instance);
  rmSync(join(recorded, 'paced'), { recursive: true, force: true });
  mkdirSync(kept, { recursive: true });
  for (const file of ['record.json', 'journal.jsonl', 'fabric.bin'])
    cpSync(join(folder, file), join(kept, file));
  process.kill(Number(recordOf(folder).process.split('-')[0]), 'SIGTERM');
}

const server = await joinEmbeddedServer(join(work, 'home'));
const database = new pg.Client({ connectionString: server.url });
try {
  await database.connect();
  await startService(server.url);
  for (const fabric of [...FABRICS, LAB]) await send('POST', '/v1/fabrics', fabric);
  for (const experiment of EXPERIMENTS) await send('POST', '/v1/experiments', experiment);
  const lost = await run('loses-its-worker');
  await inState(lost, 'holding');
  await stop();
  await startService(server.url);
  await inState(lost, 'error');
  await runsThatEnd();
  await gate();
  await gameDays();
  writeFileSync(join(work, 'lab.yaml'), JSON.stringify(LAB));
  await lab('up', join(work, 'lab.yaml'));
  await schedules();
  const real = await run('real');
  await until(async () => (await get(real)).final, 'the run on the lab');
  await runsUnderWay(database);
  await stop();
  const text = await dumpDatabase(database, MIGRATIONS);
  keepRecord();
  // leases tell who held them
  writeFileSync(join(recorded, 'dump.sql'), text.replaceAll(`'${hostname()}/`, "'a-host/"));
} finally {
  await stop();
  await lab('down', 'lab').catch((error) => process.stderr.write(`${error.message}\n`));
  await database.end();
  await server.leave();
  rmSync(work, { recursive: true, force: true });
}
