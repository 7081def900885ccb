/**
 * A site: devices that nobody here has built, each reached over SSH as the Fabric document says.
 *
 * Everything about the way is settled here: account, key and jump host of a host of the server's settings are its own or those of all. The fabric's
 * run files lie on a disk that the hosts share with this machine. Not modelled: hosts with several NICs in the fabric.
 */
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listChoices, nearestHint } from '../../../core/nearest.js';
import { InputError, pointerToken, type InputIssue } from '../../../core/problem.js';
import type { Device, Topology } from '../../../model/topology/model.js';
import type { JumpHost, LoginHost } from '../../../fabric-api/server-settings.js';
import type { TransportNode, TransportSettings } from '../../../fabric-api/transport-settings.js';
import { DIALECTS } from '../dialects/catalog.js';
import { interfaceWord } from '../lab/interface-word.js';
import type { Reach } from '../lab/parts.js';
import { SshPlace, type SshLogin, type SshTarget } from '../transport/ssh-place.js';
import { socketFolder } from '../transport/socket-folder.js';

const NODES = '/spec/transport/nodes';
/** The folder that holds `dist` where this runs built, and the sources' own root where it runs from them. */
const OWN_INSTALL = fileURLToPath(new URL('../../../../', import.meta.url)).replace(/\/dist\/$/, '/');

/** @throws InputError for devices without a way, ways without a device, and hosts without an address */
export function reachOverSsh(name: string, topology: Topology, transport: TransportSettings): Reach {
  checkNodes(topology, transport);
  const nodeOf = (device: Device): TransportNode => transport.nodes[device.name];
  return {
    isRemote: true,
    folder: join(transport.sharedFolder, name),
    ofDevice: (device) => {
      const node = nodeOf(device);
      const { gateway, frrSocket } = node;
      return {
        namespace: '',
        place: new SshPlace(targetOf(device.name, node, transport)),
        dialect: DIALECTS[node.dialect ?? (device.role === 'host' ? 'linux' : 'frr')],
        folder: frrSocket ?? '',
        ...(gateway === undefined ? {} : { gateway }),
      };
    },
    ofPort: ({ name: portName, device, nic }) => {
      const node = nodeOf(topology.devices[device]);
      const word = interfaceWord(portName);
      const address = nic < 0 ? undefined : node.address;
      return {
        interface: node.interfaces[word] ?? word,
        ...(address === undefined ? {} : { address: address.split('/')[0], prefix: networkOf(address) }),
      };
    },
  };
}

function checkNodes(topology: Topology, { nodes }: TransportSettings): void {
  const names = topology.devices.map((device) => device.name);
  const issues: InputIssue[] = Object.keys(nodes)
    .filter((name) => !names.includes(name))
    .map((name) => ({
      pointer: `${NODES}/${pointerToken(name)}`,
      message: `the topology has no device "${name}"`,
      hint: nearestHint(name, names),
    }));
  const without = names.filter((name) => nodes[name] === undefined);
  if (without.length > 0) {
    const message = `there is no way to ${listChoices(without, 4)}`;
    issues.push({ pointer: NODES, message, hint: 'give each device of the topology a host' });
  }
  for (const { name, role, ports } of topology.devices) {
    const node = nodes[name];
    if (node === undefined) continue;
    const pointer = `${NODES}/${pointerToken(name)}`;
    if (role === 'host' && node.address === undefined) {
      const hint = 'as in address: 10.0.1.1/31; jobs and routes go by it';
      issues.push({ pointer, message: `the host ${name} has no address in the fabric`, hint });
    }
    const words = ports.map((port) => interfaceWord(topology.ports[port].name));
    for (const word of Object.keys(node.interfaces).filter((one) => !words.includes(one))) {
      issues.push({
        pointer: `${pointer}/interfaces/${pointerToken(word)}`,
        message: `${name} has no port "${word}"; its ports are ${listChoices(words)}`,
        hint: nearestHint(word, words),
      });
    }
  }
  if (issues.length > 0) throw new InputError(issues);
}

function targetOf(name: string, node: TransportNode, transport: TransportSettings): SshTarget {
  const login: SshLogin = {
    host: node.host,
    port: node.port ?? transport.port,
    user: node.user ?? transport.user,
    key: node.key ?? transport.key,
    knownHosts: node.knownHosts ?? transport.knownHosts,
  };
  const jump = node.jump ?? transport.jump;
  return {
    name,
    ...login,
    ...(jump === undefined ? {} : { jump: jumpOf(jump, login) }),
    sudo: node.sudo ?? transport.sudo,
    connectTimeoutS: Math.round(transport.connectTimeout / 1e9),
    socketFolder: socketFolder(),
    node: transport.node ?? process.execPath,
    install: (program) =>
      transport.install === undefined ? program : join(transport.install, relative(OWN_INSTALL, program)),
  };
}

/** A host beside the devices: account, key and known hosts are those of all unless it has its own. */
export function loginPlace(transport: TransportSettings, login: LoginHost): SshPlace {
  const { jump, ...own } = login;
  return new SshPlace(
    targetOf(login.host, { ...own, interfaces: {}, ...(jump === undefined ? {} : { jump }) }, transport),
  );
}

const jumpOf = ({ host, port, user, key, knownHosts }: JumpHost, device: SshLogin): SshLogin => ({
  host,
  port,
  user: user ?? device.user,
  key: key ?? device.key,
  knownHosts: knownHosts ?? device.knownHosts,
});

/** `10.0.1.7/24` → `10.0.1.0/24`, as routes name it. */
function networkOf(prefixed: string): string {
  const [address, length] = prefixed.split('/');
  const bits = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  const size = 2 ** (32 - Number(length));
  const network = Math.floor(bits / size) * size;
  const parts = [24, 16, 8, 0].map((shift) => Math.floor(network / 2 ** shift) % 256);
  return `${parts.join('.')}/${length}`;
}
