/**
 * The server's hints name its routes; at the command line the command that asks for the same is of more use.
 *
 * A route without a command (experiments, gates) stays as it is. Routes are found within a sentence too.
 */
/** Turns the arguments of a command into what this user would type. */
export type CommandForm = (args: string) => string;

const LISTED = 'runs|fabrics|game-days|schedules';
const ID = '([\\w-]+|\\{id\\})';

/** What a hint says, and what it says instead; `run` is the one that the message is about. */
const AS_COMMANDS: [RegExp, (command: CommandForm, found: readonly string[], run: string) => string][] = [
  [
    new RegExp(`^GET /v1/(${LISTED}) lists them$`),
    (command, [room]) => `to see what is there: ${command(`${room} list`)}`,
  ],
  [
    new RegExp(`^follow /v1/runs/${ID}/events$`),
    (command, [id]) => `to wait for it: ${command(`runs watch ${id}`)}`,
  ],
  [
    new RegExp(`follow /v1/runs/${ID}/events`),
    (command, [id]) => `follow it: ${command(`runs watch ${id}`)}`,
  ],
  [/GET \/v1\/game-days$/, (command) => command('game-days list')],
  [
    new RegExp(`GET /v1/game-days/${ID} shows them`),
    (command, [id]) => `${command(`game-days show ${id}`)} shows them`,
  ],
  [
    new RegExp(`POST /v1/game-days/${ID}/commit`),
    (command, [id], run) => command(`game-days commit ${id} --run ${run} --verdict FILE`),
  ],
  [new RegExp(`GET /v1/runs/${ID}/evidence`), (command, [id]) => command(`runs evidence ${id}`)],
];

/** @param message what the hint belongs to */
export function hintAsCommand(hint: string, message: string, command: CommandForm): string {
  const run = /\brun ([0-9a-f-]{36})\b/.exec(message)?.[1] ?? 'RUN';
  for (const [route, said] of AS_COMMANDS) {
    const found = route.exec(hint);
    if (found !== null) return hint.replace(found[0], () => said(command, found.slice(1), run));
  }
  return hint;
}
