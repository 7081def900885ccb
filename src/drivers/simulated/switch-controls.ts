/**
 * Settings of a switch that decide who gets through: its hash seed, its marking curve, its pause thresholds.
 *
 * A switch that was never touched marks and pauses as the fabric's settings say for its ports, which reads as `default`. Where
 * several impairments turn one setting, the last of them holds.
 */
import type { FlowSimulator } from '../../simulator/flow-simulator.js';
import type { Impairment } from '../../fabric-api/impairment.js';
import { bufferSchema, hashSeedSchema, markingSchema } from '../../fabric-api/setting.js';
import { described, type Control } from './control.js';
import { switchOf } from '../../fabric-api/lookups.js';

type Of<Type extends Impairment['type']> = Extract<Impairment, { type: Type }>;

/** As the fabric's settings say. */
const DEFAULT = 'default';

/** @throws InputError when the device is no switch of the fabric */
export function switchControl(
  simulator: FlowSimulator,
  impairment: Of<'hash-seed' | 'ecn-marking' | 'pfc-buffer'>,
): Control {
  switch (impairment.type) {
    case 'hash-seed':
      return hashControl(simulator, impairment);
    case 'ecn-marking':
      return markingControl(simulator, impairment);
    case 'pfc-buffer':
      return bufferControl(simulator, impairment);
  }
}

function hashControl(simulator: FlowSimulator, { device: id, seed }: Of<'hash-seed'>): Control {
  const device = switchOf(simulator.topology, id, 'ECMP hash of its own');
  return described(
    { element: id, setting: 'hash-seed' },
    { seed },
    {
      schema: hashSeedSchema,
      read: () => ({ seed: simulator.hashSeed(device) }),
      set: (value) => simulator.setHashSeed(device, value!.seed),
    },
  );
}

function markingControl(simulator: FlowSimulator, impairment: Of<'ecn-marking'>): Control {
  const device = switchOf(simulator.topology, impairment.device, 'queues that mark');
  const { kminBytes, kmaxBytes, pmax } = impairment;
  return described(
    { element: impairment.device, setting: 'ecn' },
    { kminBytes, kmaxBytes, pmax },
    {
      schema: markingSchema.refine((curve) => curve.kmaxBytes >= curve.kminBytes),
      untouched: DEFAULT,
      read: () => simulator.marking(device),
      set: (curve) => simulator.setMarking(device, curve),
    },
  );
}

function bufferControl(simulator: FlowSimulator, impairment: Of<'pfc-buffer'>): Control {
  const device = switchOf(simulator.topology, impairment.device, 'buffer for lossless classes');
  const { pfc, headroomBytes, freeShare } = impairment;
  return described(
    { element: impairment.device, setting: 'pfc' },
    { pfc, headroomBytes, freeShare },
    {
      schema: bufferSchema,
      untouched: DEFAULT,
      read: () => {
        const buffer = simulator.pfc(device);
        return buffer && { ...buffer };
      },
      set: (buffer) => simulator.setPfc(device, buffer),
    },
  );
}
