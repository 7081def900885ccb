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

/** A room, planted with an import of something that its arrows do not lead to. */
function arrow(room: string, specifier: string, others: Record<string, string> = {}): Plant {
  const rule = `arrow-${room.replace('/', '-')}`;
  return plant(rule, `src/${room}/planted-arrow.ts`, importing(specifier), others);
}

const arrows: Plant[] = [
  arrow('kernel', '../topology/model.js'),
  arrow('topology', '../telemetry/series.js'),
  arrow('telemetry', '../workload/job.js'),
  arrow('workload', '../telemetry/series.js'),
  arrow('simulator', '../fabrics/contract/fabric.js'),
  arrow('fabrics/contract', '../../faults/fault.js'),
  arrow('truth', '../workload/job.js'),
  arrow('faults', '../diagnosis/verdict.js'),
  arrow('diagnosis', '../platform/planted-target.js', { 'src/app/platform/planted-target.ts': target }),
  arrow('scoring', '../diagnosis/planted-target.js', { 'src/diagnosis/planted-target.ts': target }),
  arrow('gate', '../scoring/planted-formula.js', { 'src/scoring/planted-formula.ts': target }),
  arrow('reports', '../faults/fault.js'),
  arrow('platform', '../topology/model.js'),
];

/** One plant for each room that diagnosis must not reach: by a type, through an innocent file of an allowed room. */
const blindness: Plant[] = [
  'truth',
  'faults',
  'fabrics',
  'simulator',
  'scoring',
  'drill',
  'experiments',
  'runs',
].map((room) => {
  const innocent = `planted-innocent-${room}`;
  return plant(
    'diagnosis-is-blind',
    `src/diagnosis/planted-peek-at-${room}.ts`,
    importingType('Planted', `../telemetry/${innocent}.js`),
    {
      [`src/model/telemetry/${innocent}.ts`]: importingType('Secret', `../${room}/planted-secret.js`),
      [`src/${room}/planted-secret.ts`]: 'export interface Secret {\n  element: string;\n}\n',
    },
  );
});

const purity: Plant[] = [
  plant('pure-without-nest', 'src/comparison/planted-service.ts', importing('@nestjs/common')),
  plant('pure-without-nest', 'src/reports/planted-indirect.ts', importing('../kernel/planted-service.js'), {
    'src/core/planted-service.ts': importing('@nestjs/common'),
  }),
  plant('pure-without-built-ins', 'src/simulator/planted-file-reader.ts', importing('node:fs')),
  plant('pure-without-built-ins', 'src/core/planted-bare-name.ts', importing('fs')),
  plant('pure-packages-only-zod', 'src/model/topology/planted-package.ts', importing('yaml')),
  plant(
    'truth-is-types-only',
    'src/scoring/planted-value.ts',
    "import { target } from '../truth/planted-value.js';\nexport const planted = target;\n",
    { 'src/truth/planted-value.ts': target },
  ),
];

const adapterTargets = { 'src/fabrics/planted-b/fabric.ts': target };
const boundary: Plant[] = [
  plant(
    'adapters-reach-contract-and-below',
    'src/fabrics/planted-a/fabric.ts',
    importing('../planted-b/fabric.js'),
    adapterTargets,
  ),
  plant(
    'adapters-reach-contract-and-below',
    'src/fabrics/planted-a/truth.ts',
    importingType('TruthEntry', '../../truth/truth.js'),
  ),
  plant(
    'simulator-behind-its-adapter',
    'src/drill/planted-simulator.ts',
    importing('../simulator/planted-target.js'),
    {
      'src/simulator/planted-target.ts': target,
    },
  ),
  plant(
    'simulator-behind-its-adapter',
    'src/fabrics/planted-a/simulator.ts',
    importing('../../simulator/planted-target.js'),
  ),
  plant(
    'adapters-behind-the-catalogue',
    'src/drill/planted-adapter.ts',
    importing('../fabrics/planted-b/fabric.js'),
    adapterTargets,
  ),
  plant(
    'adapters-behind-the-catalogue',
    'src/app/fabrics/planted-adapter.ts',
    importing('../planted-b/fabric.js'),
  ),
  plant('drill-arrows', 'src/drill/planted-stored.ts', importing('../fabrics/stored/planted-target.js'), {
    'src/app/fabrics/planted-target.ts': target,
  }),
  plant('catalogue-only-lists', 'src/fabrics/planted-catalogue.ts', importing('../faults/fault.js')),
  plant('drill-arrows', 'src/drill/planted-service.ts', importing('../runs/planted-target.js'), {
    'src/app/runs/planted-target.ts': target,
  }),
  plant('definition-arrows', 'src/documents/planted.ts', importing('../planted-target.js'), {
    'src/app/experiments/planted-target.ts': target,
  }),
  plant('timing-is-arithmetic', 'src/model/calendar/planted.ts', importing('../planted-target.js'), {
    'src/app/schedules/planted-target.ts': target,
  }),
  plant('conduct-is-arithmetic', 'src/app/game-days/rules/planted.ts', importing('../planted-target.js'), {
    'src/app/game-days/planted-target.ts': target,
  }),
  plant('no-nest-in-drill-and-definition', 'src/drill/planted-nest.ts', importing('@nestjs/common')),
];

const edges: Plant[] = [
  plant('entry-points-only-wire', 'src/worker.ts', importing('./topology/model.js')),
  plant('nothing-imports-an-entry-point', 'src/app/runs/planted-start.ts', importing('../worker.js')),
  plant(
    'rooms-below-the-command-line',
    'src/app/runs/planted-command.ts',
    importing('../cli/planted-target.js'),
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
    importing('../../migrations/planted.js'),
    { 'migrations/planted.ts': target },
  ),
  plant(
    'migrations-stand-alone',
    'migrations/1-planted-migration.ts',
    importing('../src/kernel/elements.js'),
  ),
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
