/**
 * What a service answers about everything that is in its database, by address.
 */
const FORMATS = {
  runs: ['text', 'json', 'junit', 'markdown'],
  gates: ['text', 'json', 'junit', 'markdown', 'sarif', 'github'],
  'game-days': ['json', 'markdown', 'html'],
};

/** @param ask address to `{ status, type, text }`; @returns addresses with status and body, of texts only the type */
export async function answersOf(ask) {
  const answers = {};
  const look = async (path) => {
    const { status, type, text } = await ask(path);
    const isJson = type.includes('json');
    answers[path] = isJson ? { status, body: JSON.parse(text) } : { status, type };
    return isJson ? JSON.parse(text) : undefined;
  };
  const each = async (room, key, ...below) => {
    const { data } = await look(`/v1/${room}?limit=100`);
    for (const item of data) for (const more of ['', ...below]) await look(`/v1/${room}/${item[key]}${more}`);
  };
  const reports = (room, path) => FORMATS[room].map((format) => `${path}?format=${format}`);
  await each('fabrics', 'name');
  await each('experiments', 'id');
  await each('runs', 'id', ...RESULTS, ...reports('runs', '/report'));
  await each('schedules', 'id', '/ticks');
  await each('game-days', 'id', '/notes', ...reports('game-days', '/report'));
  await each('gates', 'id', '/definition', ...reports('gates', ''));
  await look('/v1/diagnoses');
  return answers;
}

const RESULTS = ['/scorecard', '/verdict', '/evidence', '/evidence/live', '/diagnoses'];
