/**
 * A database as SQL text that any PostgreSQL takes: the statements of the migrations, then a row a line.
 *
 * `pg_dump` of the version of the embedded server is rarely at hand, and a text of its own is smaller and compares better.
 */

/** What the migrations say to the database, without a database. */
async function statementsOf(migrations) {
  const statements = [];
  const runner = { query: async (text) => void statements.push(text) };
  for (const Migration of migrations) await new Migration().up(runner);
  return statements.map((text) => `${text.trim()};`);
}

/** Which migrations have run is kept in tables of which no migration knows. */
const LEDGERS = [
  `CREATE TABLE migrations (id serial PRIMARY KEY, "timestamp" bigint NOT NULL, name varchar NOT NULL);`,
  `CREATE TABLE migration_versions (migration text PRIMARY KEY, version text NOT NULL, at timestamptz NOT NULL);`,
];

const TABLES = `SELECT relname AS name, oid::int AS oid FROM pg_class
  WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY relname`;
const REFERENCES = `SELECT conrelid::int AS referring, confrelid::int AS referred FROM pg_constraint WHERE contype = 'f'`;
const COLUMNS = `SELECT attname AS name, pg_get_serial_sequence($2, attname) AS sequence FROM pg_attribute
  WHERE attrelid = $1 AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum`;
const KEY = `SELECT attname AS name FROM pg_index
  JOIN pg_attribute ON attrelid = indrelid AND attnum = ANY (indkey) WHERE indrelid = $1 AND indisprimary ORDER BY attnum`;

/** Those that are referred to come first. */
function inOrder(tables, references) {
  const left = new Map(tables.map((table) => [table.oid, table]));
  const ordered = [];
  while (left.size > 0) {
    const free = [...left.values()].find(({ oid }) =>
      references.every(
        ({ referring, referred }) => referring !== oid || referred === oid || !left.has(referred),
      ),
    );
    if (free === undefined) throw new Error('tables refer to one another in a circle');
    ordered.push(free);
    left.delete(free.oid);
  }
  return ordered;
}

/** @param client of pg; @param migrations of the build that made the database; @param without tables whose rows stay out */
export async function dumpDatabase(client, migrations, without = []) {
  const rows = async (text, values) => (await client.query(text, values)).rows;
  const lines = [...(await statementsOf(migrations)), ...LEDGERS];
  for (const { name, oid } of inOrder(await rows(TABLES), await rows(REFERENCES))) {
    if (without.includes(name)) continue;
    const known = await rows(COLUMNS, [oid, name]);
    const columns = known.map((column) => `"${column.name}"`);
    const key = (await rows(KEY, [oid])).map((column) => `"${column.name}"`);
    const values = columns.map((column) => `quote_nullable(${column}::text)`).join(` || ', ' || `);
    for (const { text } of await rows(`SELECT ${values} AS text FROM "${name}" ORDER BY ${key.join(', ')}`)) {
      lines.push(`INSERT INTO "${name}" (${columns.join(', ')}) OVERRIDING SYSTEM VALUE VALUES (${text});`);
    }
    for (const column of known.filter(({ sequence }) => sequence !== null)) {
      lines.push(`SELECT setval('${column.sequence}', (SELECT max("${column.name}") FROM "${name}"));`);
    }
  }
  return `${lines.join('\n')}\n`;
}
