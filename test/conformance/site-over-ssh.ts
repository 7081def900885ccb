/**
 * A site for the conformance suite: a lab whose devices are told over a real sshd in each namespace, as if nobody here had
 * built them. The way there is loopback of this machine, which no impairment cuts.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fabricSpecSchema, type FabricDefinition } from '../../src/fabric-api/definition.js';
import { NO_SETTINGS, serverSettingsSchema } from '../../src/fabric-api/server-settings.js';
import { useServerSettings } from '../../src/drivers/catalog.js';
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
  const hosts: Record<string, unknown> = { nowhere: { host: '127.0.0.1', port: 1 } };
  const sshPorts: Record<string, number> = {};
  for (const [index, node] of parts.nodes.entries()) {
    // hosts are machines of their own: each has been up for another time
    const port = await sshd.listen(node.namespace, node.role === 'host' ? 4000 * (index + 1) : 0);
    sshPorts[node.name] = port;
    const [first] = parts.portsOf(node);
    const isSwitch = node.role === 'switch';
    hosts[node.name] = { host: '127.0.0.1', port, ...(isSwitch ? { frrSocket: node.folder } : {}) };
    nodes[node.name] = isSwitch ? {} : { address: `${first.address}/31`, gateway: node.gateway };
  }
  const { key, knownHosts } = sshd;
  const folders = { sharedFolder: join(shared, 'shared'), undoFolder: join(shared, 'undo') };
  const ssh = { lab: { key, knownHosts, hosts, ...folders } };
  useServerSettings(serverSettingsSchema.parse({ ssh }));
  const definition = {
    name: `${lab.name}-ssh`,
    spec: fabricSpecSchema.parse({ ...spec, driver: 'linux', transport: { ssh: 'lab', nodes } }),
  };
  return {
    definition,
    sshd,
    sshPorts,
    down: async () => {
      sshd.stop();
      useServerSettings(NO_SETTINGS);
      rmSync(shared, { recursive: true, force: true });
      await labDown(lab);
    },
  };
}
