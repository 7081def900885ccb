/**
 * Violations to plant, at least one for every import fence, so that the fence test can see each of them caught.
 *
 * A rule that matches nothing passes in silence: a mistyped path, a compiler the checker can't drive, a type import it
 * does not follow. Each plant therefore names the rule that must report it and the file that must be blamed. The files
 * exist only in the copy of the sources that the test makes.
 */

export interface Plant {
  /** Name of the rule in .dependency-cruiser.cjs. */
  rule: string;
  /** File that must be reported, relative to the checkout. */
  file: string;
  /** What is planted: path → source. Targets that other plants share are planted once. */
  sources: Readonly<Record<string, string>>;
}

const importing = (specifier: string): string => `import '${specifier}';\nexport const planted = 1;\n`;
const importingType = (name: string, specifier: string): string =>
  `import type { ${name} } from '${specifier}';\nexport type Planted = ${name};\n`;
const target = 'export const target = 1;\n';

function plant(rule: string, file: string, source: string, others: Record<string, string> = {}): Plant {
  return { rule, file, sources: { [file]: source, ...others } };
}

/** A room, planted with an import of something that its arrows do not lead to: path below src. */
function arrow(room: string, target: string, others: Record<string, string> = {}): Plant {
  const up = '../'.repeat(room.split('/').length);
  const rule = `arrow-${room.replaceAll('/', '-')}`;
  return plant(rule, `src/${room}/planted-arrow.ts`, importing(`${up}${target}`), others);
}

const arrows: Plant[] = [
  arrow('core', 'model/topology/model.js'),
  arrow('model/topology', 'model/telemetry/series.js'),
  arrow('model/telemetry', 'model/workload/job.js'),
  arrow('model/workload', 'model/telemetry/series.js'),
  arrow('model/calendar', 'documents/planted-target.js', { 'src/documents/planted-target.ts': target }),
  arrow('simulator', 'fabric-api/fabric.js'),
  arrow('fabric-api', 'faults/fault.js'),
  arrow('faults', 'diagnosis/verdict.js'),
  arrow('diagnosis', 'system/planted-target.js', { 'src/system/planted-target.ts': target }),
  arrow('scoring', 'diagnosis/planted-target.js', { 'src/diagnosis/planted-target.ts': target }),
  arrow('comparison', 'scoring/planted-formula.js', { 'src/scoring/planted-formula.ts': target }),
  arrow('reports', 'faults/fault.js'),
  arrow('system', 'model/topology/model.js'),
  arrow('evidence', 'fabric-api/fabric.js'),
  arrow('store', 'documents/planted-target.js'),
  arrow('documents', 'drill/planted-target.js', { 'src/drill/planted-target.ts': target }),
  arrow('drivers', 'faults/fault.js'),
  arrow('drill', 'app/runs/planted-target.js', { 'src/app/runs/planted-target.ts': target }),
  arrow('drill', 'drivers/planted-b/fabric.js', { 'src/drivers/planted-b/fabric.ts': target }),
  arrow('app/platform', 'app/runs/planted-target.js'),
  arrow('app/fabrics', 'app/runs/planted-target.js'),
  arrow('app/experiments', 'app/runs/planted-target.js'),
  arrow('app/runs', 'app/gates/planted-target.js', { 'src/app/gates/planted-target.ts': target }),
  arrow('app/gates', 'app/runs/planted-target.js'),
  arrow('app/game-days', 'app/schedules/planted-target.js', {
    'src/app/schedules/planted-target.ts': target,
  }),
  arrow('app/schedules', 'app/gates/planted-target.js'),
  arrow('cli', 'app/runs/planted-target.js'),
];

/** One plant for each room that diagnosis must not reach: by a type, through an innocent file of an allowed room. */
const blindness: Plant[] = [
  'faults',
  'fabric-api',
  'drivers',
  'simulator',
  'scoring',
  'comparison',
  'reports',
  'documents',
  'drill',
  'evidence',
  'store',
  'app',
  'cli',
].map((room) => {
  const innocent = `planted-innocent-${room}`;
  return plant(
    'diagnosis-is-blind',
    `src/diagnosis/planted-peek-at-${room}.ts`,
    importingType('Planted', `../model/telemetry/${innocent}.js`),
    {
      [`src/model/telemetry/${innocent}.ts`]: importingType('Secret', `../../${room}/planted-secret.js`),
      [`src/${room}/planted-secret.ts`]: 'export interface Secret {\n  element: string;\n}\n',
    },
  );
});

const purity: Plant[] = [
  plant('pure-without-nest', 'src/comparison/planted-service.ts', importing('@nestjs/common')),
  plant('pure-without-nest', 'src/reports/planted-indirect.ts', importing('../core/planted-service.js'), {
    'src/core/planted-service.ts': importing('@nestjs/common'),
  }),
  plant('pure-without-built-ins', 'src/simulator/planted-file-reader.ts', importing('node:fs')),
  plant('pure-without-built-ins', 'src/core/planted-bare-name.ts', importing('fs')),
  plant('pure-packages-only', 'src/model/topology/planted-package.ts', importing('yaml')),
  plant(
    'truth-is-types-only',
    'src/scoring/planted-value.ts',
    "import '../faults/ground-truth.js';\nexport const planted = 1;\n",
  ),
];

const boundary: Plant[] = [
  plant('drivers-apart', 'src/drivers/planted-a/fabric.ts', importing('../planted-b/fabric.js')),
  plant(
    'simulator-behind-its-driver',
    'src/drivers/planted-a/simulator.ts',
    importing('../../simulator/planted-target.js'),
    { 'src/simulator/planted-target.ts': target },
  ),
  plant('below-app-without-nest', 'src/drill/planted-nest.ts', importing('@nestjs/common')),
  plant('below-app-without-nest', 'src/store/planted-nest.ts', importing('../system/planted-nest.js'), {
    'src/system/planted-nest.ts': importing('@nestjs/common'),
  }),
  plant('rules-are-arithmetic', 'src/app/game-days/rules/planted.ts', importing('../planted-target.js'), {
    'src/app/game-days/planted-target.ts': target,
  }),
];

const edges: Plant[] = [
  plant('entry-points-only-wire', 'src/worker.ts', importing('./model/topology/model.js')),
  plant('nothing-imports-an-entry-point', 'src/app/runs/planted-start.ts', importing('../../worker.js')),
  plant(
    'rooms-below-the-command-line',
    'src/app/runs/planted-command.ts',
    importing('../../cli/planted-target.js'),
    {
      'src/cli/planted-target.ts': target,
    },
  ),
  plant('src-without-tests', 'src/core/planted-support.ts', importing('../../test/support/planted.js'), {
    'test/support/planted.ts': target,
  }),
  plant('src-without-tests', 'src/core/planted-spec-import.ts', importing('./planted-other.spec.js'), {
    'src/core/planted-other.spec.ts': target,
  }),
  plant('src-without-tests', 'src/core/planted-testing-import.ts', importing('./testing/planted.js'), {
    'src/core/testing/planted.ts': target,
  }),
  plant(
    'corpus-without-diagnosis',
    'bench/explain/corpus/planted-magnitudes.ts',
    importing('../../../src/diagnosis/likelihoods.js'),
  ),
  plant(
    'specs-use-only-test-support',
    'src/core/testing/suite.ts',
    importing('../../../test/e2e/planted.js'),
    {
      'test/e2e/planted.ts': target,
    },
  ),
  plant(
    'specs-use-only-test-support',
    'src/core/planted-suite.spec.ts',
    importing('../../test/e2e/planted.js'),
    { 'test/e2e/planted.ts': target },
  ),
  plant(
    'migrations-are-passed-in',
    'src/app/platform/planted-migrations.ts',
    importing('../../../migrations/planted.js'),
    { 'migrations/planted.ts': target },
  ),
  plant('migrations-stand-alone', 'migrations/1-planted-migration.ts', importing('../src/core/elements.js')),
];

const hygiene: Plant[] = [
  plant('no-circular', 'src/model/workload/planted-circle-a.ts', importing('./planted-circle-b.js'), {
    'src/model/workload/planted-circle-b.ts': importing('./planted-circle-a.js'),
  }),
  plant('no-unresolvable', 'src/model/workload/planted-typing-error.ts', importing('../telemety/series.js')),
  plant('no-undeclared-package', 'src/app/runs/planted-undeclared.ts', importing('picomatch')),
  plant('no-dev-package-in-product', 'src/app/runs/planted-dev-package.ts', importing('fast-check')),
  plant('no-orphans', 'src/model/workload/planted-orphan.ts', target),
];

/** All plants. */
export const PLANTS: readonly Plant[] = [
  ...arrows,
  ...blindness,
  ...purity,
  ...boundary,
  ...edges,
  ...hygiene,
];
