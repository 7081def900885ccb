/** CLOCK_MONOTONIC in ns: one clock for all namespaces of a machine, never set back. */
export const monotonicNs = (): number => Number(process.hrtime.bigint());
