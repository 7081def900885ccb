/**
 * The host ends that links name, turned into NICs and ports.
 *
 * A description does not list NICs; it names them where they are plugged in. This collects the names, checks that
 * they make sense together (no gaps, no NIC that is both single- and dual-port), and gives each its port name.
 */
import { listChoices } from '../../../core/nearest.js';
import type { InputIssue } from '../../../core/problem.js';
import type { Attachment } from '../infer.js';

/** A NIC's named ports; 'whole' is the NIC named without a port. */
type NicEnds = Set<'whole' | 0 | 1>;

export class HostEnds {
  private readonly nicsOf = new Map<string, Map<number, NicEnds>>();

  constructor(hosts: readonly string[]) {
    for (const host of hosts) this.nicsOf.set(host, new Map());
  }

  /** Notes an end if it belongs to a host; ends of switches are left alone. */
  add(end: string, pointer: string, issues: InputIssue[]): void {
    const nics = this.nicsOf.get(end.split('/')[0]);
    if (nics === undefined) return;
    const parsed = parseHostEnd(end);
    if (parsed === undefined) {
      const message = `"${end}" is no host end; write ${end.split('/')[0]}/nic-N or …/nic-N/p0 and …/nic-N/p1`;
      issues.push({ pointer, message });
      return;
    }
    const ends: NicEnds = nics.get(parsed.position) ?? new Set();
    nics.set(parsed.position, ends);
    if (ends.has(parsed.port)) issues.push({ pointer, message: `port ${end} has a link already` });
    ends.add(parsed.port);
  }

  /** Reports gaps and contradictions once all ends are known. */
  check(issues: InputIssue[]): void {
    for (const [host, nics] of this.nicsOf) {
      const missing = Array.from({ length: nics.size }, (_, position) => position).filter(
        (position) => !nics.has(position),
      );
      if (missing.length > 0) {
        const known = listChoices([...nics.keys()].sort((a, b) => a - b).map((nic) => `nic-${nic}`));
        issues.push({
          pointer: '',
          message: `${host} has ${known} but no nic-${missing[0]}; count from nic-0`,
        });
      }
      for (const [position, ends] of nics) {
        const name = `${host}/nic-${position}`;
        if (ends.has('whole') && ends.size > 1) {
          issues.push({ pointer: '', message: `${name} is named both with and without a port` });
        }
        if (ends.has(1) && !ends.has(0)) {
          issues.push({ pointer: '', message: `${name} has p1 but no p0; count from p0` });
        }
      }
    }
  }

  /** Ports of each NIC of a host, in order. */
  nicPortsOf(host: string): number[] {
    const nics = this.nicsOf.get(host) ?? new Map<number, NicEnds>();
    return [...nics].sort(([a], [b]) => a - b).map(([, ends]) => ends.size);
  }

  nicPortsOfFirst(): number[] {
    const [first] = this.nicsOf.keys();
    return first === undefined ? [] : this.nicPortsOf(first);
  }

  /** The port's full name for a host end; a switch's end unchanged. */
  portName(end: string): string {
    const host = end.split('/')[0];
    const parsed = this.nicsOf.has(host) ? parseHostEnd(end) : undefined;
    if (parsed === undefined) return end;
    const nic = `${host}/nic-${parsed.position}`;
    const dual = this.nicsOf.get(host)?.get(parsed.position)?.size === 2;
    return dual ? `${nic}/p${parsed.port}` : nic;
  }

  /** How a host end sits in its host, for inference; undefined for a switch's end. */
  attachment(end: string): Attachment | undefined {
    const nics = this.nicsOf.get(end.split('/')[0]);
    const parsed = nics === undefined ? undefined : parseHostEnd(end);
    if (nics === undefined || parsed === undefined) return undefined;
    return {
      position: parsed.position,
      nicsInHost: nics.size,
      portNumber: parsed.port === 'whole' ? 0 : parsed.port,
      portsOfNic: nics.get(parsed.position)?.size ?? 1,
    };
  }
}

function parseHostEnd(end: string): { position: number; port: 'whole' | 0 | 1 } | undefined {
  const match = /^[^/]+(?:\/nic-(\d{1,3})(?:\/p([01]))?)?$/.exec(end);
  if (match === null) return undefined;
  const port = match[2] === undefined ? 'whole' : match[2] === '0' ? 0 : 1;
  return { position: Number(match[1] ?? 0), port };
}
