/**
 * A site for the conformance suite: a lab whose devices are told over a real sshd in each namespace, as if nobody here had
 * built them. The way there is loopback of this machine, which no impairment cuts.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fabricSpecSchema, type FabricDefinition } from '../../src/fabric-api/definition.js';
import { RealSshd } from '../../src/drivers/linux/transport/testing/real-sshd.js';
import { Lab } from '../../src/drivers/linux/lab/lab.js';
import { labDefinition, labDown, labUp } from '../support/linux-lab.js';

export interface SiteOverSsh {
  definition: FabricDefinition;
  sshd: RealSshd;
  /** By device: where its sshd listens. */
  sshPorts: Readonly<Record<string, number>>;
  down(): Promise<void>;
}

/** @param spec of the lab that is built and then only told over SSH */
export async function siteOverSsh(spec: Record<string, unknown>): Promise<SiteOverSsh> {
  const lab = labDefinition(spec);
  await labUp(lab);
  const sshd = new RealSshd();
  const shared = mkdtempSync(join(tmpdir(), 'fabricdrill-site-'));
  const parts = Lab.from(lab);
  const nodes: Record<string, unknown> = {};
  const sshPorts: Record<string, number> = {};
  for (const [index, node] of parts.nodes.entries()) {
    // hosts are machines of their own: each has been up for another time
    const port = await sshd.listen(node.namespace, node.role === 'host' ? 4000 * (index + 1) : 0);
    sshPorts[node.name] = port;
    const [first] = parts.portsOf(node);
    nodes[node.name] =
      node.role === 'switch'
        ? { host: '127.0.0.1', port, frrSocket: node.folder }
        : { host: '127.0.0.1', port, address: `${first.address}/31`, gateway: node.gateway };
  }
  const { key, knownHosts } = sshd;
  const transport = {
    ssh: { key, knownHosts },
    nodes,
    sharedFolder: join(shared, 'shared'),
    undoFolder: join(shared, 'undo'),
  };
  const definition = {
    name: `${lab.name}-ssh`,
    spec: fabricSpecSchema.parse({ ...spec, driver: 'linux', transport }),
  };
  return {
    definition,
    sshd,
    sshPorts,
    down: async () => {
      sshd.stop();
      rmSync(shared, { recursive: true, force: true });
      await labDown(lab);
    },
  };
}
