/**
 * When in a round which devices are asked: in a quiet world collectors take turns, in others each device has its instant.
 */
import type { Device } from '../../model/topology/model.js';
import type { PollNoise } from '../noise/poll-noise.js';

/** Collectors among which the devices of a round are dealt out. */
const COLLECTORS = 4;
const QUIET_SPREAD_NS = 20e6;

/**
 * @param spreadNs as the file states it
 * @returns devices by phase, ns
 */
export function roundPhases(
  devices: readonly Device[],
  intervalNs: number,
  spreadNs: number | undefined,
  noise: PollNoise | undefined,
): Map<number, Int32Array> {
  const collectors = Math.min(spreadNs ?? QUIET_SPREAD_NS, intervalNs / 2);
  const phaseOf = ({ index }: Device, place: number): number => {
    const share = noise?.phaseOf(index);
    if (share !== undefined) return share * (spreadNs === undefined ? intervalNs : collectors);
    return (collectors * (place % COLLECTORS)) / COLLECTORS;
  };
  const byPhase = new Map<number, number[]>();
  devices.forEach((device, place) => {
    const phaseNs = Math.round(phaseOf(device, place));
    const own = byPhase.get(phaseNs);
    if (own === undefined) byPhase.set(phaseNs, [device.index]);
    else own.push(device.index);
  });
  return new Map([...byPhase].map(([phaseNs, own]) => [phaseNs, Int32Array.from(own)]));
}
