/** The fabric of a stored run as an operator knows it, without opening it. */
import { describeFabric } from '../../../drill/examine.js';
import { experimentFromStored, fabricAsRecorded, withJobs } from '../../../documents/stored.js';
import type { FabricDocument } from '../../../documents/fabric-document.js';
import type { Topology } from '../../../model/topology/model.js';
import type { Job } from '../../../model/workload/job.js';
import type { RunEntity } from '../../../store/runs/run.entity.js';

export interface RunFabric {
  document: FabricDocument;
  topology: Topology;
  jobs: Job[];
}

export function fabricOfRun(run: Pick<RunEntity, 'definition' | 'fabricDefinition'>): RunFabric {
  const document = withJobs(fabricAsRecorded(run.fabricDefinition), experimentFromStored(run.definition));
  return { document, ...describeFabric(document) };
}
