/**
 * Import fences: the arrows between the rooms of docs/rooms.cjs as rules, each with the reason it is there.
 *
 * A room may reach what its line in that table lists and itself, nothing else. Specs, and a room's `testing/` folder,
 * follow the arrows of their room but may use Node, test packages and test/support; nothing that ships may import them.
 * `tsPreCompilationDeps` is on because a type that leaks knowledge is a leak too. A rule without a planted violation in
 * test/architecture/plants.ts fails the fence test: each fence must prove that it bites.
 */
const { ROOMS } = require('./docs/rooms.cjs');

const SPEC = '[.](spec|e2e-spec)[.]ts$';
const TEST_CODE = '([.](spec|e2e-spec)[.]ts$|^src/.*/testing/)';
const PURE = `^src/(${ROOMS.flatMap(({ room, pure }) => (pure ? [room] : [])).join('|')})/`;
const ENTRY_POINT = '^src/(main|worker|cli)[.]ts$';

/** What pure rooms may use from npm: no input, no output, no clock, no randomness. */
const PURE_PACKAGES = ['zod'];

const under = (paths) => paths.map((path) => `^src/${path.replaceAll('.', '[.]')}`);

const roomArrows = ROOMS.map(({ room, reach, why }) => ({
  name: `arrow-${room.replaceAll('/', '-')}`,
  severity: 'error',
  comment: why,
  from: { path: `^src/${room}/` },
  to: { path: '^src/', pathNot: under([`${room}/`, ...reach]) },
}));

const blindness = {
  name: 'diagnosis-is-blind',
  severity: 'error',
  comment:
    'A diagnosis that could learn what was injected proves nothing. Not even through others, and not even a type: ' +
    'this fence carries the claim that an answer came from telemetry alone.',
  from: { path: '^src/diagnosis/', pathNot: TEST_CODE },
  to: {
    path: '^src/(faults|fabric-api|drivers|simulator|scoring|comparison|reports|documents|drill|evidence|store|app|cli)/',
    reachable: true,
  },
};

const purity = [
  {
    name: 'pure-without-nest',
    severity: 'error',
    comment:
      'Pure rooms run in a worker, a test, a bench or a page alike; a framework would tie them to one of these.',
    from: { path: PURE },
    to: { path: 'node_modules/@nestjs/', reachable: true },
  },
  {
    name: 'pure-without-built-ins',
    severity: 'error',
    comment:
      'Same seed, same bytes: no files, no clock, no entropy. Bytes come in and go out through a caller.',
    from: { path: PURE, pathNot: TEST_CODE },
    to: { dependencyTypes: ['core'] },
  },
  {
    name: 'pure-packages-only',
    severity: 'error',
    comment: 'A package that is not on the list may hide a clock, a file or a global.',
    from: { path: PURE, pathNot: TEST_CODE },
    to: { path: 'node_modules/', pathNot: `node_modules/(${PURE_PACKAGES.join('|')})/` },
  },
  {
    name: 'truth-is-types-only',
    severity: 'error',
    comment:
      'Truth has no behaviour: a value import would mean that some decision is made where the answer is known.',
    from: { path: '^src/' },
    to: { path: '^src/faults/ground-truth[.]ts$', dependencyTypesNot: ['type-only'] },
  },
];

const boundary = [
  {
    name: 'drivers-apart',
    severity: 'error',
    comment: 'A driver that knew another could not be removed, nor tried, alone.',
    from: { path: '^src/drivers/([^/]+)/' },
    to: { path: '^src/drivers/', pathNot: '^src/drivers/$1/' },
  },
  {
    name: 'simulator-behind-its-driver',
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
    name: 'below-app-without-nest',
    severity: 'error',
    comment:
      'Benches, gates and commands run thousands of drills; none of them should boot a framework, not even through others.',
    from: { path: '^src/(system|evidence|store|documents|drivers|drill)/', pathNot: TEST_CODE },
    to: { path: 'node_modules/@nestjs/', reachable: true },
  },
  {
    name: 'rules-are-arithmetic',
    severity: 'error',
    comment:
      'When a schedule ticks, what a game day does next and what it showed follow from files, runs and scorecards: ' +
      'whoever conducts may die between two looks, and the next one must find the same.',
    from: { path: '^src/(model/calendar|app/game-days/rules)/', pathNot: TEST_CODE },
    to: {
      path: '^src/|node_modules/',
      pathNot: under([
        'model/calendar/',
        'app/game-days/rules/',
        'core/',
        'scoring/objectives.ts',
        'scoring/scorecard.ts',
        'scoring/exit-codes.ts',
        'documents/game-day.ts',
      ]),
    },
  },
];

const edges = [
  {
    name: 'entry-points-only-wire',
    severity: 'error',
    comment:
      'main, worker and cli start rooms; a decision made there can be reached by no test and no other process.',
    from: { path: ENTRY_POINT },
    to: {
      path: '^src/',
      pathNot: ['^src/(cli|system|core)/', '^src/.*[.]module[.]ts$'],
    },
  },
  {
    name: 'nothing-imports-an-entry-point',
    severity: 'error',
    comment: 'Importing one would start a process.',
    from: {},
    to: { path: ENTRY_POINT },
  },
  {
    name: 'rooms-below-the-command-line',
    severity: 'error',
    comment:
      'The command line is a client of the rooms; a service that needs a command has its logic in the wrong place.',
    from: { path: '^src/', pathNot: ['^src/cli/', ENTRY_POINT] },
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
    from: {
      path: '^src/',
      pathNot: ['^src/app/app[.]module[.]ts$', '^src/store/open-store[.]ts$', '^src/cli/', TEST_CODE],
    },
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
      'In ESM a circle is a start-order bug waiting ("Cannot access before initialization"), and rooms in a circle are one room.',
    from: { path: '^(src|migrations|bench|test)/' },
    to: { circular: true },
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
