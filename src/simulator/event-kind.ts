/**
 * Kinds of events in the flow-level engine, and who handles them.
 */
export const EVENT = {
  /** Subject port: its operational state follows the carrier now. */
  portState: 0,
  /** Subject link: BFD (or BGP hold) between two switches changes state. */
  sessionState: 1,
  /** Subject port: the port's own device takes it out of, or back into, its FIB. */
  localRepair: 2,
  /** Subject device: power is back and the device has booted. */
  deviceBooted: 3,
  /** Subject wave: an announcement reaches the nodes of its next hop. */
  announcement: 4,
  /** Subject flow: its last byte is acknowledged but for the path latency. */
  flowTransferred: 5,
  /** Subject flow: its tail latency has passed. */
  flowDone: 6,
  /** Subject QP: its retransmission timer expires. */
  retransmission: 7,
  /** Subject job: it starts. */
  jobStart: 8,
  /** Subject job, detail operation: a computation ends. */
  computeDone: 9,
  /** Subject job, detail operation: a collective without bytes ends. */
  emptyCollective: 11,
  /** Subject direction: its receiver loses its alignment, or finds it again. */
  alignment: 12,
  /** Subject job: its checkpoint is written. */
  checkpointDone: 30,
  /** Subject job: the next phase of its restart. */
  jobRestart: 31,
  /** Subject direction, detail class: a pause watchdog has waited long enough. */
  watchdog: 20,
  /** Subject job: its peers give up on a dead host. */
  jobLost: 10,
  /** Subject an event that nobody injected: it begins, or with detail 1 ends. */
  background: 40,
  /** Subject hour: what is drawn for it is due. */
  hour: 41,
} as const;
