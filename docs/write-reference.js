/**
 * Writes the generated blocks of docs/files.md, docs/metrics.md and docs/faults.md: from the schemas that check files,
 * the metric catalogue and the fault catalogue. What people wrote around the blocks stays as it is.
 *
 * `npm run build && npm run docs:reference` rewrites them from the compiled program; a spec renders them from the
 * sources and fails when a page no longer shows the code.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { argv } from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Pages with generated blocks. */
export const PAGES = ['docs/files.md', 'docs/metrics.md', 'docs/faults.md'];

/**
 * The page with its blocks as they should be.
 * @param sources METRICS, FAULT_KINDS, and the JSON Schemas Experiment, Fabric, Schedule and GameDay
 * @throws Error for a page that lacks a block, or has one that nothing fills
 */
export function renderPage(page, text, sources) {
  const blocks = BLOCKS[page];
  let result = text;
  for (const [name, render] of Object.entries(blocks)) {
    const [opening, closing] = [
      `<!-- ${name}: written by npm run docs:reference -->`,
      `<!-- end of ${name} -->`,
    ];
    const [from, to] = [result.indexOf(opening), result.indexOf(closing)];
    if (from < 0 || to < from) throw new Error(`${page} has no block ${name}`);
    result = `${result.slice(0, from + opening.length)}\n\n${render(sources).trim()}\n\n${result.slice(to)}`;
  }
  const found = [...result.matchAll(/^<!-- (\w+): written by/gm)].map((match) => match[1]);
  const unknown = found.filter((name) => !(name in blocks));
  if (unknown.length > 0) throw new Error(`nothing writes the block ${unknown.join(', ')} of ${page}`);
  return result;
}

const BLOCKS = {
  'docs/files.md': {
    experiment: ({ Experiment }) => fileReference(Experiment, new Set(['spec.jobs', 'spec.faults'])),
    faults: ({ Experiment }) => faultReference(Experiment),
    jobs: ({ Experiment }) => reference(Experiment.properties.spec.properties.jobs.items, 'jobs[]'),
    fabric: ({ Fabric }) => fileReference(Fabric, new Set(['spec.jobs', 'spec.topology'])),
    topology: ({ Fabric }) => topologyReference(Fabric.properties.spec.properties.topology),
    schedule: ({ Schedule }) => fileReference(Schedule, new Set()),
    gameDay: ({ GameDay }) => fileReference(GameDay, new Set()),
  },
  'docs/metrics.md': { metrics: ({ METRICS }) => metricReference(METRICS) },
  'docs/faults.md': {
    kinds: ({ FAULT_KINDS, schemaOf }) =>
      FAULT_KINDS.map((kind) => kindReference(kind, schemaOf)).join('\n\n'),
  },
};

const fileReference = (schema, elsewhere) => table(keyRows(schema, '', elsewhere));

const reference = (schema, name) => table(keyRows(schema, name));

/** What all fault kinds have in common; their parameters are in docs/faults.md. */
function faultReference(experiment) {
  const kinds = experiment.properties.spec.properties.faults.items.oneOf;
  const widest = kinds.find((kind) => kind.properties.target !== undefined);
  const shown = { ...widest, properties: { ...widest.properties } };
  shown.properties.kind = { enum: kinds.map((kind) => kind.properties.kind.const) };
  shown.properties.params = { type: 'object', description: 'as the kind says, see [faults](faults.md)' };
  return reference(shown, 'faults[]');
}

function topologyReference(topology) {
  return topology.oneOf
    .map((shape) => `### \`builder: ${shape.properties.builder.const}\`\n\n${reference(shape, 'topology')}`)
    .join('\n\n');
}

/** A row per key, nested keys below their parent. */
function keyRows(schema, prefix, elsewhere = new Set()) {
  return Object.entries(schema.properties ?? {}).flatMap(([key, property]) => {
    const path = prefix === '' ? key : `${prefix}.${key}`;
    const required = schema.required?.includes(key) ?? false;
    const row = [`\`${path}\``, typeOf(property), defaultOf(property, required), property.description ?? ''];
    if (elsewhere.has(path)) return [row];
    const items = property.items ?? {};
    if (property.properties !== undefined) return [row, ...keyRows(property, path, elsewhere)];
    if (items.properties !== undefined) return [row, ...keyRows(items, `${path}[]`, elsewhere)];
    return [row];
  });
}

const table = (rows) =>
  [
    '| key | value | default | meaning |',
    '|---|---|---|---|',
    ...rows.map((row) => `| ${row.map(cell).join(' | ')} |`),
  ].join('\n');

const cell = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

function typeOf(property) {
  if (property.const !== undefined) return `\`${property.const}\``;
  if (property.enum !== undefined) return property.enum.map((value) => `\`${value}\``).join(', ');
  const alternatives = property.anyOf ?? property.oneOf;
  if (alternatives !== undefined) {
    const names = alternatives.map((one) => one.properties?.builder?.const ?? typeOf(one));
    return [...new Set(names)].join(' or ');
  }
  if (property.type === 'array') return `list of ${typeOf(property.items ?? {})}`;
  if (property.type === 'object' && property.additionalProperties?.type !== undefined) return 'names to text';
  return `${property.type ?? 'any'}${rangeOf(property)}`;
}

function rangeOf({ type, minimum, maximum, exclusiveMinimum }) {
  if (type !== 'integer' && type !== 'number') return '';
  const least = minimum ?? exclusiveMinimum;
  const most = maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum;
  if (least === undefined || least === Number.MIN_SAFE_INTEGER) return '';
  return most === undefined ? `, from ${least}` : `, ${least} to ${most}`;
}

function defaultOf(property, required) {
  if (required) return 'required';
  const value = property.default;
  if (value === undefined || (typeof value === 'object' && Object.keys(value).length === 0)) return '';
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}

const SYSTEMS = {
  mlx5: 'mlx5',
  sonic: 'SONiC',
  openconfig: 'OpenConfig',
  prometheus: 'Prometheus',
  training: 'training',
};

function metricReference(metrics) {
  const byElement = Map.groupBy?.(metrics, (metric) => metric.element) ?? grouped(metrics);
  return [...byElement]
    .map(([element, rows]) => {
      const lines = rows.map(({ name, kind, unit, sampling, description, sources }) => {
        const found = Object.entries(sources).map(
          ([system, counter]) => `${SYSTEMS[system] ?? system}: \`${counter}\``,
        );
        return `| \`${name}\` | ${[kind, unit, sampling, cell(description), cell(found.join('; '))].join(' | ')} |`;
      });
      const head = [
        '| metric | kind | unit | sampling | meaning | counter in the field |',
        '|---|---|---|---|---|---|',
      ];
      return [`## Of a ${element}`, '', ...head, ...lines].join('\n');
    })
    .join('\n\n');
}

function grouped(metrics) {
  const groups = new Map();
  for (const metric of metrics) groups.set(metric.element, [...(groups.get(metric.element) ?? []), metric]);
  return groups;
}

function kindReference(kind, schemaOf) {
  const schema = schemaOf(kind.parameters);
  const variants = schema.oneOf ?? schema.anyOf ?? [schema];
  const parameters = variants.map((variant) => {
    const rows = keyRows(variant, 'params');
    const name = variant.properties?.variant?.const;
    const title = name === undefined ? '' : `### \`variant: ${name}\`\n\n`;
    return rows.length === 0 ? 'No parameters.' : title + table(rows);
  });
  const symptoms = Object.entries(kind.allSymptoms()).flatMap(([variant, list]) => [
    `*${variant}*`,
    '',
    ...list.map(({ text, metrics, citation }) => {
      const moves =
        metrics.length === 0 ? '' : ` Moves ${metrics.map((metric) => `\`${metric}\``).join(', ')}.`;
      return `- ${text}.${moves} Source: ${citation}`;
    }),
    '',
  ]);
  return [
    `## ${kind.name}`,
    '',
    `${kind.summary[0].toUpperCase()}${kind.summary.slice(1)}.`,
    '',
    ...parameters.flatMap((one) => [one, '']),
    ...(symptoms.length === 0 ? [] : ['### What an operator sees', '', ...symptoms]),
    '### Limits',
    '',
    ...kind.limits.map((limit) => `- ${limit}`),
    '',
    '### Example',
    '',
    '```yaml',
    kind.example.trimEnd(),
    '```',
  ].join('\n');
}

async function fromCompiled(checkout) {
  const load = (path) => import(pathToFileURL(join(checkout, 'dist/src', path)).href);
  const { inputJsonSchema } = await load('core/schema-issues.js');
  return {
    METRICS: (await load('model/telemetry/catalog.js')).METRICS,
    FAULT_KINDS: (await load('faults/catalog.js')).FAULT_KINDS,
    Experiment: inputJsonSchema((await load('documents/experiment.js')).experimentSchema),
    Fabric: inputJsonSchema((await load('documents/fabric-document.js')).fabricDocumentSchema),
    Schedule: inputJsonSchema((await load('documents/schedule.js')).scheduleSchema),
    GameDay: inputJsonSchema((await load('documents/game-day.js')).gameDaySchema),
    schemaOf: inputJsonSchema,
  };
}

if (argv[1] !== undefined && import.meta.url === pathToFileURL(argv[1]).href) {
  const checkout = dirname(dirname(fileURLToPath(import.meta.url)));
  const sources = await fromCompiled(checkout);
  for (const page of PAGES) {
    const path = join(checkout, page);
    writeFileSync(path, renderPage(page, readFileSync(path, 'utf8'), sources));
  }
}
