/**
 * Settings of a switch that decide who gets through: its hash seed, its marking curve, its pause thresholds.
 *
 * A switch that was never touched marks and pauses as the fabric's settings say for its ports, which reads as
 * `by port speed` and `as the fabric`. Where several impairments turn one setting, the last of them holds.
 */
import type { FlowSimulator } from '../../simulator/flow-simulator.js';
import type { Impairment } from '../../fabric-api/impairment.js';
import { described, type Control } from './control.js';
import { switchOf } from '../../fabric-api/lookups.js';

type Of<Type extends Impairment['type']> = Extract<Impairment, { type: Type }>;

type Curve = Pick<Of<'ecn-marking'>, 'kminBytes' | 'kmaxBytes' | 'pmax'>;
type Buffer = Pick<Of<'pfc-buffer'>, 'pfc' | 'headroomBytes' | 'freeShare'>;

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
  return {
    element: id,
    setting: 'hash-seed',
    healthy: String(simulator.hashSeed(device)),
    impaired: String(seed),
    read: () => String(simulator.hashSeed(device)),
    write: (value) => simulator.setHashSeed(device, Number(value)),
    accepts: (value) => /^\d{1,10}$/.test(value) && Number(value) <= 0xffffffff,
    worse: (_, last) => last,
  };
}

function markingControl(simulator: FlowSimulator, impairment: Of<'ecn-marking'>): Control {
  const device = switchOf(simulator.topology, impairment.device, 'queues that mark');
  const { kminBytes, kmaxBytes, pmax } = impairment;
  return described<Curve>(
    { element: impairment.device, setting: 'ecn', untouched: 'by port speed' },
    { kminBytes, kmaxBytes, pmax },
    {
      text: (curve) => `kmin ${curve.kminBytes}B, kmax ${curve.kmaxBytes}B, pmax ${curve.pmax}`,
      parse: (text) => {
        const [, kmin, kmax, share] = /^kmin (\S+)B, kmax (\S+)B, pmax (\S+)$/.exec(text) ?? [];
        const curve = { kminBytes: Number(kmin), kmaxBytes: Number(kmax), pmax: Number(share) };
        const sound = curve.kminBytes > 0 && curve.kmaxBytes >= curve.kminBytes;
        return sound && curve.pmax >= 0 && curve.pmax <= 1 ? curve : undefined;
      },
    },
    { read: () => simulator.marking(device), set: (curve) => simulator.setMarking(device, curve) },
  );
}

function bufferControl(simulator: FlowSimulator, impairment: Of<'pfc-buffer'>): Control {
  const device = switchOf(simulator.topology, impairment.device, 'buffer for lossless classes');
  const { pfc, headroomBytes, freeShare } = impairment;
  return described<Buffer>(
    { element: impairment.device, setting: 'pfc', untouched: 'as the fabric' },
    { pfc, headroomBytes, freeShare },
    {
      text: (buffer) =>
        [
          buffer.pfc ? 'on' : 'off',
          ...(buffer.headroomBytes === undefined ? [] : [`headroom ${buffer.headroomBytes}B`]),
          ...(buffer.freeShare === undefined ? [] : [`alpha ${buffer.freeShare}`]),
        ].join(', '),
      parse: bufferOf,
    },
    { read: () => simulator.pfc(device), set: (buffer) => simulator.setPfc(device, buffer) },
  );
}

function bufferOf(text: string): Buffer | undefined {
  const match = /^(on|off)(?:, headroom (\S+)B)?(?:, alpha (\S+))?$/.exec(text);
  if (match === null) return undefined;
  const [, state, headroom, alpha] = match;
  const sound =
    (headroom === undefined || Number(headroom) >= 0) && (alpha === undefined || Number(alpha) > 0);
  if (!sound) return undefined;
  return {
    pfc: state === 'on',
    ...(headroom === undefined ? {} : { headroomBytes: Number(headroom) }),
    ...(alpha === undefined ? {} : { freeShare: Number(alpha) }),
  };
}
