/**
 * The picture of a day: a lane for each experiment under the name of its stage, with the time in which its fault was in
 * place, when telemetry first showed it, and when people said what it was; notes as numbered lines over all lanes.
 *
 * Long waits are cut and say how long they were. Colours differ in lightness too, and everything has a tooltip.
 */
import { xmlAttribute, xmlText } from '../common/escape.js';
import { placeOn, timeAxis, type Span, type Stretch } from './time-axis.js';

export interface TimelineLane {
  label: string;
  run: Span;
  /** Null where nothing was injected. */
  fault: Span | null;
  detectedMs: number | null;
  committedMs: number | null;
}

export interface TimelinePicture {
  whole: Span;
  stages: readonly { name: string; lanes: readonly TimelineLane[] }[];
  /** In the order of their numbers, from 1. */
  notes: readonly { atMs: number; text: string }[];
}

const WIDTH = 960;
const LABELS = 230;
const RIGHT = 20;
/** Width of a time of day. */
const CLOCK = 54;
const LANE = 24;
const TOP = 34;
const BOTTOM = 58;
const MOST_LABEL_CHARACTERS = 32;
const COLOUR = {
  run: '#c3d0df',
  fault: '#b3261e',
  detected: '#0b57d0',
  committed: '#146c2e',
  line: '#d9dee6',
  text: '#1c2430',
  note: '#8a5a00',
};

export function timelineSvg({ whole, stages, notes }: TimelinePicture): string {
  const lanes = stages.flatMap((stage) => stage.lanes);
  const busy = [
    ...lanes.map(({ run }) => run),
    // people are to be seen too: a little around each thing they did
    ...[...notes.map(({ atMs }) => atMs), ...lanes.flatMap(({ committedMs }) => committedMs ?? [])].map(
      (atMs) => around(atMs, lanes),
    ),
  ];
  const axis = timeAxis(whole, busy);
  const x = (ms: number): number => round(LABELS + placeOn(axis, ms) * (WIDTH - LABELS - RIGHT));
  const rows = stages.flatMap(({ name, lanes: own }) => [{ name }, ...own.map((lane) => ({ lane }))]);
  const bottom = TOP + rows.length * LANE;
  const parts = [
    ...ticks(axis, x, bottom),
    ...rows.flatMap((row, at) => {
      const y = TOP + at * LANE;
      return 'lane' in row ? laneParts(row.lane, y, x) : stageParts(row.name, y);
    }),
    ...notes.map(({ atMs, text }, at) => noteParts(at + 1, text, x(atMs), bottom)),
    ...legend(bottom + 40),
  ];
  const height = bottom + BOTTOM;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="timeline of the day" font-family="system-ui, sans-serif" font-size="12" fill="${COLOUR.text}">`,
    ...parts,
    '</svg>',
  ].join('\n');
}

/** A tenth of the longest run to each side. */
function around(atMs: number, lanes: readonly TimelineLane[]): Span {
  const longest = Math.max(1000, ...lanes.map(({ run }) => run.toMs - run.fromMs));
  return { fromMs: atMs - longest / 10, toMs: atMs + longest / 10 };
}

const round = (value: number): number => Math.round(value * 10) / 10;

const shortened = (text: string): string =>
  text.length > MOST_LABEL_CHARACTERS ? `${text.slice(0, MOST_LABEL_CHARACTERS - 1)}…` : text;

const stageParts = (name: string, y: number): string[] => [
  line(0, WIDTH, y + 2, y + 2),
  `<text x="0" y="${y + 17}" font-weight="600">${xmlText(shortened(name))}</text>`,
];

function laneParts(
  { label, run, fault, detectedMs, committedMs }: TimelineLane,
  y: number,
  x: Place,
): string[] {
  return [
    `<text x="12" y="${y + 16}">${title(label)}${xmlText(shortened(label))}</text>`,
    bar(run, y + 8, 8, COLOUR.run, `${label}: run from ${clock(run.fromMs)} to ${clock(run.toMs)}`, x),
    ...(fault === null
      ? []
      : [
          bar(
            fault,
            y + 5,
            14,
            COLOUR.fault,
            `fault in place from ${clock(fault.fromMs)} to ${clock(fault.toMs)}`,
            x,
          ),
        ]),
    ...(detectedMs === null ? [] : [detected(x(detectedMs), y + 12, clock(detectedMs))]),
    ...(committedMs === null ? [] : [committed(x(committedMs), y + 12, clock(committedMs))]),
  ];
}

type Place = (ms: number) => number;

function bar(
  { fromMs, toMs }: Span,
  y: number,
  height: number,
  colour: string,
  says: string,
  x: Place,
): string {
  const width = Math.max(2, round(x(toMs) - x(fromMs)));
  return `<rect x="${x(fromMs)}" y="${y}" width="${width}" height="${height}" rx="1.5" fill="${colour}">${title(says)}</rect>`;
}

const detected = (x: number, y: number, at?: string): string =>
  `<path d="M${round(x - 5)} ${y - 10}h10l-5 9z" fill="${COLOUR.detected}" stroke="#fff">${at === undefined ? '' : title(`telemetry first showed it at ${at}`)}</path>`;

const committed = (x: number, y: number, at?: string): string =>
  `<path d="M${x} ${y - 7}l7 7-7 7-7-7z" fill="${COLOUR.committed}" stroke="#fff">${at === undefined ? '' : title(`the team committed its diagnosis at ${at}`)}</path>`;

const noteParts = (number: number, text: string, x: number, bottom: number): string =>
  `<g fill="${COLOUR.note}">${title(text)}<line x1="${x}" x2="${x}" y1="${TOP - 6}" y2="${bottom}" stroke="${COLOUR.note}" stroke-dasharray="2 3"/><text x="${x}" y="${TOP - 10}" text-anchor="middle">${number}</text></g>`;

/** Times below the lanes, where there is room for them; waits that were cut say how long they were. */
function ticks(axis: readonly Stretch[], x: Place, bottom: number): string[] {
  const parts = [line(LABELS, WIDTH - RIGHT, bottom, bottom)];
  let freeFrom = -Infinity;
  const edges = axis.flatMap(({ fromMs, toMs }, at) => (at === 0 ? [fromMs, toMs] : [toMs]));
  for (const ms of edges) {
    const at = x(ms);
    parts.push(line(at, at, bottom, bottom + 4));
    if (at < freeFrom) continue;
    freeFrom = at + CLOCK + 4;
    // half a time of day beside the last place would be cut off
    const middle = Math.min(at, WIDTH - CLOCK / 2);
    parts.push(
      `<text x="${middle}" y="${bottom + 17}" text-anchor="middle" font-size="11">${clock(ms)}</text>`,
    );
  }
  for (const { fromMs, toMs, cut } of axis) {
    if (!cut) continue;
    const [from, to] = [x(fromMs), x(toMs)];
    parts.push(
      `<rect x="${from}" y="${TOP}" width="${round(to - from)}" height="${bottom - TOP}" fill="#f3f4f6">${title(`nothing ran for ${duration(toMs - fromMs)}`)}</rect>`,
      `<text x="${round((from + to) / 2)}" y="${TOP + 16}" text-anchor="middle" font-size="11">${duration(toMs - fromMs)}</text>`,
    );
  }
  return parts;
}

function legend(y: number): string[] {
  const entry = (x: number, mark: string, says: string): string =>
    `${mark}<text x="${x + 18}" y="${y + 5}">${says}</text>`;
  return [
    entry(0, `<rect x="0" y="${y - 4}" width="12" height="8" fill="${COLOUR.run}"/>`, 'run'),
    entry(70, `<rect x="70" y="${y - 6}" width="12" height="12" fill="${COLOUR.fault}"/>`, 'fault in place'),
    entry(200, detected(206, y + 4), 'first seen in telemetry'),
    entry(380, committed(386, y), 'the team’s diagnosis'),
    entry(
      550,
      `<line x1="556" x2="556" y1="${y - 8}" y2="${y + 8}" stroke="${COLOUR.note}" stroke-dasharray="2 3"/>`,
      'note',
    ),
  ];
}

const line = (x1: number, x2: number, y1: number, y2: number): string =>
  `<line x1="${x1}" x2="${x2}" y1="${y1}" y2="${y2}" stroke="${COLOUR.line}"/>`;

const title = (text: string): string => `<title>${xmlAttribute(text)}</title>`;

/** Time of day, UTC. */
const clock = (ms: number): string => new Date(ms).toISOString().slice(11, 19);

export function duration(ms: number): string {
  const s = Math.round(ms / 1000);
  if (s < 60) return `${s} s`;
  if (s < 600) return s % 60 === 0 ? `${s / 60} min` : `${Math.floor(s / 60)} min ${s % 60} s`;
  const minutes = Math.round(s / 60);
  if (minutes < 60) return `${minutes} min`;
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
