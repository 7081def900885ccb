/**
 * What the recorded database is made of: small fabrics and drills, of which each ends in another way.
 */
const api = 'fabricdrill/v1';
const document = (kind, name, spec) => ({ apiVersion: api, kind, metadata: { name }, spec });

const job = (name, offset) => ({
  name,
  gpus: 4,
  placement: { strategy: 'packed', offset },
  step: { compute: '80ms', collectives: [{ collective: 'all-reduce', bytes: '200MB' }] },
});

/** Two leaves, two spines, six hosts of two GPUs: one job whose ring climbs to the spines, and one that stays low. */
const fabric = (name) =>
  document('Fabric', name, {
    topology: { builder: 'leaf-spine', leaves: 2, spines: 2, hostsPerLeaf: 3, gpusPerHost: 2 },
    jobs: [job('exposed', 4), job('bystander', 0)],
  });

/** Three tiers, so that hash seeds matter. */
const tree = document('Fabric', 'bent-tree', {
  topology: { builder: 'fat-tree', k: 4 },
  jobs: [job('exposed', 4)],
});

export const FABRICS = [...['small', 'stuck', 'held', 'bent', 'bent-paced'].map(fabric), tree];

/** A real fabric, of which a server only knows the file. */
export const LAB = document('Fabric', 'lab', {
  driver: 'linux',
  topology: {
    ...{ builder: 'leaf-spine', leaves: 2, spines: 2, hostsPerLeaf: 2 },
    ...{ hostRate: '50Mbps', fabricRate: '50Mbps', hostDelay: '20us', fabricDelay: '20us' },
  },
  settings: { mtu: '1448B', headerBytes: 66, ackBytes: 66, bfd: true },
  lab: { prefix: 'fd-golden' },
  jobs: [
    {
      name: 'exposed',
      hosts: ['host-1', 'host-3'],
      queuePairs: 1,
      step: { compute: '400ms', collectives: [{ collective: 'all-reduce', bytes: '2MB' }] },
    },
  ],
});

const cut = {
  kind: 'link-down',
  params: { variant: 'cut' },
  target: { type: 'link', tier: 'leaf-spine', usedBy: 'exposed', mode: 'one', order: 'random' },
  at: '3s',
  duration: '3s',
};
const experiment = (name, fabricName, spec) =>
  document('Experiment', name, { fabric: fabricName, seed: 11, faults: [cut], ...spec });

const one = (type, name) => ({ type, names: [name] });
const fault = (kind, params, target, name = kind) => ({
  name,
  kind,
  params,
  target,
  at: '2s',
  duration: '20s',
});

const BAD_LASER = fault(
  'optic-error',
  { variant: 'constant', ber: 0.0011, cause: 'laser', badLanes: 1 },
  one('link', 'link:host-4/nic-0--leaf-2/p1'),
  'bad-laser',
);
const DIRTY = fault(
  'optic-error',
  { variant: 'ramped', fromBer: 0.000001, toBer: 0.0013, from: 'upper' },
  one('link', 'link:host-5/nic-0--leaf-2/p3'),
  'dirty-connector',
);
const INCAST = fault(
  'incast',
  { variant: 'burst', senders: 3, rate: '150Gbps' },
  one('nic', 'nic:host-2/nic-0'),
);
const SLOW_LINK = fault(
  'speed-downgrade',
  { variant: 'renegotiated' },
  one('link', 'link:leaf-1/p7--spine-1/p1'),
);

/** One of each setting that a fabric has, so that each is in an undo journal. */
const EVERY_SETTING = [
  BAD_LASER,
  INCAST,
  SLOW_LINK,
  fault('straggler', { variant: 'gpu', gpu: 0, slowdown: 2 }, one('device', 'device:host-5')),
  fault('slow-receiver', { variant: 'share', share: 0.1 }, one('nic', 'nic:host-6/nic-0')),
  fault('ecn-misconfig', { variant: 'too-low' }, one('device', 'device:leaf-1')),
  fault('pfc-misconfig', { variant: 'alpha', alpha: 0.001 }, one('device', 'device:leaf-1')),
  fault('ecmp-collision', { variant: 'low-entropy' }, one('device', 'device:leaf-2')),
  fault('pause-storm', { variant: 'continuous' }, one('nic', 'nic:host-4/nic-1')),
  fault('job-migration', { variant: 'planned' }, one('device', 'device:host-3')),
  fault('link-down', { variant: 'admin' }, one('link', 'link:leaf-1/p8--spine-2/p1'), 'shut'),
  fault('link-down', { variant: 'one-way' }, one('link', 'link:leaf-2/p8--spine-2/p2'), 'one-way'),
  fault('link-down', { variant: 'cut' }, one('link', 'link:host-6/nic-1--leaf-2/p6'), 'cut'),
  fault('link-down', { variant: 'node' }, one('device', 'device:spine-2'), 'dead'),
];

export const EXPERIMENTS = [
  experiment('passes', 'small', { objectives: ['recovery.recovered == 1'] }),
  experiment('fails', 'small', { objectives: ['recovery.time_to_recover_s < 0'] }),
  experiment('tells-nothing', 'small', {
    faults: [{ kind: 'none', at: '3s', duration: '3s' }],
    objectives: ['explainability.top1 == 1'],
  }),
  experiment('stays-in-place', 'stuck', { objectives: ['recovery.recovered == 1'] }),
  experiment('loses-its-worker', 'held'),
  experiment('every-setting', 'bent', { duration: '30s', faults: EVERY_SETTING }),
  experiment('polarised', 'bent-tree', {
    faults: [fault('ecmp-collision', { variant: 'polarised', seed: 5 }, { type: 'device', mode: 'all' })],
  }),
  experiment('paced', 'bent-paced', { duration: '60s', faults: [BAD_LASER, DIRTY, INCAST, SLOW_LINK] }),
  experiment('real', 'lab', {
    faults: [{ ...cut, target: { type: 'link', tier: 'leaf-spine', mode: 'one' } }],
  }),
];

/**
 * What stands on a bent fabric before a drill turns the same setting, as if a person had left it so: the undo journal then
 * holds values that are not those of a healthy fabric. Undefined for settings that are one thing or the other.
 */
export function leftBefore(impairment) {
  switch (impairment.type) {
    case 'bit-errors':
      return { ...impairment, bitErrorRatio: 2.5e-5, laneShare: 0.25 };
    case 'traffic':
      return { ...impairment, rateGbps: 1.5, bytesPerSender: 9e12, queuePairs: 2 };
    case 'link-rate':
      return { ...impairment, rateGbps: 200 };
    case 'compute-slowdown':
      return { ...impairment, factor: 1.25 };
    case 'nic-host-rate':
      return { ...impairment, rateGbps: 300 };
    case 'ecn-marking':
      return { ...impairment, kminBytes: 1e6, kmaxBytes: 4e6, pmax: 0.1 };
    case 'pfc-buffer':
      return { ...impairment, pfc: true, headroomBytes: 1e5, freeShare: 0.0625 };
    case 'hash-seed':
      return { ...impairment, seed: 77 };
  }
  return undefined;
}

export const GATE = {
  suite: document('Suite', 'upgrade', {
    experiments: ['passes'],
    seeds: 5,
    objectives: [{ metric: 'training.step_time_s', margin: '5%' }],
  }),
  baseline: 'small',
  candidate: 'small',
};

const hypothesis = { statement: 'Traffic moves to the other spine.', expect: ['recovery.recovered == 1'] };
const stage = (name, more = {}) => ({ name, experiments: [{ experiment: 'passes', hypothesis }], ...more });
const day = (name, stages, spec = {}) =>
  document('GameDay', name, { roles: [{ role: 'leads', people: ['ada'] }], stages, ...spec });

export const GAME_DAYS = {
  ended: [day('autumn', [stage('warm-up'), stage('again', { pause: 'Was the warm-up understood?' })])],
  waiting: [day('winter', [stage('warm-up'), stage('again', { pause: 'Is everybody back?' })])],
  blind: [
    day('dark', [{ name: 'first', experiments: [{ experiment: 'secret', hypothesis }] }], { blind: true }),
    experiment('secret', 'small'),
  ],
  real: [
    day('on-the-lab', [{ name: 'first', experiments: [{ experiment: 'real', hypothesis }] }]),
    experiment('real', 'lab', {
      faults: [{ ...cut, target: { type: 'link', tier: 'leaf-spine', mode: 'one' } }],
    }),
    LAB,
  ],
};

/** On the last day of February of a leap year, so that no clock meets it by chance. */
const RARELY = { cron: '0 4 29 2 *', timeZone: 'Asia/Tokyo' };

export const SCHEDULES = {
  rare: [document('Schedule', 'rare', { experimentRef: 'passes', ...RARELY })],
  suspended: [document('Schedule', 'suspended', { experimentRef: 'passes', suspend: true, ...RARELY })],
  real: [document('Schedule', 'real', { experimentRef: 'real', fabric: 'lab', ...RARELY })],
  realDay: [document('Schedule', 'real-day', { gameDayRef: 'on-the-lab', ...RARELY }), ...GAME_DAYS.real],
};
/** @param minute local date and time, as `once` takes it */
export const onceAt = (minute) => [
  document('Schedule', 'once', { experimentRef: 'passes', once: minute, timeZone: 'UTC' }),
];
