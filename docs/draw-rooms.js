/**
 * Writes the table of rooms, and the arrows between them as the imports really are, into docs/architecture.md.
 *
 * `npm run docs:rooms` rewrites both marked blocks; with `--check` it fails when the page no longer shows the code. Specs
 * are left out, and so is every arrow that a longer way round already implies, or nobody could read the picture.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const { ROOMS } = createRequire(import.meta.url)('./rooms.cjs');
const checkout = dirname(dirname(fileURLToPath(import.meta.url)));
const page = join(checkout, 'docs/architecture.md');

/** Room of a source file, undefined for what is no room (packages, built-ins). */
function roomOf(file) {
  if (!file.startsWith('src/')) return undefined;
  const found = ROOMS.find(({ room }) => file.startsWith(`src/${room}/`));
  if (found !== undefined) return found.room;
  return file.startsWith('src/app/') ? 'app' : 'entry points';
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

function tabulate() {
  const rows = ROOMS.map(({ room, holds, pure }) => `| \`${room}\` | ${holds} | ${pure ? 'yes' : 'no'} |`);
  return ['| room | holds | pure |', '|---|---|---|', ...rows].join('\n');
}

/** Puts `content` between `<!-- NAME: … -->` and `<!-- end of NAME -->`. */
function fill(text, name, content) {
  const opening = `<!-- ${name}: written by npm run docs:rooms -->`;
  const [start, end] = [text.indexOf(opening), text.indexOf(`<!-- end of ${name} -->`)];
  if (start < 0 || end < start) throw new Error(`${page} has no block "${name}"`);
  return `${text.slice(0, start + opening.length)}\n${content}\n${text.slice(end)}`;
}

const text = readFileSync(page, 'utf8');
const arrows = draw(withoutImplied(readArrows()));
const written = fill(fill(text, 'table', tabulate()), 'arrows', arrows);
if (!process.argv.includes('--check')) writeFileSync(page, written);
else if (written !== text) {
  process.stderr.write('docs/architecture.md does not show the rooms as they are: npm run docs:rooms\n');
  process.exitCode = 1;
}
