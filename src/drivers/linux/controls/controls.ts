/**
 * Impairments as settings of Linux network stacks: which knobs an impairment turns, and what it costs in realism.
 *
 * A cut is both ends shut down and a lower speed both token buckets, since a veth has no cable to pull and nothing to
 * negotiate. What a kernel has not (PFC, ECN thresholds, FEC, power) is no capability, so that a plan refuses it.
 */
import type { Impairment, ImpairmentType } from '../../../fabric-api/impairment.js';
import { deviceOf, endOf, linkOf, lowerRate, nicOf } from '../../../fabric-api/lookups.js';
import { InputError } from '../../../core/problem.js';
import { frameLossRatio } from '../../../model/telemetry/fec.js';
import { FRAME_BYTES, type Lab } from '../lab/lab.js';
import { trafficKnob } from '../traffic/traffic-knob.js';
import type { Knob } from './knob.js';
import { adminKnob, blackholeKnob, damageKnob, rateKnob } from './port-knobs.js';
import { drainKnob, moveKnob, slowdownKnob, type Scheduler } from './scheduler-knobs.js';

export const LINUX_CAPABILITIES: ReadonlyMap<ImpairmentType, string> = new Map<ImpairmentType, string>([
  ['link-admin-down', ''],
  ['link-cut', 'both ends are shut down: a veth has no cable, so the ports show it as configuration'],
  ['blackhole', ''],
  ['link-rate', 'the token buckets of both ends, without the moment of renegotiation'],
  [
    'bit-errors',
    'frames are lost at random as often as RS(544,514) would lose them; no optical sensors, no FEC counters',
  ],
  ['traffic', 'TCP connections of programs on the hosts, of one class'],
  ['compute-slowdown', 'the lab’s own ranks compute longer'],
  ['host-drain', 'the scheduler of the lab’s own jobs'],
  ['job-move', 'the scheduler of the lab’s own jobs: processes end and begin on another host'],
]);

export interface ControlContext {
  lab: Lab;
  scheduler: Scheduler;
  /** The longest that processes of an impairment may live by themselves, s. */
  leaseS: number;
  /** What the fabric says that it can. */
  capabilities: ReadonlyMap<ImpairmentType, string>;
}

/** @throws InputError when the impairment names what isn't there, doesn't belong together, or can't be done here */
export function knobsOf(impairment: Impairment, context: ControlContext): Knob[] {
  const { lab, scheduler, capabilities } = context;
  const { topology } = lab;
  if (!capabilities.has(impairment.type)) throw unsupported(impairment, context);
  switch (impairment.type) {
    case 'link-admin-down': {
      const port = endOf(topology, linkOf(topology, impairment.link), impairment.port, '/port');
      return [adminKnob(lab, lab.ports[port])];
    }
    case 'link-cut': {
      const { portA, portB } = linkOf(topology, impairment.link);
      return [adminKnob(lab, lab.ports[portA]), adminKnob(lab, lab.ports[portB])];
    }
    case 'blackhole': {
      const port = endOf(topology, linkOf(topology, impairment.link), impairment.fromPort, '/fromPort');
      return [blackholeKnob(lab, lab.ports[port])];
    }
    case 'bit-errors': {
      const port = endOf(topology, linkOf(topology, impairment.link), impairment.fromPort, '/fromPort');
      const ratio = impairment.bitErrorRatio * impairment.laneShare;
      return [damageKnob(lab, lab.ports[port], frameLossRatio(ratio, lab.mtuBytes + FRAME_BYTES))];
    }
    case 'link-rate': {
      const { portA, portB, rateGbps } = linkOf(topology, impairment.link);
      const wanted = lowerRate(impairment.rateGbps, rateGbps, impairment.link);
      return [rateKnob(lab, lab.ports[portA], wanted), rateKnob(lab, lab.ports[portB], wanted)];
    }
    case 'traffic':
      return [trafficKnob(lab, impairment, context.leaseS)];
    case 'compute-slowdown':
      return [slowdownKnob(impairment, lab, scheduler)];
    case 'host-drain':
      return [drainKnob(impairment, lab, scheduler)];
    case 'job-move':
      return [moveKnob(impairment, lab, scheduler)];
    default:
      throw unsupported(impairment, context);
  }
}

/** Names that are wrong are told first: they would be wrong on any fabric. */
function unsupported(
  impairment: Impairment,
  { lab: { name, topology }, capabilities }: ControlContext,
): InputError {
  if ('device' in impairment) deviceOf(topology, impairment.device);
  if ('nic' in impairment) nicOf(topology, impairment.nic);
  return InputError.at(
    '/type',
    `the fabric "${name}" (linux) can't apply ${impairment.type}`,
    `it can apply ${[...capabilities.keys()].join(', ')}`,
  );
}
