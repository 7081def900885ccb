/**
 * After a fault that left nothing behind, steps are as long as before, to the last digits, on links full of contention.
 */
import { expect, it } from '@jest/globals';
import { flowSimulator, nicOf, samplesOf, twoJobs } from '../../../test/support/simulated-fabric.js';
import type { FlowSimulator } from '../flow-simulator.js';

const FAULT_NS = 2e9;
const RELIEF_NS = 3.3e9;
const BACK_NS = 8e9;
const END_NS = 10e9;

const nic = (simulator: FlowSimulator): number => nicOf(simulator, 'host-1/nic-0');
const uplink = ({ topology }: FlowSimulator): number =>
  topology.links.findIndex(({ portA, portB }) =>
    [portA, portB].every((port) => topology.ports[port].nic < 0),
  );

const FAULTS: Record<string, (simulator: FlowSimulator, on: boolean) => void> = {
  'a cut': (simulator, on) => simulator.setCut(uplink(simulator), on),
  'a slow link': (simulator, on) => simulator.setLinkRate(uplink(simulator), on ? 100 : 400),
  'a bad optic': (simulator, on) =>
    simulator.setSignal(0, on ? { bitErrorRatio: 1e-3, laneShare: 1, cause: 'connector' } : undefined),
  'a pause storm': (simulator, on) => simulator.setPauseStorm(nic(simulator), 3, on),
  'a slow receiver': (simulator, on) => simulator.setHostRate(nic(simulator), on ? 100 : Infinity, 'receive'),
  'an incast': (simulator, on) => {
    if (!on) return simulator.removeTraffic('load');
    const fromNics = ['host-3/nic-0', 'host-5/nic-0'].map((name) => nicOf(simulator, name));
    simulator.injectTraffic('load', {
      fromNics,
      toNic: nic(simulator),
      rateGbps: 300,
      priority: 3,
      queuePairs: 2,
    });
  },
};

it.each(Object.entries(FAULTS))('%s leaves no trace in steps once it is over', (_, fault) => {
  const simulator = flowSimulator(twoJobs);
  simulator.startJobs();
  simulator.advance(FAULT_NS);
  fault(simulator, true);
  simulator.advance(RELIEF_NS);
  fault(simulator, false);
  simulator.advance(END_NS);
  const evidence = simulator.evidence(0, END_NS);
  for (const { name } of simulator.jobs) {
    const steps = samplesOf(evidence, 'job_step_time_s', `job:${name}`);
    const [before, after] = [
      steps.filter(([seconds]) => seconds < FAULT_NS / 1e9),
      steps.filter(([seconds]) => seconds > BACK_NS / 1e9),
    ];
    expect(after.length).toBeGreaterThan(2);
    for (const [, stepS] of after) expect(Math.abs(stepS / before.at(-1)![1] - 1)).toBeLessThan(1e-12);
  }
});
