/**
 * The baseline of chance: any link, NIC or device, any kind, without a look at the evidence.
 *
 * What beats it by little has learned little. It never says "no fault", so that it is as good as chance can be at faults.
 */
import { deviceId, nicId } from '../../../src/core/elements.js';
import { CULPRIT_KINDS, type ElementRef } from '../../../src/model/telemetry/vocabulary.js';
import { pick } from '../corpus/draw.js';
import type { Baseline } from './answer.js';

export const chance: Baseline = ({ topology }, random) => {
  const elements: ElementRef[] = [
    ...topology.links.map(({ id }): ElementRef => ({ type: 'link', id })),
    ...topology.nics.map(({ name }): ElementRef => ({ type: 'nic', id: nicId(name) })),
    ...topology.devices.map(({ name }): ElementRef => ({ type: 'device', id: deviceId(name) })),
  ];
  return [
    { kind: pick(random, CULPRIT_KINDS), element: pick(random, elements), probability: 1 / elements.length },
  ];
};
