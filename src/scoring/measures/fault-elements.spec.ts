/** Which ports an element stands for, and on which elements and series a fault may show. */
import { describe, expect, it } from '@jest/globals';
import { deviceId, edgeId, jobId, nicId, portId, queueId, rankId } from '../../core/elements.js';
import { EvidenceIndex } from '../../model/telemetry/series.js';
import { buildTopology, topologySchema } from '../../model/topology/topology-spec.js';
import {
  EvidenceWriter,
  jobs,
  LEAF_PORT,
  LINK,
  SPINE_PORT,
  topology,
  truth,
} from '../testing/synthetic-drill.js';
import { faultElements, portsOfElement, portsOfEntry, seriesOn, symptomElements } from './fault-elements.js';

const names = (ports: readonly number[]): string[] => ports.map((port) => topology.ports[port].name).sort();
const leaf = topology.devices.find(({ name }) => name === 'leaf-1')!;
const nic = topology.nics[0];

describe('an element', () => {
  it.each([
    ['a link: both of its ends', LINK, [LEAF_PORT, SPINE_PORT]],
    ['a device: all of its ports', deviceId('leaf-1'), names(leaf.ports)],
    ['a NIC: its own', nicId(nic.name), names(nic.ports)],
    ['a port: itself', portId(LEAF_PORT), [LEAF_PORT]],
    ['a queue: the port that it is of', queueId(LEAF_PORT, 3), [LEAF_PORT]],
    ['a job: none', jobId('exposed'), []],
    ['a pattern: none', 'pattern:incast', []],
    ['a port that is not there: none', portId(`${LEAF_PORT}0`), []],
    ['a queue of no port: none', 'queue:leaf-1/3', []],
  ])('stands for ports, %s', (_, id, expected) => {
    expect(names(portsOfElement(topology, id))).toEqual([...expected].sort());
  });

  it('of an entry is the first of its names that has any port', () => {
    const pattern = { type: 'pattern' as const, id: 'pattern:incast' };
    const entry = { ...truth, elements: [pattern, ...truth.elements.slice(1)] };
    expect(names(portsOfEntry(topology, entry))).toEqual([LEAF_PORT]);
    expect(portsOfEntry(topology, { ...truth, elements: [pattern] })).toEqual([]);
  });

  it('that is hurt hurts its links, their ends and the devices there', () => {
    const { links, ports, devices } = faultElements(topology, [truth]);
    expect([...links].map((link) => topology.links[link].id)).toEqual([LINK]);
    expect(names([...ports])).toEqual([LEAF_PORT, SPINE_PORT].sort());
    expect([...devices].map((device) => topology.devices[device].name).sort()).toEqual(['leaf-1', 'spine-2']);
  });
});

describe('symptoms may show', () => {
  it('on the links, their ends, and on exposed jobs and the NICs of their GPUs', () => {
    const ids = symptomElements(topology, faultElements(topology, [truth]), [jobs[0]]);
    const nics = [...jobs[0].placement].map((gpu) => nicId(topology.nics[topology.gpus[gpu].nic].name));
    const own = [LINK, portId(LEAF_PORT), portId(SPINE_PORT), deviceId('leaf-1'), deviceId('spine-2')];
    expect([...ids].sort()).toEqual([...new Set([...own, jobId('exposed'), ...nics])].sort());
  });

  it('on the NIC at the end of a host link', () => {
    const rails = buildTopology(
      topologySchema.parse({ builder: 'rail-optimised', hosts: 2, gpusPerHost: 2, segments: 1, spines: 1 }),
    );
    const link = rails.links.find(({ tier }) => tier === 'host-leaf')!;
    const entry = { ...truth, elements: [{ type: 'link' as const, id: link.id }] };
    const ids = [...symptomElements(rails, faultElements(rails, [entry]), [])];
    expect(ids.filter((id) => id.startsWith('nic:'))).toHaveLength(1);
  });
});

it('series are on an element by whole names, a queue on its port, an edge and a rank on their job', () => {
  const writer = new EvidenceWriter();
  const put = (metric: string, element: string) => writer.add(metric, element, 0, 1);
  put('port_tx_bytes', portId(LEAF_PORT));
  put('port_tx_bytes', portId(`${LEAF_PORT}0`));
  put('queue_tx_bytes', queueId(LEAF_PORT, 3));
  put('queue_tx_bytes', queueId(SPINE_PORT, 3));
  put('edge_tx_bytes', edgeId('exposed', 0, 1));
  put('edge_tx_bytes', edgeId('bystander', 0, 1));
  put('rank_compute_time_s', rankId('exposed', 1));
  put('rank_compute_time_s', rankId('bystander', 1));
  // no queue, edge or rank: nothing belongs to another element
  put('port_rx_bytes', queueId(LEAF_PORT, 3));
  put('job_steps', edgeId('exposed', 0, 1));
  const index = new EvidenceIndex(writer.build());
  const metrics = new Set(index.evidence.series.map(({ metric }) => metric));
  const found = seriesOn(index, metrics, new Set([portId(LEAF_PORT), jobId('exposed')]));
  expect(found.map(({ element }) => element)).toEqual([
    portId(LEAF_PORT),
    queueId(LEAF_PORT, 3),
    edgeId('exposed', 0, 1),
    rankId('exposed', 1),
  ]);
});
