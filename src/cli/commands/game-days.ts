/** `game-days list|show|start|watch|note|continue|commit|abort|report|compare|verify`. */
import { Option, type Command } from 'commander';
import { createHash, randomUUID } from 'node:crypto';
import { parseDocuments } from '../../documents/document.js';
import { locatorOf } from '../../documents/load.js';
import type { DayReport } from '../../app/game-days/rules/report.js';
import { GAME_DAY_STATES } from '../../app/game-days/rules/stages.js';
import { InputError, type InputIssue } from '../../core/problem.js';
import { DOCUMENT_FORMATS } from '../../reports/catalog.js';
import { EXIT, worstExit, type ExitCode } from '../../scoring/exit-codes.js';
import { confirmMember } from '../client/confirmation.js';
import type { CommandContext } from '../context.js';
import { ProblemError } from '../terminal/failure.js';
import { collect, parseChoice } from '../terminal/flags.js';
import { readGameDay, type GameDayFile } from '../files/game-day-file.js';
import { follow, followDay, type DayView } from '../client/game-day-follow.js';
import { examples } from '../terminal/help.js';
import { deliverAll, parseOutputs } from '../terminal/outputs.js';
import { table } from '../terminal/table.js';
import { readTextFile } from '../files/text-file.js';

/** Formats of a report, as the server makes them. */
const REPORTS = [...DOCUMENT_FORMATS.map(({ name }) => name), 'json'];

type Act = (work: (context: CommandContext) => Promise<ExitCode>) => Promise<void>;

const address = (id: string, rest = ''): string => `/v1/game-days/${encodeURIComponent(id)}${rest}`;

export function addGameDaysCommand(days: Command, act: Act): void {
  days
    .command('list')
    .description('game days, newest first')
    .option('--name <name>', 'only days of this name')
    .option('--state <state>', `only days in this state: ${GAME_DAY_STATES.join(', ')}`)
    .option('--output <format>', 'text or json', 'text')
    .action((options: ListOptions) => act((context) => list(options, context)));
  days
    .command('show')
    .argument('<id>', 'id of a game day')
    .description('its stages, runs and seals, as JSON')
    .action((id: string) => act((context) => show(id, context)));
  days
    .command('start')
    .argument('<file>', 'game day file, or file#name')
    .description('begin a game day and follow it until it waits for people or has ended')
    .option('--confirm <fabric>', 'name of the fabric, needed when it is a real one')
    .addHelpText('after', examples(['game-days start experiments/gamedays/autumn.yaml']))
    .action((file: string, options: { confirm?: string }) => act((context) => start(file, options, context)));
  days
    .command('watch')
    .argument('<id>', 'id of a game day')
    .description('follow a game day to its end; exits as it does')
    .action((id: string) =>
      act((context) => follow(id, context, (client, { left }) => followDay(client, id, true, context, left))),
    );
  addPeopleCommands(days, act);
  addReportCommands(days, act);
}

function addPeopleCommands(days: Command, act: Act): void {
  days
    .command('note')
    .arguments('<id> <text>')
    .description('write something down, with the time')
    .option('--author <name>', 'who', 'anonymous')
    .option('--action', 'it is something to do afterwards')
    .action((id: string, text: string, options: { author: string; action?: boolean }) =>
      act((context) => note(id, text, options, context)),
    );
  days
    .command('continue')
    .argument('<id>', 'id of a game day')
    .description('go on with a stage that waits for a person, and follow it')
    .option('--stage <name>', 'which, where several wait')
    .option('--by <name>', 'who', 'anonymous')
    .action((id: string, options: { stage?: string; by: string }) =>
      act((context) => step(id, '/continue', options, context)),
    );
  days
    .command('commit')
    .argument('<id>', 'id of a game day')
    .description('the team’s diagnosis of a run; the first one counts, and breaks the seal')
    .requiredOption('--run <id>', 'the run')
    .requiredOption(
      '--verdict <file>',
      'JSON or YAML file with the verdict, as POST /v1/runs/{id}/diagnoses takes it',
    )
    .option('--author <name>', 'the team', 'anonymous')
    .action((id: string, options: { run: string; verdict: string; author: string }) =>
      act((context) => commit(id, options, context)),
    );
  days
    .command('abort')
    .argument('<id>', 'id of a game day')
    .description(
      'revert what is under way and start nothing more; what was begun stays sealed until the team commits',
    )
    .option('--reason <text>', 'why', 'asked for at the command line')
    .action((id: string, options: { reason: string }) => act((context) => abort(id, options, context)));
}

function addReportCommands(days: Command, act: Act): void {
  days
    .command('report')
    .argument('<id>', 'id of a game day that has ended')
    .description('what it showed and what is to be done')
    .addOption(
      new Option(
        '--output <format[=path]>',
        `${REPORTS.join(', ')}; with =path into a file; repeatable; markdown unless another goes to stdout`,
      ).argParser(collect),
    )
    .addHelpText('after', examples(['game-days report ID', 'game-days report ID --output html=day.html']))
    .action((id: string, options: { output?: string[] }) => act((context) => report(id, options, context)));
  days
    .command('compare')
    .arguments('<id> [other]')
    .description('what changed since another day; since the last of the same name when left out')
    .action((id: string, other: string | undefined) => act((context) => compare(id, other, context)));
  days
    .command('verify')
    .argument('<id>', 'id of a blind game day')
    .description('hash what was sealed and compare with what was published at the start')
    .action((id: string) => act((context) => verify(id, context)));
}

interface ListOptions {
  name?: string;
  state?: string;
  output: string;
}

function list(options: ListOptions, context: CommandContext): Promise<ExitCode> {
  const format = parseChoice('--output', options.output, ['text', 'json']);
  const query = new URLSearchParams({
    ...(options.name === undefined ? {} : { name: options.name }),
    ...(options.state === undefined ? {} : { state: parseChoice('--state', options.state, GAME_DAY_STATES) }),
  });
  return context.withServer(async (client) => {
    const rows: DayView[] = [];
    for await (const row of client.pages<DayView>(`/v1/game-days?${query.toString()}`)) rows.push(row);
    if (format === 'json') context.out(`${JSON.stringify(rows, null, 2)}\n`);
    else if (rows.length > 0) {
      const cells = rows.map((day) => [day.id, day.name, day.blind ? 'blind' : '', day.state, day.createdAt]);
      context.out(table(['id', 'name', '', 'state', 'created'], cells));
    } else if (query.size > 0) context.note('no game day is like that');
    else {
      context.note(
        `no game days yet; try: ${context.command('game-days start experiments/gamedays/autumn.yaml')}`,
      );
    }
    return EXIT.passed;
  });
}

const show = (id: string, context: CommandContext): Promise<ExitCode> =>
  context.withServer(async (client) => {
    context.out(`${JSON.stringify(await client.json('GET', address(id)), null, 2)}\n`);
    return EXIT.passed;
  });

async function start(
  file: string,
  options: { confirm?: string },
  context: CommandContext,
): Promise<ExitCode> {
  const source = readGameDay(file, context.path);
  const text = source.textWith(confirmMember(options.confirm));
  return follow(undefined, context, async (client, { isOf, left }) => {
    try {
      const key = { 'idempotency-key': randomUUID() };
      const day = await client.json<DayView>('POST', '/v1/game-days', text, key);
      context.out(`game day ${day.name}: ${day.id}\n`);
      isOf(day.id);
      return await followDay(client, day.id, false, context, left);
    } catch (error) {
      return dayLocated(source)(error);
    }
  });
}

/** What the server finds in the game day is told at the lines it has here. */
export const dayLocated =
  ({ gameDay }: GameDayFile) =>
  (error: unknown): never => {
    if (!(error instanceof ProblemError) || error.problem.errors === undefined) throw error;
    const issues = error.problem.errors.map(
      ({ file: _, line: __, column: ___, ...issue }): InputIssue => issue,
    );
    throw new InputError(gameDay.locate(issues));
  };

const note = (
  id: string,
  text: string,
  options: { author: string; action?: boolean },
  context: CommandContext,
): Promise<ExitCode> =>
  context.withServer(async (client) => {
    const kind = options.action === true ? 'action' : 'note';
    const { at } = await client.json<{ at: string }>('POST', address(id, '/notes'), {
      text,
      author: options.author,
      kind,
    });
    context.out(`${kind} written down at ${at}\n`);
    return EXIT.passed;
  });

const step = (id: string, rest: string, body: object, context: CommandContext): Promise<ExitCode> =>
  follow(id, context, async (client, { left }) => {
    await client.json('POST', address(id, rest), body);
    return followDay(client, id, false, context, left);
  });

function commit(
  id: string,
  options: { run: string; verdict: string; author: string },
  context: CommandContext,
): Promise<ExitCode> {
  const documents = parseDocuments(
    readTextFile(context.path(options.verdict), options.verdict),
    options.verdict,
  );
  if (documents.length > 1) {
    const message = `one verdict is needed; the file has ${documents.length} documents`;
    throw new InputError([{ pointer: '', file: options.verdict, message }]);
  }
  const [verdict] = documents;
  const body = { run: options.run, author: options.author, verdict: verdict.value };
  return step(id, '/commit', body, context).catch(verdictLocated(locatorOf(verdict, options.verdict)));
}

/** What the server finds in the verdict is told at the lines of its file. */
const verdictLocated =
  (locate: (issues: InputIssue[]) => InputIssue[]) =>
  (error: unknown): never => {
    if (!(error instanceof ProblemError) || error.problem.errors === undefined) throw error;
    throw new InputError(
      error.problem.errors.flatMap((issue) =>
        issue.pointer.startsWith('/verdict')
          ? locate([{ ...issue, pointer: issue.pointer.slice('/verdict'.length) }])
          : [issue.pointer === '/run' ? { ...issue, pointer: '--run' } : issue],
      ),
    );
  };

const abort = (id: string, body: { reason: string }, context: CommandContext): Promise<ExitCode> =>
  follow(id, context, async (client, { left }) => {
    await client.json('POST', address(id, '/abort'), body);
    await followDay(client, id, false, context, left);
    return EXIT.passed;
  });

async function report(
  id: string,
  options: { output?: string[] },
  context: CommandContext,
): Promise<ExitCode> {
  const outputs = parseOutputs(
    options.output,
    context.path,
    (name) => parseChoice('--output', name, REPORTS),
    'markdown',
  );
  return context.withServer(async (client) => {
    const texts = new Map<string, string>();
    for (const { format } of outputs) {
      const made = await client.request('GET', address(id, `/report?format=${format}`));
      const text = format === 'json' ? `${JSON.stringify(await made.json(), null, 2)}\n` : await made.text();
      texts.set(format, text);
    }
    deliverAll(outputs, (format) => texts.get(format)!, context);
    return EXIT.passed;
  });
}

const compare = (id: string, other: string | undefined, context: CommandContext): Promise<ExitCode> =>
  context.withServer(async (client) => {
    const query = other === undefined ? '' : `?${new URLSearchParams({ with: other }).toString()}`;
    const { comparison } = await client.json<DayReport>('GET', address(id, `/report${query}`));
    if (comparison === null) {
      context.note('no game day of this name ended before');
      return EXIT.inconclusive;
    }
    context.note(`since ${comparison.with}, which ended at ${comparison.endedAt}`);
    const cells = comparison.differences.map(({ of, figure, before, after }) => [
      of,
      figure,
      String(before ?? 'not known'),
      String(after ?? 'not known'),
    ]);
    if (cells.length > 0) context.out(table(['experiment', 'figure', 'before', 'now'], cells));
    else context.out('nothing differs\n');
    return EXIT.passed;
  });

const verify = (id: string, context: CommandContext): Promise<ExitCode> =>
  context.withServer(async (client) => {
    const day = await client.json<DayView>('GET', address(id));
    const sealed = day.stages.flatMap(({ experiments }) => experiments).filter(({ seal }) => seal !== null);
    if (sealed.length === 0) {
      context.note('this game day is not blind: nothing was sealed');
      return EXIT.inconclusive;
    }
    let exitCode: ExitCode = EXIT.passed;
    for (const { run, seal, sealed: holds } of sealed) {
      if (holds || run === null) {
        context.out(`sealed  ${run ?? 'not begun yet'} ${seal}\n`);
        exitCode = worstExit([exitCode, EXIT.inconclusive]);
        continue;
      }
      const text = await (await client.request('GET', address(id, `/seals/${run}`))).arrayBuffer();
      const same = createHash('sha256').update(Buffer.from(text)).digest('hex') === seal;
      context.out(`${same ? 'ok     ' : 'DIFFERS'} ${run} ${seal}\n`);
      if (!same) exitCode = worstExit([exitCode, EXIT.failed]);
    }
    return exitCode;
  });
