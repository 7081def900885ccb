/**
 * How long a queue pair of the fabric file waits for an acknowledgement: lab transports keep to it where TCP lets them.
 *
 * InfiniBand Architecture Specification, local ACK timeout: 4.096 µs × 2^T.
 */
const UNIT_NS = 4096;

export const ackTimeoutNs = (settings: { ackTimeoutExponent: number }): number =>
  UNIT_NS * 2 ** settings.ackTimeoutExponent;
