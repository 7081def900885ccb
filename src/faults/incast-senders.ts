/**
 * Who sends in an incast, and how much: drawn by the seed, refused beyond what hosts and ports can do.
 */
import { InputError } from '../core/problem.js';
import { formatRateGbps } from '../core/units.js';
import type { Prng } from '../core/prng.js';
import type { Nic, Topology } from '../model/topology/model.js';
import type { FaultContext } from './fault.js';
import { portsRateGbps } from './parts.js';

/**
 * A NIC of each of so many hosts, in the topology's order: the one of the receiver's position, else any.
 * @throws InputError naming how many hosts there are
 */
export function drawSenders(
  { senders, from }: { senders: number; from: 'any' | 'idle' },
  receiver: Nic,
  { topology, jobs }: FaultContext,
  random: Prng,
): Nic[] {
  const busy = new Set(jobs.flatMap((job) => [...job.placement].map((gpu) => topology.gpus[gpu].host)));
  const nicsByHost = new Map<number, Nic[]>();
  for (const nic of topology.nics) {
    if (nic.host === receiver.host || (from === 'idle' && busy.has(nic.host))) continue;
    nicsByHost.set(nic.host, [...(nicsByHost.get(nic.host) ?? []), nic]);
  }
  const hosts = [...nicsByHost.values()];
  if (senders > hosts.length) {
    const which = from === 'idle' ? 'without a rank of any job' : `besides that of ${receiver.name}`;
    throw InputError.at(
      '/params/senders',
      `${senders} senders are more than the hosts there are ${which}: ${hosts.length}`,
      hosts.length < 2 && from === 'idle'
        ? 'write from: any, or a fabric with spare hosts'
        : `at most ${hosts.length} senders`,
    );
  }
  const chosen = random.shuffle(hosts).slice(0, senders);
  return chosen
    .map(
      (nics) =>
        nics.find(({ position }) => position === receiver.position) ?? nics[random.below(nics.length)],
    )
    .sort((a, b) => a.index - b.index);
}

/**
 * What each sender offers, Gbps.
 * @throws InputError when a NIC can't send that much, or all of it together fits the receiver's port
 */
export function offeredGbps(
  { rate, senders: count }: { rate?: number; senders: number },
  senders: readonly Nic[],
  receiver: Nic,
  topology: Topology,
): number {
  const slowest = senders.reduce((least, nic) =>
    portsRateGbps(nic, topology) < portsRateGbps(least, topology) ? nic : least,
  );
  const mostGbps = portsRateGbps(slowest, topology);
  const offered = rate ?? mostGbps;
  if (offered > mostGbps) {
    throw InputError.at(
      '/params/rate',
      `${formatRateGbps(offered)} is more than the ${formatRateGbps(mostGbps)} that ${slowest.name} can send`,
      `give at most ${formatRateGbps(mostGbps)}`,
    );
  }
  const portGbps = portsRateGbps(receiver, topology);
  if (count * offered > portGbps) return offered;
  throw InputError.at(
    rate === undefined ? '/params/senders' : '/params/rate',
    `${count} senders of ${formatRateGbps(offered)} offer no more than the ${formatRateGbps(portGbps)} that ${receiver.name} takes: nothing would queue`,
    `take more senders, or more than ${formatRateGbps(Number((portGbps / count).toPrecision(4)))} each`,
  );
}
