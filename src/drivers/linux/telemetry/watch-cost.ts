/**
 * What watching costs: CPU time of the processes that answer and of this one, from /proc (proc_pid_stat(5), fields 14, 15).
 */
import { readFileSync } from 'node:fs';

/** Linux counts CPU time for user space in ticks of 10 ms (USER_HZ). */
const MS_PER_TICK = 10;

/** CPU time that processes have used, ms; those that are gone count 0. */
export function cpuMsOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + cpuMs(pid), 0);
}

function cpuMs(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return MS_PER_TICK * (Number(fields[11]) + Number(fields[12]));
  } catch {
    return 0;
  }
}
