/**
 * A lab as its jobs see it: hosts by address and namespace, and the kernels' word on ways and links.
 */
import { tracePaths } from '../lab/paths.js';
import type { Lab } from '../lab/lab.js';
import type { Topology } from '../../../model/topology/model.js';
import type { Place } from '../transport/place.js';
import type { UndoSpot } from '../undo/timers.js';
import type { TracePaths } from './connections.js';

/** What jobs need of a lab. */
export interface JobLab {
  topology: Topology;
  /** For run files of jobs. */
  jobsFolder: string;
  placeOf(host: number): Place;
  addressOf(host: number): string;
  trace: TracePaths;
  /** Whether the host's NIC has a link. */
  hasLink(host: number): Promise<boolean>;
  /** Where an undo timer for the host waits. */
  spotOf(host: number): UndoSpot;
}

interface LinkRow {
  flags: string[];
}

export function jobLabOf(lab: Lab): JobLab {
  return {
    topology: lab.topology,
    jobsFolder: lab.jobsFolder,
    placeOf: (host) => lab.nodes[host].place,
    spotOf: (host) => lab.nodes[host],
    addressOf: (host) => lab.hostAddress(host),
    trace: (flows) => tracePaths(lab, flows),
    hasLink: async (host) => {
      const port = lab.hostPort(host);
      const command = ['ip', '-j', 'link', 'show', 'dev', port.interface];
      const { stdout, code } = await lab.nodes[host].place.run(command, { anyExit: true });
      if (code !== 0) return false;
      const [row] = JSON.parse(stdout) as LinkRow[];
      return row.flags.includes('UP') && row.flags.includes('LOWER_UP');
    },
  };
}
