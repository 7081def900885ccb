/**
 * Whether an undo timer would outlive us: inside a container it would end with the container's first process.
 *
 * `docker kill` takes along all processes of the container's pid namespace, a session of their own notwithstanding. The
 * machine's first pid namespace has a fixed number in the kernel (include/linux/proc_ns.h, PROC_PID_INIT_INO).
 */
import { readlinkSync } from 'node:fs';
import { EnvironmentError } from '../../../core/problem.js';

const FIRST_PID_NAMESPACE = 'pid:[4026531836]';

/** @throws EnvironmentError inside a container that has a pid namespace of its own */
export function requireUndoOutlivesUs(pidNamespace = readlinkSync('/proc/self/ns/pid')): void {
  if (pidNamespace === FIRST_PID_NAMESPACE) return;
  throw new EnvironmentError(
    'this process runs in a container, and an undo timer would end with it, fault in place',
    'run fabricdrill on the host, or start the container with --pid=host',
  );
}
