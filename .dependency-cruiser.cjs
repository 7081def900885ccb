/**
 * Import fences: the arrows between rooms (docs/architecture.md) as rules, each with the reason it is there.
 *
 * A room may reach what its line in ROOMS lists and itself, nothing else. Specs, and a room's `testing/` folder, follow
 * the arrows of their room but may use Node, test packages and test/support; nothing that ships may import them. `tsPreCompilationDeps` is on because a type that leaks knowledge is a leak too. A rule
 * without a planted violation in test/architecture/plants.ts fails the fence test: each fence must prove that it bites.
 */
const SPEC = '[.](spec|e2e-spec)[.]ts$';
const TEST_CODE = '([.](spec|e2e-spec)[.]ts$|^src/.*/testing/)';

const BASE = ['kernel/', 'topology/'];
const SHARED = [...BASE, 'telemetry/', 'workload/'];
const SCORED = [...SHARED, 'truth/', 'diagnosis/verdict.ts'];
const SCORES = [...SCORED, 'scoring/(scorecard|metric-catalog|exit-codes|parity)[.]ts$'];
const PURE_ROOMS =
  '(kernel|topology|workload|telemetry|simulator|faults|diagnosis|truth|scoring|gate|reports|fabrics/contract)';

/** room (path under src/) → what it may reach besides itself, and why no more. */
const ROOMS = {
  kernel: [[], 'everything stands on it, so it stands on nothing'],
  topology: [['kernel/'], 'a graph of devices exists without traffic, telemetry or faults'],
  telemetry: [BASE, 'what may be observed must not depend on who produces it, nor on who explains it'],
  workload: [BASE, 'a training job is the same on every fabric and under every fault'],
  simulator: [
    SHARED,
    'it simulates impairments it is given and must know neither fault kinds nor the fabric contract',
  ],
  'fabrics/contract': [
    SHARED,
    'N kinds on M fabrics cost N + M files only while the contract knows no kind and no adapter',
  ],
  truth: [['kernel/', 'telemetry/'], 'it is a record in shared words, written by faults and read by scoring'],
  faults: [
    [...SHARED, 'truth/', 'fabrics/contract/'],
    'a kind compiles to impairments and never touches a fabric',
  ],
  diagnosis: [SHARED, 'it may know what an operator knows, and nothing of what was injected'],
  scoring: [SCORED, 'it compares a sealed verdict with the truth and must not steer either'],
  // the scorecard, what its figures mean, how states end and how a twin compares, but no formula of a score
  gate: [SCORES, 'it decides on figures; how they came about is not its business'],
  reports: [[...SCORES, 'gate/'], 'it renders results and computes none'],
  platform: [['kernel/'], 'configuration, database and queue serve every room and so may favour none'],
};

const under = (paths) => paths.map((path) => `^src/${path}`);
const entryPoint = '^src/(main|worker|cli)[.]ts$';
// fabrics/stored is the service for fabrics that users keep: a service among the adapters because users say `fabrics`
const adapter = '^src/fabrics/(?!contract/|stored/)([^/]+)/';
const nestRoom =
  '(fabrics/stored/|experiments/(?!definition/)|runs/|schedules/(?!timing/)|game-days/|safety/|gates/|dashboard/)';

const roomArrows = Object.entries(ROOMS).map(([room, [reach, comment]]) => ({
  name: `arrow-${room.replace('/', '-')}`,
  severity: 'error',
  comment,
  from: { path: `^src/${room}/` },
  to: {
    path: '^src/',
    // the shape of a simulated fabric's file includes the simulator's own settings; that schema is the one exception
    pathNot: under([
      `${room}/`,
      ...reach,
      ...(room === 'fabrics/contract' ? ['simulator/settings[.]ts$'] : []),
    ]),
  },
}));

const blindness = {
  name: 'diagnosis-is-blind',
  severity: 'error',
  comment:
    'A diagnosis that could learn what was injected proves nothing. Not even through others, and not even a type: ' +
    'this fence carries the claim that an answer came from telemetry alone.',
  from: { path: '^src/diagnosis/', pathNot: TEST_CODE },
  to: {
    path: '^src/(truth|faults|fabrics|simulator|scoring|drill|experiments|runs)/',
    reachable: true,
  },
};

const purity = [
  {
    name: 'pure-without-nest',
    severity: 'error',
    comment:
      'Pure rooms run in a worker, a test, a bench or a page alike; a framework would tie them to one of these.',
    from: { path: `^src/${PURE_ROOMS}/` },
    to: { path: 'node_modules/@nestjs/', reachable: true },
  },
  {
    name: 'pure-without-built-ins',
    severity: 'error',
    comment:
      'Same seed, same bytes: no files, no clock, no entropy. Bytes come in and go out through a caller.',
    from: { path: `^src/${PURE_ROOMS}/`, pathNot: TEST_CODE },
    to: { dependencyTypes: ['core'] },
  },
  {
    name: 'pure-packages-only-zod',
    severity: 'error',
    comment: 'A schema library is all that pure code needs; any other package may hide a clock or a global.',
    from: { path: `^src/${PURE_ROOMS}/`, pathNot: TEST_CODE },
    to: { path: 'node_modules/', pathNot: 'node_modules/zod/' },
  },
  {
    name: 'truth-is-types-only',
    severity: 'error',
    comment:
      'Truth has no behaviour: a value import would mean that some decision is made where the answer is known.',
    from: { path: '^src/' },
    to: { path: '^src/truth/', dependencyTypesNot: ['type-only'] },
  },
];

const boundary = [
  {
    name: 'adapters-reach-contract-and-below',
    severity: 'error',
    comment:
      'An adapter translates impairments; it must not know fault kinds, truth, diagnosis or another adapter.',
    from: { path: adapter },
    to: {
      path: '^src/',
      pathNot: [
        '^src/fabrics/$1/',
        // who may reach the simulator is the business of the rule below
        ...under([...SHARED, 'fabrics/contract/', 'platform/', 'simulator/']),
      ],
    },
  },
  {
    name: 'simulator-behind-its-adapter',
    severity: 'error',
    comment:
      'Everything else sees a fabric through the contract, or the simulated fabric would be treated differently from a real one.',
    from: {
      path: '^src/',
      pathNot: ['^src/simulator/', '^src/drivers/simulated/', '^src/fabric-api/definition[.]ts$'],
    },
    to: { path: '^src/simulator/' },
  },
  {
    name: 'adapters-behind-the-catalogue',
    severity: 'error',
    comment:
      'A room that names one adapter would have to be edited for the next; fabrics/catalog.ts is the only door.',
    from: { path: '^src/', pathNot: ['^src/fabrics/[^/]+[.]ts$', adapter] },
    to: { path: adapter },
  },
  {
    name: 'catalogue-only-lists',
    severity: 'error',
    comment: 'The fabric catalogue names adapters and nothing above them.',
    from: { path: '^src/fabrics/[^/]+[.]ts$' },
    to: { path: '^src/', pathNot: under([...SHARED, 'fabrics/(?!stored/)', 'platform/']) },
  },
  {
    name: 'drill-arrows',
    severity: 'error',
    comment:
      'The walk through a drill happens in memory: services, commands and the database call it, never the reverse.',
    from: { path: '^src/drill/' },
    to: { path: `^src/(${nestRoom}|cli/|platform/|reports/)` },
  },
  {
    name: 'definition-arrows',
    severity: 'error',
    comment: 'Parsing a file is needed by the command line and the drill before, and without, any service.',
    from: { path: '^src/documents/' },
    to: {
      path: '^src/',
      pathNot: under([
        ...SHARED,
        'experiments/definition/',
        'fabrics/contract/',
        'fabrics/[^/]+[.]ts$',
        'faults/',
        'gate/',
        'schedules/timing/',
        'scoring/(scorecard|metric-catalog|exit-codes|profile)[.]ts$',
      ]),
    },
  },
  {
    name: 'timing-is-arithmetic',
    severity: 'error',
    comment:
      'What becomes of a tick is a matter of rules and times alone: every replica, a plan and a test must find the same.',
    from: { path: '^src/model/calendar/', pathNot: TEST_CODE },
    to: { path: '^src/|node_modules/', pathNot: under(['schedules/timing/', 'kernel/']) },
  },
  {
    name: 'conduct-is-arithmetic',
    severity: 'error',
    comment:
      'What a game day does next, and what it showed, is a matter of its file, its runs and their scorecards: whoever conducts ' +
      'may die between two looks, and the next one must find the same.',
    from: { path: '^src/app/game-days/rules/', pathNot: TEST_CODE },
    to: {
      path: '^src/|node_modules/',
      pathNot: under([
        'game-days/conduct/',
        'kernel/',
        'gate/objective[.]ts$',
        'scoring/(scorecard|exit-codes)[.]ts$',
        'experiments/definition/game-day[.]ts$',
      ]),
    },
  },
  {
    name: 'no-nest-in-drill-and-definition',
    severity: 'error',
    comment:
      'Benches and gates run thousands of drills; none of them should boot a framework, not even through others.',
    from: { path: '^src/(drill|experiments/definition)/', pathNot: TEST_CODE },
    to: { path: 'node_modules/@nestjs/', reachable: true },
  },
];

const edges = [
  {
    name: 'entry-points-only-wire',
    severity: 'error',
    comment:
      'main, worker and cli start rooms; a decision made there can be reached by no test and no other process.',
    from: { path: entryPoint },
    to: {
      path: '^src/',
      pathNot: ['^src/(cli|platform|kernel)/', '^src/.*[.]module[.]ts$'],
    },
  },
  {
    name: 'nothing-imports-an-entry-point',
    severity: 'error',
    comment: 'Importing one would start a process.',
    from: {},
    to: { path: entryPoint },
  },
  {
    name: 'rooms-below-the-command-line',
    severity: 'error',
    comment:
      'The command line is a client of the rooms; a service that needs a command has its logic in the wrong place.',
    from: { path: '^src/', pathNot: ['^src/cli/', entryPoint] },
    to: { path: '^src/cli/' },
  },
  {
    name: 'src-without-tests',
    severity: 'error',
    comment: 'What ships must not need what does not ship.',
    from: { path: '^src/', pathNot: TEST_CODE },
    to: { path: ['^(test|bench)/', TEST_CODE] },
  },
  {
    name: 'corpus-without-diagnosis',
    severity: 'error',
    comment:
      'Cases drawn from what the diagnosis expects would grade it by its own assumptions: the corpus must not see them.',
    from: { path: '^bench/explain/corpus/' },
    to: { path: '^src/diagnosis/(?!verdict[.]ts$)', reachable: true },
  },
  {
    name: 'specs-use-only-test-support',
    severity: 'error',
    comment: 'A spec that leans on another suite fails for reasons that are not its own.',
    from: { path: ['^src/.*/testing/', `^src/.*${SPEC}`] },
    to: { path: ['^(test/(?!support/)|bench/)', SPEC] },
  },
  {
    name: 'migrations-are-passed-in',
    severity: 'error',
    comment:
      'Each process states the tables it may see; a room that fetched the list itself would see them all.',
    from: { path: '^src/', pathNot: ['^src/[^/]+[.]ts$', '^src/cli/', TEST_CODE] },
    to: { path: '^migrations/' },
  },
  {
    name: 'migrations-stand-alone',
    severity: 'error',
    comment:
      'A migration must do tomorrow what it does today; code that it shared with src would change under it.',
    from: { path: '^migrations/', pathNot: TEST_CODE },
    to: { path: '^(src|test|bench)/' },
  },
];

const hygiene = [
  {
    name: 'no-circular',
    severity: 'error',
    comment:
      'In ESM a circle is a start-order bug waiting ("Cannot access before initialization"), and rooms in a circle are one room. ' +
      'Type-only circles are harmless at run time (entities that refer to each other need them).',
    from: { path: '^(src|migrations|bench|test)/' },
    to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
  },
  {
    name: 'no-unresolvable',
    severity: 'error',
    comment: 'A mistyped path cuts the graph, and every rule behind the cut passes in silence.',
    from: {},
    to: { couldNotResolve: true },
  },
  {
    name: 'no-undeclared-package',
    severity: 'error',
    comment:
      'What another package happens to bring along may be gone tomorrow. Types alone come from @types.',
    from: {},
    to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
  },
  {
    name: 'no-dev-package-in-product',
    severity: 'error',
    comment: 'An installation without development packages must start.',
    from: { path: '^(src|migrations)/', pathNot: TEST_CODE },
    to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
  },
  {
    name: 'no-orphans',
    severity: 'error',
    comment:
      'A file that nothing imports and that imports nothing is dead, or a rule does not see who uses it.',
    from: { orphan: true, path: '^(src|test|bench)/', pathNot: [TEST_CODE, '[.]d[.]ts$'] },
    to: {},
  },
];

module.exports = {
  forbidden: [...roomArrows, blindness, ...purity, ...boundary, ...edges, ...hygiene],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    // anchored: most packages live in a dist folder of their own, and excluding those would blind the package rules
    exclude: { path: '^(dist|coverage)/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
