/**
 * Draws the arrows between rooms as the imports really are, into the marked block of docs/architecture.md.
 *
 * `npm run docs:rooms` redraws; with `--check` it fails when the page no longer shows the code. Specs are left out, and
 * so is every arrow that a longer way round already implies (everything reaches the kernel), or nobody could read it.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const checkout = dirname(dirname(fileURLToPath(import.meta.url)));
const page = join(checkout, 'docs/architecture.md');
const [opening, closing] = ['<!-- rooms: drawn by npm run docs:rooms -->', '<!-- end of rooms -->'];

/** Folders within a room that have arrows of their own. */
const ROOMS_WITHIN = new Set(['experiments/definition', 'schedules/timing']);

/** Room of a source file, undefined for what is no room (packages, built-ins). */
function roomOf(file) {
  const parts = file.split('/');
  if (parts[0] !== 'src') return undefined;
  if (parts.length === 2) return /^(main|worker|cli)\.ts$/.test(parts[1]) ? 'entry points' : 'app.module';
  const [, room, inner] = parts;
  if (room === 'fabrics') return parts.length === 3 ? 'fabrics/catalog' : `fabrics/${inner}`;
  const within = `${room}/${inner}`;
  return ROOMS_WITHIN.has(within) ? within : room;
}

/** Every import between two rooms: room → rooms it reaches. */
function readArrows() {
  const program = join(checkout, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  const output = execFileSync(
    process.execPath,
    [program, '--config', '.dependency-cruiser.cjs', '--output-type', 'json', 'src'],
    { cwd: checkout, encoding: 'utf8', maxBuffer: 256 * 1024 * 1024 },
  );
  const arrows = new Map();
  for (const { source, dependencies } of JSON.parse(output).modules) {
    const from = /(\.spec\.ts$|\/testing\/)/.test(source) ? undefined : roomOf(source);
    if (from === undefined) continue;
    if (!arrows.has(from)) arrows.set(from, new Set());
    for (const { resolved } of dependencies) {
      const to = roomOf(resolved);
      if (to !== undefined && to !== from) arrows.get(from).add(to);
    }
  }
  return arrows;
}

function leadsTo(arrows, from, to, seen = new Set()) {
  for (const next of arrows.get(from) ?? []) {
    if (next === to) return true;
    if (seen.has(next)) continue;
    seen.add(next);
    if (leadsTo(arrows, next, to, seen)) return true;
  }
  return false;
}

/** Takes away each arrow that the others imply; what can be reached stays the same. */
function withoutImplied(arrows) {
  for (const from of [...arrows.keys()].sort()) {
    for (const to of [...arrows.get(from)].sort()) {
      arrows.get(from).delete(to);
      if (!leadsTo(arrows, from, to)) arrows.get(from).add(to);
    }
  }
  return arrows;
}

function draw(arrows) {
  const box = (room) => `${room.replaceAll(/\W/g, '_')}["${room}"]`;
  const lines = [...arrows.keys()].sort().flatMap((from) => {
    const reached = [...arrows.get(from)].sort();
    return reached.length === 0 ? [] : [`  ${box(from)} --> ${reached.map(box).join(' & ')}`];
  });
  return ['```mermaid', 'flowchart TB', ...lines, '```'].join('\n');
}

const text = readFileSync(page, 'utf8');
const [start, end] = [text.indexOf(opening), text.indexOf(closing)];
if (start < 0 || end < start) throw new Error(`${page} has no block between "${opening}" and "${closing}"`);
const drawn = `${text.slice(0, start + opening.length)}\n${draw(withoutImplied(readArrows()))}\n${text.slice(end)}`;
if (!process.argv.includes('--check')) writeFileSync(page, drawn);
else if (drawn !== text) {
  process.stderr.write('docs/architecture.md does not show the rooms as they are: npm run docs:rooms\n');
  process.exitCode = 1;
}
