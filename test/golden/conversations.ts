/** What is asked of the server, chapter by chapter: every GET, and the POSTs that people use. */
import { experimentDocument, fabricDocument, yamlOf, type Json } from '../support/definitions.js';
import type { Step } from './conversation.js';

const PREPARED: Step[] = [
  { ask: 'POST /v1/fabrics', body: fabricDocument('small') },
  { ask: 'POST /v1/experiments', body: experimentDocument('cut', 'small'), keep: 'experiment' },
];
const unknown = '00000000-0000-4000-8000-000000000000';
const ended = (body: Json): boolean => body.endedAt !== null && body.endedAt !== undefined;

const NS3 =
  '6 4 6\n0 1 2 3\n4 0 100Gbps 1us 0\n5 1 100Gbps 1us 0\n0 2 100Gbps 1us 0\n0 3 100Gbps 1us 0\n1 2 100Gbps 1us 0\n1 3 100Gbps 1us 0';

const DEFINITIONS: Step[] = [
  { ask: 'GET /health/live' },
  { ask: 'GET /v1/fabrics' },
  { ask: 'GET /v1/faults/link-down' },
  { ask: 'GET /v1/faults/link-dwon' },
  ...PREPARED,
  { ask: 'POST /v1/fabrics', body: yamlOf(fabricDocument('small')) },
  { ask: 'POST /v1/fabrics', body: fabricDocument('small', { settings: { hashSeed: 3 } }) },
  { ask: 'PUT /v1/fabrics/small', body: fabricDocument('small') },
  { ask: 'PUT /v1/fabrics/other', body: fabricDocument('small') },
  { ask: 'GET /v1/fabrics/small' },
  { ask: 'GET /v1/fabrics/smal' },
  { ask: 'GET /v1/fabrics/small/topology' },
  { ask: 'POST /v1/fabrics/import', body: { name: 'tiny', format: 'ns3', text: NS3 } },
  { ask: 'POST /v1/fabrics/import', body: { name: 'tiny', format: 'ns4', text: NS3 } },
  { ask: 'DELETE /v1/fabrics/tiny' },
  { ask: 'DELETE /v1/fabrics/tiny' },
  { ask: 'POST /v1/fabrics', body: 'kind: Fabric\nspec: { topology: { builder: leaf-spin } }\n' },
  { ask: 'GET /v1/experiments?name=cut' },
  { ask: 'GET /v1/experiments?nme=cut' },
  { ask: 'GET /v1/experiments/{experiment}' },
  { ask: `GET /v1/experiments/${unknown}` },
  {
    ask: 'POST /v1/experiments',
    body: 'apiVersion: fabricdrill/v1\nkind: Experiment\nspec: { fabrik: y }\n',
  },
  { ask: 'POST /v1/experiments', body: '{ not: [closed' },
  { ask: 'POST /v1/experiments', body: '', headers: { 'content-type': 'text/csv' } },
  { ask: 'POST /v1/experiments/{experiment}/plan', body: { seed: 7 } },
  { ask: 'POST /v1/experiments/{experiment}/plan', body: { fabric: 'smal' } },
  { ask: 'PUT /v1/experiments/{experiment}', body: experimentDocument('cut', 'small', { seed: 12 }) },
  { ask: 'DELETE /v1/experiments/{experiment}' },
  { ask: 'GET /v1/nothing' },
  { ask: 'PATCH /v1/fabrics' },
];

const culprit = { kind: 'link-down', element: { type: 'device', id: 'device:leaf-1' }, probability: 0.6 };
const alert = { status: 'firing', labels: { alertname: 'PortDown' }, startsAt: '2026-01-01T00:00:00Z' };
const KEY = { 'idempotency-key': 'once' };

const RUNS: Step[] = [
  ...PREPARED,
  { ask: 'POST /v1/experiments/{experiment}/runs', body: { fabric: 'smal' } },
  { ask: 'POST /v1/experiments/{experiment}/runs', body: { sed: 1 } },
  { ask: 'POST /v1/experiments/{experiment}/runs', body: {}, headers: KEY, keep: 'run' },
  { ask: 'GET /v1/runs/{run}', until: ended },
  { ask: 'POST /v1/experiments/{experiment}/runs', body: {}, headers: KEY },
  { ask: 'POST /v1/experiments/{experiment}/runs', body: { seed: 1 }, headers: KEY },
  { ask: 'GET /v1/runs/{run}/scorecard' },
  { ask: 'GET /v1/runs/{run}/verdict' },
  ...['text', 'json', 'junit', 'markdown', 'pdf'].map((format) => ({
    ask: `GET /v1/runs/{run}/report?format=${format}`,
  })),
  { ask: 'GET /v1/runs/{run}/evidence' },
  { ask: 'GET /v1/runs/{run}/evidence/live' },
  { ask: 'POST /v1/runs/{run}/abort', body: { reason: 'seen enough' } },
  { ask: 'POST /v1/runs/{run}/clear', body: { reason: 'nothing there' } },
  {
    ask: 'POST /v1/runs/{run}/diagnoses?author=netops',
    body: { faultFound: true, culprits: [culprit] },
    keep: 'diagnosis',
  },
  { ask: 'POST /v1/runs/{run}/diagnoses', body: { faultFound: true, culprits: [{ ...culprit, kind: 'x' }] } },
  { ask: 'GET /v1/runs/{run}/diagnoses' },
  { ask: 'GET /v1/runs/{run}/diagnoses/{diagnosis}' },
  { ask: 'GET /v1/runs/{run}/report?format=markdown' },
  { ask: 'POST /v1/diagnoses/alertmanager', body: { version: '4', receiver: 'drills', alerts: [alert] } },
  { ask: 'GET /v1/diagnoses?matched=false' },
  { ask: 'POST /v1/diagnose', body: { run: '{run}', to: '5s' } },
  { ask: 'POST /v1/diagnose', body: { fabric: 'small', to: '6s' } },
  { ask: 'POST /v1/diagnose', body: {} },
  { ask: 'GET /v1/runs?fabric=small&state=passed&limit=5' },
  { ask: 'GET /v1/runs?state=pased' },
  { ask: `GET /v1/runs/${unknown}` },
  { ask: `POST /v1/experiments/${unknown}/runs`, body: {} },
  // a page of one
  { ask: 'POST /v1/experiments/{experiment}/runs', body: { seed: 5 }, keep: 'second' },
  { ask: 'GET /v1/runs/{second}', until: ended },
  { ask: 'GET /v1/runs?limit=1' },
];

const schedule = (spec: Json): Json => ({
  apiVersion: 'fabricdrill/v1',
  kind: 'Schedule',
  metadata: { name: 'rare' },
  spec: { experimentRef: 'cut', cron: '0 4 29 2 *', timeZone: 'Asia/Tokyo', ...spec },
});

const SCHEDULES: Step[] = [
  ...PREPARED,
  { ask: 'POST /v1/schedules', body: schedule({}), keep: 'schedule' },
  { ask: 'POST /v1/schedules', body: schedule({}) },
  { ask: 'POST /v1/schedules', body: schedule({ seed: 4 }) },
  { ask: 'POST /v1/schedules', body: schedule({ cron: '0 4 30 2 *' }) },
  { ask: 'POST /v1/schedules', body: schedule({ experimentRef: 'kut', timeZone: 'Asia/Tokio' }) },
  { ask: 'GET /v1/schedules' },
  { ask: 'GET /v1/schedules/{schedule}?upcoming=2' },
  { ask: 'POST /v1/schedules/{schedule}/suspend', body: { reason: 'upgrade of the spines' } },
  { ask: 'GET /v1/schedules?suspended=true' },
  { ask: 'POST /v1/schedules/{schedule}/resume' },
  { ask: 'PUT /v1/schedules/{schedule}', body: schedule({ seed: 4, suspend: true }) },
  { ask: 'POST /v1/schedules/{schedule}/resume' },
  { ask: 'GET /v1/schedules/{schedule}/ticks?limit=5' },
  { ask: 'GET /v1/schedules/{schedule}/ticks?outcome=walk' },
  { ask: 'DELETE /v1/schedules/{schedule}' },
  { ask: 'GET /v1/schedules/{schedule}' },
];

const hypothesis = { statement: 'traffic moves on', expect: ['recovery.recovered == 1'] };
const stage = (name: string, experiment: string, more: Json = {}): Json => ({
  name,
  experiments: [{ experiment, hypothesis }],
  ...more,
});
const day = (name: string, stages: Json[], spec: Json = {}): Json => ({
  apiVersion: 'fabricdrill/v1',
  kind: 'GameDay',
  metadata: { name },
  spec: { ...spec, stages },
});
const open = day('autumn', [stage('first', 'cut', { pause: 'Ready?' })]);
const blind = [
  day('dark', [stage('first', 'secret')], { blind: true }),
  experimentDocument('secret', 'small'),
]
  .map(yamlOf)
  .join('---\n');
const waits = (body: Json): boolean => body.state === 'waiting';

const GAME_DAYS: Step[] = [
  ...PREPARED,
  { ask: 'POST /v1/game-days/plan', body: open },
  { ask: 'POST /v1/game-days', body: day('wrong', [stage('first', 'kut')]) },
  { ask: 'POST /v1/game-days', body: open, headers: KEY, keep: 'day' },
  { ask: 'POST /v1/game-days', body: open, headers: KEY },
  { ask: 'GET /v1/game-days/{day}', until: waits },
  { ask: 'POST /v1/game-days/{day}/notes', body: { text: 'who is there?', author: 'ada' } },
  { ask: 'GET /v1/game-days/{day}/report' },
  { ask: 'POST /v1/game-days/{day}/continue', body: { stage: 'second', by: 'ada' } },
  { ask: 'POST /v1/game-days/{day}/continue', body: { stage: 'first', by: 'ada' } },
  { ask: 'GET /v1/game-days/{day}', until: ended },
  { ask: 'GET /v1/game-days/{day}/notes' },
  ...['json', 'markdown', 'html', 'pdf'].map((format) => ({
    ask: `GET /v1/game-days/{day}/report?format=${format}`,
  })),
  { ask: 'GET /v1/runs?gameDay={day}' },
  { ask: 'POST /v1/game-days/{day}/abort' },
  { ask: 'GET /v1/game-days?name=autumn' },
];

/** A day of which nobody may know what it does: seeds are drawn, so only what it says of itself can be written down. */
const BLIND: Step[] = [
  ...PREPARED,
  { ask: 'POST /v1/game-days/plan', body: blind },
  { ask: 'POST /v1/game-days', body: blind, keep: 'day' },
  { ask: 'GET /v1/game-days/{day}', until: waits },
  { ask: 'GET /v1/runs?gameDay={day}' },
  { ask: 'GET /v1/runs?experiment=secret' },
  { ask: 'GET /v1/game-days/{day}/report' },
  { ask: 'POST /v1/game-days/{day}/abort' },
  { ask: 'GET /v1/game-days/{day}' },
];

const suite = (spec: Json): Json => ({
  apiVersion: 'fabricdrill/v1',
  kind: 'Suite',
  metadata: { name: 'check' },
  spec: {
    experiments: ['cut'],
    seeds: 5,
    objectives: [{ metric: 'training.step_time_s', margin: '5%' }],
    ...spec,
  },
});
const sides = { baseline: 'small', candidate: 'small' };

const GATES: Step[] = [
  ...PREPARED,
  { ask: 'POST /v1/gates', body: { suite: suite({ objectives: [] }), ...sides } },
  { ask: 'POST /v1/gates', body: { suite: suite({ seeds: 2 }), ...sides } },
  { ask: 'POST /v1/gates', body: { suite: suite({}), ...sides, candidate: 'smal' } },
  { ask: 'POST /v1/gates', body: { suite: suite({}), ...sides }, keep: 'gate' },
  { ask: 'GET /v1/gates/{gate}', until: ({ final }) => final === true },
  ...['text', 'json', 'junit', 'markdown', 'sarif', 'github', 'pdf'].map((format) => ({
    ask: `GET /v1/gates/{gate}?format=${format}`,
  })),
  { ask: 'GET /v1/gates/{gate}', headers: { accept: 'text/markdown' } },
  { ask: 'GET /v1/gates/{gate}/definition' },
  { ask: 'POST /v1/gates/{gate}/abort', body: {} },
  { ask: 'GET /v1/gates?suite=check' },
  { ask: `GET /v1/gates/${unknown}` },
];

export const CONVERSATIONS: Readonly<Record<string, readonly Step[]>> = {
  definitions: DEFINITIONS,
  runs: RUNS,
  schedules: SCHEDULES,
  'game-days': GAME_DAYS,
  'blind-days': BLIND,
  gates: GATES,
};
