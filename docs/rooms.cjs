/**
 * The rooms of src: what each holds, what it may reach, and why no more.
 *
 * One table for all who need it: the import fences (.dependency-cruiser.cjs), the page docs/architecture.md (its table
 * and its picture), and the tests that hold the pure rooms to their rules. A room may reach what `reach` lists, and
 * itself. An entry is a path below src: a folder, or a file.
 */
const MODEL = ['model/topology/', 'model/telemetry/', 'model/workload/'];
const FIGURES = [
  'faults/ground-truth.ts',
  'diagnosis/verdict.ts',
  'scoring/scorecard.ts',
  'scoring/metric-catalog.ts',
  'scoring/exit-codes.ts',
  'scoring/objectives.ts',
  'scoring/contradiction.ts',
  'scoring/parity/parity.ts',
];
const PURE_BELOW = [
  'core/',
  'model/',
  'fabric-api/',
  'faults/',
  'diagnosis/',
  'scoring/',
  'comparison/',
  'reports/',
];
const BELOW_APP = [
  ...PURE_BELOW,
  'system/',
  'evidence/',
  'store/',
  'documents/',
  'drivers/catalog.ts',
  'drill/',
];

/** @type {{ room: string, holds: string, reach: string[], why: string, pure?: true }[]} from the ground up */
const ROOMS = [
  {
    room: 'core',
    holds: 'units, element ids, seeded random numbers, heap, errors with pointer and hint',
    reach: [],
    why: 'everything stands on it, so it stands on nothing',
    pure: true,
  },
  {
    room: 'model/topology',
    holds: 'devices, ports, links; builders, importers, equal-cost paths, selectors',
    reach: ['core/'],
    why: 'a graph of devices exists without traffic, telemetry or faults',
    pure: true,
  },
  {
    room: 'model/telemetry',
    holds: 'what may be observed: metric catalogue, series, and the words that faults and diagnosis share',
    reach: ['core/', 'model/topology/'],
    why: 'what may be observed must not depend on who produces it, nor on who explains it',
    pure: true,
  },
  {
    room: 'model/workload',
    holds: 'training jobs, placement, collectives as flows',
    reach: ['core/', 'model/topology/'],
    why: 'a training job is the same on every fabric and under every fault',
    pure: true,
  },
  {
    room: 'model/calendar',
    holds: 'when a schedule ticks and what becomes of a tick: cron, time zones, blackouts; no clock',
    reach: ['core/'],
    why: 'what becomes of a tick is a matter of rules and times alone: every replica, a plan and a test must find the same',
  },
  {
    room: 'simulator',
    holds: 'the simulated network: routing, rates, congestion, transport, jobs, sampling',
    reach: ['core/', ...MODEL],
    why: 'it simulates impairments it is given and must know neither fault kinds nor the fabric contract',
    pure: true,
  },
  {
    room: 'fabric-api',
    holds: 'what a fabric must do; impairments; capabilities',
    // the shape of a simulated fabric's file includes the simulator's own settings; that schema is the one exception
    reach: ['core/', ...MODEL, 'simulator/settings.ts'],
    why: 'N kinds on M fabrics cost N + M files only while the contract knows no kind and no driver',
    pure: true,
  },
  {
    room: 'faults',
    holds: 'one file a kind, the catalogue, and ground-truth.ts: the record of what was injected',
    reach: ['core/', ...MODEL, 'fabric-api/'],
    why: 'a kind compiles to impairments and never touches a fabric',
    pure: true,
  },
  {
    room: 'diagnosis',
    holds: 'evidence in, ranked verdict out',
    reach: ['core/', ...MODEL],
    why: 'it may know what an operator knows, and nothing of what was injected',
    pure: true,
  },
  {
    room: 'scoring',
    holds: 'recovery, isolation, explainability; objectives; the scorecard',
    reach: ['core/', ...MODEL, 'faults/ground-truth.ts', 'diagnosis/verdict.ts'],
    why: 'it compares a sealed verdict with the truth and must not steer either',
    pure: true,
  },
  {
    room: 'comparison',
    holds: 'baseline against candidate: paired statistics, margins, when to stop',
    reach: ['core/', ...MODEL, ...FIGURES],
    why: 'it decides on figures; how they came about is not its business',
    pure: true,
  },
  {
    room: 'reports',
    holds: 'one renderer a file',
    reach: ['core/', ...MODEL, ...FIGURES, 'comparison/'],
    why: 'it renders results and computes none',
    pure: true,
  },
  {
    room: 'system',
    holds: 'configuration, log, and what else processes need of Node; no Nest',
    reach: ['core/'],
    why: 'it serves every room above it and so may favour none',
  },
  {
    room: 'evidence',
    holds: 'what was observed, as Arrow files: written in batches, read whole',
    reach: ['core/', 'model/telemetry/', 'system/'],
    why: 'a file of evidence is the same whoever writes, keeps or reads it',
  },
  {
    room: 'documents',
    holds:
      'the YAML kinds Experiment, Fabric, Suite, Schedule, GameDay: parsing, schemas, hints with file and line',
    reach: ['core/', 'model/', 'fabric-api/', 'faults/', 'comparison/', ...FIGURES, 'scoring/profile.ts'],
    why: 'reading a file is needed by the command line and a drill before, and without, any service',
  },
  {
    room: 'drivers',
    holds: 'one fabric a folder, and the catalogue; only drivers/simulated reaches the simulator',
    reach: ['core/', ...MODEL, 'fabric-api/', 'simulator/', 'system/'],
    why: 'a driver translates impairments; it must not know fault kinds, truth or diagnosis',
  },
  {
    room: 'drill',
    holds: 'plan, run, undo, judge, and the runs of a gate: in memory',
    reach: [
      ...PURE_BELOW.filter((room) => room !== 'reports/'),
      'documents/',
      'drivers/catalog.ts',
      'system/',
      'evidence/',
    ],
    why: 'services, commands and the database call it, never the reverse',
  },
  {
    room: 'store',
    holds: 'the database with the embedded PostgreSQL, and what is kept in it; no Nest',
    reach: ['core/', 'model/', 'fabric-api/', ...FIGURES, 'system/', 'evidence/', 'drill/'],
    why: 'server and command line keep results in one way, whoever computed them',
  },
  {
    room: 'app/platform',
    holds: 'Nest around no domain: auth, health, HTTP, problems, queue, database module',
    reach: ['core/', 'system/', 'store/'],
    why: 'it serves every feature and so may favour none',
  },
  {
    room: 'app/fabrics',
    holds: 'fabrics that users keep',
    reach: [...BELOW_APP, 'app/platform/'],
    why: 'a stored fabric exists without experiments',
  },
  {
    room: 'app/experiments',
    holds: 'experiments that users keep, and what they plan',
    reach: [...BELOW_APP, 'app/platform/', 'app/fabrics/'],
    why: 'a definition exists without its runs',
  },
  {
    room: 'app/runs',
    holds: 'runs: queue, worker, record, events, diagnoses from elsewhere',
    reach: [...BELOW_APP, 'app/platform/', 'app/fabrics/', 'app/experiments/'],
    why: 'a run does not know who asked for it',
  },
  {
    room: 'app/gates',
    holds: 'gates over workers',
    reach: [...BELOW_APP, 'app/platform/', 'app/fabrics/', 'app/experiments/'],
    why: 'a gate drills in memory and makes no runs',
  },
  {
    room: 'app/game-days',
    holds: 'game days: conductor, seals, reports',
    reach: [...BELOW_APP, 'app/platform/', 'app/fabrics/', 'app/experiments/', 'app/runs/'],
    why: 'a game day is made of runs and does not know who began it',
  },
  {
    room: 'app/schedules',
    holds: 'schedules: the ticker and its store',
    reach: [...BELOW_APP, 'app/platform/', 'app/fabrics/', 'app/experiments/', 'app/runs/', 'app/game-days/'],
    why: 'a schedule begins runs and game days; nothing begins a schedule',
  },
  {
    room: 'cli',
    holds: 'commands, the client of the API, files, the terminal',
    reach: [...BELOW_APP, 'app/app.module.ts', 'app/game-days/game-day-plan.ts', 'app/game-days/rules/'],
    why: 'it starts the server and speaks to it; of its rooms it needs no more than shapes',
  },
];

module.exports = { ROOMS };
