/**
 * Where each hypothesis puts the cause, and the next safe step: one that takes nothing away that still works.
 */
import type { Hypothesis } from './likelihoods.js';
import type { Area } from './verdict.js';

interface Advice {
  area: Area;
  next: string;
}

const network = (next: string): Advice => ({ area: 'network', next });
const host = (next: string): Advice => ({ area: 'host', next });

const CABLE = 'look at the cable, its connectors and the modules at both ends; swap one at a time';
const LINK = 'compare port, module and cable at both ends before anything is swapped';
const DRAIN_LINK = 'take the link out of routing while other ways have room, then look at';

export const ADVICE: Readonly<Record<Hypothesis, Advice>> = {
  'link-down/cable': network(CABLE),
  'link-down/configuration': network('ask who shut the port down, and enable it when they agree'),
  'link-down/unknown': network(LINK),
  'link-down/host': host('look at the NIC and its host: reseat, or drain the host'),
  'link-flap/cable': network(`${DRAIN_LINK} its cable and modules`),
  'link-flap/configuration': network('ask who or what shuts the port down again and again'),
  'link-flap/unknown': network(`${DRAIN_LINK} its ports and modules`),
  'one-way-loss/unknown': network(`${DRAIN_LINK} the port that sends and the one that receives`),
  'node-down/device': network('look at the console and the power of the device; traffic has left it already'),
  'speed-downgrade/cable': network(CABLE),
  'speed-downgrade/unknown': network('compare the speed settings of both ports'),
  'speed-downgrade/device': network('compare the settings of the device with those of its peers'),
  'speed-downgrade/host': host('drain the host, then look at its PCIe slots (width, speed, errors)'),
  'straggler/host': host('drain the host, then look at GPU clocks, temperatures and throttle reasons'),
  'job-migration/configuration': { area: 'job', next: 'ask the scheduler who drained the host, and why' },
  'job-migration/unknown': { area: 'job', next: 'ask the scheduler why the ranks left the host' },
  'slow-receiver/host': host('drain the host, then look at what keeps it from taking data'),
  'pause-storm/host': host('drain the host, then look at its NIC; let the pause watchdog act meanwhile'),
  'pause-deadlock/configuration': network('break the circle: find the route that leads down and up again'),
  'incast/unknown': network('ask the senders to send less at once, or move them to a class of their own'),
  'ecmp-collision/configuration': network('compare the hash seeds of the tiers; change one tier at a time'),
  'ecmp-collision/unknown': network('spread the flows: more queue pairs, or other ways for the large ones'),
  'ecn-misconfig/configuration': network('compare the marking thresholds of the switch with its peers'),
  'pfc-misconfig/configuration': network('compare the PFC and buffer settings of the switch with its peers'),
  'stale-route/switch': network('have the switch program its routes anew, one prefix first'),
  'optic-error/cable': network(`${DRAIN_LINK} its cable: clean it, then replace it`),
  'optic-error/host': network(`${DRAIN_LINK} the module at the host`),
  'optic-error/switch': network(`${DRAIN_LINK} the module at the switch`),
  'optic-error/unknown': network(`${DRAIN_LINK} its modules and cable`),
};
