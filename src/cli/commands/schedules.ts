/** `schedules list|show|create|delete|suspend|resume|next|ticks`. */
import type { Command } from 'commander';
import { nameSchema } from '../../documents/experiment.js';
import { listChoices, nearestHint } from '../../core/nearest.js';
import { InputError, type InputIssue } from '../../core/problem.js';
import { SKIP_REASONS } from '../../model/calendar/decide.js';
import type { Upcoming } from '../../model/calendar/upcoming.js';
import { EXIT, type ExitCode } from '../../scoring/exit-codes.js';
import type { ApiClient } from '../client/api-client.js';
import type { CommandContext } from '../context.js';
import { confirmMember } from '../client/confirmation.js';
import { ProblemError } from '../terminal/failure.js';
import { parseChoice, parseInstant, parseWhole } from '../terminal/flags.js';
import { examples } from '../terminal/help.js';
import { planSchedule, TICKS_SHOWN, tickTable } from './plan/plan-schedule.js';
import { readScheduleFile, type ScheduledExperiment, type ScheduleFile } from '../files/schedule-file.js';
import { looksLikePath } from '../files/definitions.js';
import { table } from '../terminal/table.js';

type Act = (work: (context: CommandContext) => Promise<ExitCode>) => Promise<void>;

interface ScheduleView {
  id: string;
  name: string;
  experimentRef: string | null;
  gameDayRef: string | null;
  cron: string | null;
  once: string | null;
  timeZone: string;
  suspendedAt: string | null;
  suspendReason: string | null;
  nextAt: string | null;
}

interface TickView {
  nominalAt: string;
  outcome: string;
  reason: string | null;
  detail: string | null;
  runId: string | null;
  gameDayId: string | null;
}

interface CreateOptions {
  confirm?: string;
  replace?: boolean;
}

interface TicksOptions {
  outcome?: string;
  reason?: string;
  since?: string;
  limit: string;
  output: string;
}

/** A page of a list, and what a table holds at most. */
const [PAGE, MOST_ROWS] = [200, 100_000];
const MOST_TICKS = 1000;
const LONGEST_CELL = 200;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const FORMAT = ['--output <format>', 'text or json', 'text'] as const;

export function addSchedulesCommand(schedules: Command, act: Act): void {
  schedules
    .command('list')
    .description('schedules, newest first')
    .option(...FORMAT)
    .action((options: { output: string }) => act((context) => list(options, context)));
  schedules
    .command('show')
    .argument('<schedule>', 'name or id')
    .description('one schedule with its definition and next ticks, as JSON')
    .action((which: string) => act((context) => show(which, context)));
  schedules
    .command('create')
    .argument('<file>', 'schedule file, or file#name')
    .description('store a schedule, and the experiment and fabric that it names by file')
    .option('--replace', 'replace a schedule of this name, and a fabric of the same name')
    .option('--confirm <fabric>', 'name of the fabric, needed when it is a real one')
    .addHelpText('after', examples(['schedules create experiments/schedules/nightly.yaml']))
    .action((file: string, options: CreateOptions) => act((context) => create(file, options, context)));
  schedules
    .command('delete')
    .argument('<schedule>', 'name or id')
    .description('delete a schedule with its ticks; its runs stay')
    .action((which: string) => act((context) => remove(which, context)));
  schedules
    .command('suspend')
    .argument('<schedule>', 'name or id')
    .description('skip every tick until it is resumed')
    .option('--reason <text>', 'why', 'asked for at the command line')
    .action((which: string, options: { reason: string }) =>
      act((context) => turn(which, 'suspend', options, context)),
    );
  schedules
    .command('resume')
    .argument('<schedule>', 'name or id')
    .description('go on with the next tick')
    .action((which: string) => act((context) => turn(which, 'resume', {}, context)));
  addTickCommands(schedules, act);
}

function addTickCommands(schedules: Command, act: Act): void {
  schedules
    .command('next')
    .argument('<schedule>', 'name or id of a stored schedule, or a schedule file')
    .description('the coming ticks, and which of them a blackout takes')
    .option('--count <n>', `how many, at most ${MOST_TICKS}`, String(TICKS_SHOWN))
    .option(...FORMAT)
    .action((which: string, options: { count: string; output: string }) =>
      act((context) => next(which, options, context)),
    );
  schedules
    .command('ticks')
    .argument('<schedule>', 'name or id')
    .description('what became of each tick, newest first: a run, or a skip with its reason')
    .option('--outcome <outcome>', 'only these: run or skip')
    .option('--reason <reason>', `only skips for this reason: ${SKIP_REASONS.join(', ')}`)
    .option('--since <time>', 'only those from this time on, as in 2026-11-30T01:00:00Z')
    .option('--limit <n>', `this many, at most ${MOST_ROWS}`, '20')
    .option(...FORMAT)
    .addHelpText('after', examples(['schedules ticks nightly', 'schedules ticks nightly --reason missed']))
    .action((which: string, options: TicksOptions) => act((context) => ticks(which, options, context)));
}

/** @throws InputError naming the schedules that there are */
async function find(client: ApiClient, which: string): Promise<string> {
  if (UUID.test(which)) return `/v1/schedules/${which}`;
  if (nameSchema.safeParse(which).success) {
    const id = await idOf(client, which);
    if (id !== undefined) return `/v1/schedules/${id}`;
  }
  const names: string[] = [];
  for await (const { name } of client.pages<ScheduleView>(`/v1/schedules?limit=${PAGE}`)) names.push(name);
  const stored = names.length === 0 ? 'none is stored' : `stored are ${listChoices(names)}`;
  throw InputError.at('<schedule>', `there is no schedule "${which}"; ${stored}`, nearestHint(which, names));
}

async function idOf(client: ApiClient, name: string): Promise<string | undefined> {
  const { data } = await client.json<{ data: ScheduleView[] }>('GET', `/v1/schedules?name=${name}`);
  return data[0]?.id;
}

function list(options: { output: string }, context: CommandContext): Promise<ExitCode> {
  const format = parseChoice('--output', options.output, ['text', 'json']);
  return context.withServer(async (client) => {
    const rows: ScheduleView[] = [];
    for await (const row of client.pages<ScheduleView>(`/v1/schedules?limit=${PAGE}`)) rows.push(row);
    if (format === 'json') context.out(`${JSON.stringify(rows, null, 2)}\n`);
    else if (rows.length > 0) {
      const cells = rows.map((row) => [
        row.name,
        row.experimentRef ?? `game day ${row.gameDayRef}`,
        row.cron ?? row.once ?? '',
        row.timeZone,
        nextOf(row),
      ]);
      context.out(table(['name', 'what', 'when', 'zone', 'next (UTC)'], cells));
    }
    const hint = rows.length === 0 ? 'schedules create FILE' : `schedules ticks ${rows[0].name}`;
    context.note(`${rows.length === 0 ? 'no schedules yet; try' : 'next'}: ${context.command(hint)}`);
    return EXIT.passed;
  });
}

const nextOf = ({ suspendedAt, suspendReason, nextAt }: ScheduleView): string =>
  suspendedAt !== null
    ? `suspended: ${oneLine(suspendReason ?? '')}`
    : (nextAt?.replace('.000Z', 'Z') ?? 'over');

/** A table's cell is one line, and a short one. */
const oneLine = (text: string): string => {
  const line = text.replace(/\s+/g, ' ');
  return line.length > LONGEST_CELL ? `${line.slice(0, LONGEST_CELL - 1)}…` : line;
};

const show = (which: string, context: CommandContext): Promise<ExitCode> =>
  context.withServer(async (client) => {
    const schedule = await client.json('GET', await find(client, which));
    context.out(`${JSON.stringify(schedule, null, 2)}\n`);
    return EXIT.passed;
  });

const remove = (which: string, context: CommandContext): Promise<ExitCode> =>
  context.withServer(async (client) => {
    await client.request('DELETE', await find(client, which));
    context.out(`schedule ${which}: deleted\n`);
    return EXIT.passed;
  });

const turn = (
  which: string,
  action: 'suspend' | 'resume',
  body: object,
  context: CommandContext,
): Promise<ExitCode> =>
  context.withServer(async (client) => {
    const schedule = await client.json<ScheduleView>('POST', `${await find(client, which)}/${action}`, body);
    context.out(`schedule ${schedule.name}: ${action === 'suspend' ? 'suspended' : 'resumed'}\n`);
    if (action === 'resume') context.note(`next tick: ${nextOf(schedule)}`);
    return EXIT.passed;
  });

async function next(
  which: string,
  options: { count: string; output: string },
  context: CommandContext,
): Promise<ExitCode> {
  const format = parseChoice('--output', options.output, ['text', 'json']);
  const count = parseWhole('--count', options.count, 1, MOST_TICKS);
  if (looksLikePath(which)) {
    return planSchedule(readScheduleFile(which, context.path).schedule.value, count, format, context);
  }
  return context.withServer(async (client) => {
    const address = `${await find(client, which)}?upcoming=${count}`;
    const { upcoming } = await client.json<{ upcoming: Upcoming[] }>('GET', address);
    context.out(format === 'json' ? `${JSON.stringify(upcoming, null, 2)}\n` : tickTable(upcoming));
    return EXIT.passed;
  });
}

function ticks(which: string, options: TicksOptions, context: CommandContext): Promise<ExitCode> {
  const format = parseChoice('--output', options.output, ['text', 'json']);
  const limit = parseWhole('--limit', options.limit, 1, MOST_ROWS);
  const { outcome, reason, since } = options;
  const filter = new URLSearchParams({
    ...(outcome === undefined ? {} : { outcome: parseChoice('--outcome', outcome, ['run', 'skip']) }),
    ...(reason === undefined ? {} : { reason: parseChoice('--reason', reason, SKIP_REASONS) }),
    ...(since === undefined ? {} : { since: new Date(parseInstant('--since', since)).toISOString() }),
  });
  return context.withServer(async (client) => {
    // one more than is shown, which tells whether there are more
    const page = Math.min(PAGE, limit + 1);
    const rows: TickView[] = [];
    const address = `${await find(client, which)}/ticks?limit=${page}&${filter.toString()}`;
    for await (const row of client.pages<TickView>(address)) {
      rows.push(row);
      if (rows.length > limit) break;
    }
    const shown = rows.slice(0, limit);
    if (format === 'json') context.out(`${JSON.stringify(shown, null, 2)}\n`);
    else if (shown.length > 0) context.out(decidedTable(shown));
    if (rows.length === 0) context.note(filter.size > 0 ? 'no tick is like that' : 'no tick yet');
    if (rows.length > limit) context.note(`there are earlier ones; --limit shows more than ${limit}`);
    return EXIT.passed;
  });
}

const decidedTable = (ticks: readonly TickView[]): string =>
  table(
    ['tick (UTC)', 'outcome', 'run or reason'],
    ticks.map((tick) => [tick.nominalAt.replace('.000Z', 'Z'), tick.reason ?? tick.outcome, whatOf(tick)]),
  );

function whatOf({ runId, gameDayId, detail }: TickView): string {
  const begun = runId ?? (gameDayId === null ? null : `game day ${gameDayId}`);
  return oneLine(begun === null ? (detail ?? '') : `${begun}${detail === null ? '' : ` (${detail})`}`);
}

async function create(file: string, options: CreateOptions, context: CommandContext): Promise<ExitCode> {
  const source = readScheduleFile(file, context.path);
  return context.withServer(async (client) => {
    try {
      const schedule = await store(client, source, options);
      context.out(`schedule ${schedule.name} stored: ${schedule.id}\n`);
      context.note(
        `next tick: ${nextOf(schedule)}; ticks come while a server runs: ${context.command('serve')}`,
      );
      return EXIT.passed;
    } catch (error) {
      throw located(error, source);
    }
  });
}

async function store(client: ApiClient, source: ScheduleFile, options: CreateOptions): Promise<ScheduleView> {
  const { work } = source;
  if ('gameDay' in work) {
    const written = source.schedule.source as { spec: Record<string, unknown> };
    const spec = { ...written.spec, gameDayRef: work.gameDay.value.metadata.name };
    const schedule = { ...written, spec, ...confirmMember(options.confirm) };
    return send(client, source, `${JSON.stringify(schedule)}\n---\n${work.textWith()}`, options);
  }
  const fabric = await storeFabric(client, work, options);
  const experimentRef = await storeExperiment(client, work);
  const written = source.schedule.source as { spec: Record<string, unknown> };
  const spec = { ...written.spec, experimentRef, ...(fabric === undefined ? {} : { fabric }) };
  return send(client, source, { ...written, spec, ...confirmMember(options.confirm) }, options);
}

/** @param document a text is YAML of several documents */
async function send(
  client: ApiClient,
  source: ScheduleFile,
  document: unknown,
  options: CreateOptions,
): Promise<ScheduleView> {
  if (options.replace === true) {
    const id = await idOf(client, source.schedule.value.metadata.name);
    if (id !== undefined) return client.json<ScheduleView>('PUT', `/v1/schedules/${id}`, document);
  }
  return client.json<ScheduleView>('POST', '/v1/schedules', document);
}

/** @returns the stored fabric's name; undefined for the own one of a stored experiment */
async function storeFabric(
  client: ApiClient,
  { fabric }: ScheduledExperiment,
  { replace }: CreateOptions,
): Promise<string | undefined> {
  if (fabric === undefined || 'stored' in fabric) return fabric?.stored;
  const { name } = fabric.document.value.metadata;
  try {
    await client.json('POST', '/v1/fabrics', fabric.document.source);
  } catch (error) {
    if (!(error instanceof ProblemError && error.status === 409 && replace === true)) throw error;
    await client.json('PUT', `/v1/fabrics/${name}`, fabric.document.source);
  }
  return name;
}

/** By name where that gives this content: a name is read better, an id always holds. */
async function storeExperiment(client: ApiClient, { experiment }: ScheduledExperiment): Promise<string> {
  if ('stored' in experiment) return experiment.stored;
  const { id } = await client.json<{ id: string }>('POST', '/v1/experiments', experiment.experiment.source);
  return (await newestOf(client, experiment.experiment.value.metadata.name)) === id
    ? experiment.experiment.value.metadata.name
    : id;
}

async function newestOf(client: ApiClient, name: string): Promise<string | undefined> {
  const query = new URLSearchParams({ name, limit: '1' });
  const { data } = await client.json<{ data: { id: string }[] }>(
    'GET',
    `/v1/experiments?${query.toString()}`,
  );
  return data[0]?.id;
}

/** What the server finds in the schedule is told at the lines it has here. */
function located(error: unknown, { schedule }: ScheduleFile): unknown {
  if (!(error instanceof ProblemError) || error.problem.errors === undefined) return error;
  return new InputError(
    schedule.locate(
      error.problem.errors.map(({ file: _, line: __, column: ___, ...issue }): InputIssue => issue),
    ),
  );
}
