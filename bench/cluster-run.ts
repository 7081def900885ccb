/**
 * One run of a cluster in a process of its own, so that its memory is its own: case in as an argument, cost out as JSON.
 */
import { runCluster, type ClusterCase } from './cluster-case.js';

const cost = await runCluster(JSON.parse(process.argv[2]) as ClusterCase);
process.stdout.write(JSON.stringify(cost));
