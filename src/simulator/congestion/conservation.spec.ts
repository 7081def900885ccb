/**
 * The law of bytes: at every poll, on every link and in every switch, what comes in goes out, waits or is dropped.
 *
 * Told from counters alone, on a small fabric, whatever breaks and whatever congestion control it has.
 */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Conservation } from '../../../test/support/conservation.js';
import { flowSimulator, nicOf } from '../../../test/support/simulated-fabric.js';
import type { FlowSimulator } from '../flow-simulator.js';

const HOSTS = 4;
const POLL_NS = 5e7;
const POLLS = 6;

const job = {
  name: 'llm',
  gpus: HOSTS,
  queuePairs: 2,
  step: {
    compute: '20ms',
    collectives: [
      { collective: 'all-reduce', parallelism: 'data', bytes: '800MB' },
      { collective: 'all-to-all', parallelism: 'data', bytes: '400MB' },
    ],
  },
};

const CONTROLS = {
  'congestion control and pause': {},
  'pause alone': { dcqcn: { on: false } },
  'congestion control alone': { pfc: { on: false } },
  neither: { dcqcn: { on: false }, pfc: { on: false } },
  'too little headroom': { dcqcn: { on: false }, pfc: { headroom: '4KB' } },
  'a class without pause': { dcqcn: { cnpPriority: 4 }, pfc: { priorities: [3] } },
};

/** One thing that happens, between two polls or at one. */
interface Event {
  atNs: number;
  what: string;
  host: number;
  amount: number;
}

interface Scene {
  settings: object;
  events: Event[];
}

const FAULTS: Record<string, (simulator: FlowSimulator, event: Event) => void> = {
  load: (simulator, { host, amount }) =>
    simulator.injectTraffic(`load-${host}`, {
      fromNics: [1, 2, 3].map((step) => nicOf(simulator, `host-${((host + step) % HOSTS) + 1}/nic-0`)),
      toNic: nicOf(simulator, `host-${host + 1}/nic-0`),
      rateGbps: 100 + 300 * amount,
      bytesPerSender: amount < 0.5 ? 1e8 : undefined,
      priority: amount < 0.3 ? 4 : 3,
      queuePairs: 2,
    }),
  relief: (simulator, { host }) => simulator.removeTraffic(`load-${host}`),
  storm: (simulator, { host }) =>
    simulator.setPauseStorm(nicOf(simulator, `host-${host + 1}/nic-0`), 3, true),
  calm: (simulator, { host }) =>
    simulator.setPauseStorm(nicOf(simulator, `host-${host + 1}/nic-0`), 3, false),
  slow: (simulator, { host, amount }) =>
    simulator.setHostRate(nicOf(simulator, `host-${host + 1}/nic-0`), 20 + 300 * amount, 'receive'),
  cut: (simulator, { host, amount }) => simulator.setCut(HOSTS + host, amount < 0.6),
  shut: (simulator, { host, amount }) =>
    simulator.setPortAdmin(simulator.topology.links[HOSTS + host].portA, amount > 0.6),
  hole: (simulator, { host, amount }) => simulator.setBlackhole(2 * (HOSTS + host), amount < 0.6),
  rate: (simulator, { host, amount }) => simulator.setLinkRate(host, amount > 0.6 ? 400 : 50),
  lossy: (simulator, { host, amount }) =>
    simulator.setPfc(simulator.topology.ports[simulator.topology.links[host].portB].device, {
      pfc: amount > 0.6,
    }),
  optic: (simulator, { host, amount }) =>
    simulator.setSignal(2 * host + Number(amount > 0.5), {
      // Not so bad that the link drops.
      bitErrorRatio: 7e-4 + 4e-4 * amount,
      laneShare: 1,
      cause: 'connector',
    }),
};

const sceneArbitrary = (settings: object): fc.Arbitrary<Scene> =>
  fc.record({
    settings: fc.constant(settings),
    events: fc.array(
      fc.record({
        atNs: fc.integer({ min: 0, max: 2 * POLLS }).map((half) => (half * POLL_NS) / 2),
        what: fc.constantFrom(...Object.keys(FAULTS)),
        host: fc.integer({ min: 0, max: HOSTS - 1 }),
        amount: fc.double({ min: 0, max: 1, noNaN: true }),
      }),
      { minLength: 1, maxLength: 6 },
    ),
  });

function run({ settings, events }: Scene): FlowSimulator {
  const simulator = flowSimulator({
    topology: { builder: 'leaf-spine', leaves: 2, spines: 2, hostsPerLeaf: 2, gpusPerHost: 1 },
    settings: { ...settings, pfc: { priorities: [3, 4], ...(settings as { pfc?: object }).pfc } },
    jobs: [job],
    telemetry: { pollSpread: '0s', switchInterval: '50ms', nicInterval: '50ms', jobInterval: '50ms' },
  });
  simulator.startJobs();
  for (const event of [...events].sort((one, other) => one.atNs - other.atNs)) {
    simulator.advance(event.atNs);
    FAULTS[event.what](simulator, event);
  }
  simulator.advance(POLLS * POLL_NS);
  return simulator;
}

/** Links of which some may lose what nobody counts. */
const MAY_LOSE = new Set(Array.from({ length: HOSTS }, (_, index) => HOSTS + index));

describe.each(Object.entries(CONTROLS))('bytes with %s', (name, settings) => {
  it('are conserved at every poll, whatever happens', () => {
    fc.assert(
      fc.property(sceneArbitrary(settings), (scene) => {
        const had = (...kinds: string[]): boolean => scene.events.some(({ what }) => kinds.includes(what));
        const broken = had('cut', 'shut', 'hole');
        const drops = broken || had('lossy') || !/pause alone|and pause/.test(name);
        const conservation = new Conservation(run(scene), drops, had('optic'));
        expect(conservation.imbalances(broken ? MAY_LOSE : undefined)).toEqual([]);
      }),
      { numRuns: 4 },
    );
  });
});
