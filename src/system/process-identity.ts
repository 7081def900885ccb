/**
 * Which process is meant: a pid alone is not enough, the kernel gives it to somebody else later.
 *
 * An identity is the pid and the moment the process started (Linux: boot id and start ticks from /proc/PID/stat,
 * field 22 of proc(5); elsewhere the start time that ps prints). Two processes share one only within one pid
 * namespace: containers that share a home folder but not a pid namespace are not modelled.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** `PID-TOKEN`, safe as part of a file name (digits, letters and one dash). */
export type ProcessIdentity = string;

/** The identity of a process, or undefined when there is no such process or it is a zombie. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  const token = process.platform === 'linux' ? linuxStart(pid) : portableStart(pid);
  return token === undefined ? undefined : `${pid}-${token}`;
}

/** Whether exactly this process, not a later one with its pid, still runs. */
export function isRunning(identity: ProcessIdentity): boolean {
  const pid = Number(identity.slice(0, identity.indexOf('-')));
  return Number.isInteger(pid) && pid > 0 && identityOf(pid) === identity;
}

/** The identity of this process. */
export function ownIdentity(): ProcessIdentity {
  return identityOf(process.pid) ?? `${process.pid}-0`;
}

/** The arguments a process was started with, empty when it is gone. */
export function argumentsOf(pid: number): string {
  try {
    if (process.platform === 'linux') {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    }
    return ps(pid, 'command=');
  } catch {
    return '';
  }
}

function linuxStart(pid: number): string | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // The name in field 2 may hold spaces and brackets, so fields are counted from its closing bracket.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
  return `${bootToken()}${fields[19]}`;
}

let boot: string | undefined;
function bootToken(): string {
  if (boot === undefined) {
    try {
      boot = `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8)}t`;
    } catch {
      boot = 't';
    }
  }
  return boot;
}

function portableStart(pid: number): string | undefined {
  try {
    const [state, ...start] = ps(pid, 'state=,lstart=').split(/\s+/);
    if (state === '' || state.startsWith('Z')) return undefined;
    return createHash('sha256').update(start.join(' ')).digest('hex').slice(0, 12);
  } catch {
    return undefined;
  }
}

function ps(pid: number, columns: string): string {
  const args = ['-ww', '-o', columns, '-p', String(pid)];
  const output = execFileSync('/bin/ps', args, { stdio: ['ignore', 'pipe', 'ignore'], env: { LC_ALL: 'C' } });
  return output.toString('utf8').trim();
}
