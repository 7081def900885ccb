import { describe, expect, it } from '@jest/globals';
import { EnvironmentError, InputError } from '../../../core/problem.js';
import { fabricSpecSchema } from '../../../fabric-api/definition.js';
import { frrConfigurations } from './frr.js';
import { Lab } from './lab.js';
import { requireMachine, requireRemoval } from './requirements.js';
import { expectedInterfaces, parseNextHops } from './routes.js';
import { countingRules } from './rules.js';

const TOPOLOGY = {
  builder: 'leaf-spine',
  leaves: 2,
  spines: 2,
  hostsPerLeaf: 2,
  hostRate: '50Mbps',
  fabricRate: '50Mbps',
};

const labOf = (spec: Record<string, unknown> = {}): Lab =>
  Lab.from({
    name: 'lab',
    spec: fabricSpecSchema.parse({
      driver: 'linux',
      topology: TOPOLOGY,
      settings: { mtu: '1448B' },
      ...spec,
    }),
  });

const textOf = (lab: Lab, daemon: string, name = 'leaf-1'): string | undefined =>
  frrConfigurations(
    lab,
    lab.nodes.find((node) => node.name === name)!,
  ).find((file) => file.daemon === daemon)?.text;

describe('a lab', () => {
  it('gives every device a namespace and every port an interface of its own within it', () => {
    const lab = labOf();
    expect(new Set(lab.nodes.map(({ namespace }) => namespace)).size).toBe(8);
    expect(lab.nodes[0].namespace).toBe('lab-leaf-1');
    const places = lab.ports.map((port) => `${port.node.namespace} ${port.interface}`);
    expect(new Set(places).size).toBe(places.length);
    for (const port of lab.ports) expect(port.interface.length).toBeLessThan(16);
  });

  it('gives both ends of a host’s link one /31, and no two hosts the same', () => {
    const lab = labOf({ topology: { ...TOPOLOGY, leaves: 10, hostsPerLeaf: 10 } });
    const numbers = lab.hosts.map(({ device }) => {
      const port = lab.hostPort(device);
      const [own, leaf] = [port.address!, lab.peerOf(port).address!].map((address) =>
        address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0),
      );
      expect(leaf % 2).toBe(0);
      expect(own).toBe(leaf + 1);
      return own;
    });
    expect(new Set(numbers).size).toBe(100);
  });

  it('expects next hops over all spines to another leaf, and one to its own host', () => {
    const lab = labOf();
    const [leaf1, , spine1] = lab.nodes;
    const [host1, , host3] = lab.hosts;
    expect(expectedInterfaces(lab, leaf1, host1.device)).toEqual(['p1']);
    expect(expectedInterfaces(lab, leaf1, host3.device)).toEqual(['p3', 'p4']);
    expect(expectedInterfaces(lab, spine1, host3.device)).toEqual(['p2']);
  });

  it.each([
    [{ ...TOPOLOGY, gpusPerHost: 4 }, /one NIC with one port; host-1 has 4/],
    [{ ...TOPOLOGY, fabricRate: '100Gbps' }, /runs? at 100Gbps/],
    [{ ...TOPOLOGY, leaves: 12, hostsPerLeaf: 10 }, /more than one machine can be/],
    [{ builder: 'fat-tree', k: 4, hostRate: '50Mbps', fabricRate: '50Mbps' }, /of another tier/],
  ])('that no machine can be is refused with its place in the file: %j', (topology, message) => {
    const build = (): unknown => labOf({ topology });
    expect(build).toThrow(InputError);
    expect(build).toThrow(message);
  });
});

describe('FRR’s configuration', () => {
  it('runs next-hop groups as shipped or cured', () => {
    expect(textOf(labOf(), 'zebra')).toContain('no zebra nexthop kernel enable');
    const stale = labOf({ settings: { mtu: '1448B', staleNextHops: true } });
    expect(textOf(stale, 'zebra')).not.toContain('nexthop kernel');
  });

  it('has BFD with its timers, or none at all', () => {
    const settings = { mtu: '1448B', bfdInterval: '100ms', bfdMultiplier: 4 };
    expect(textOf(labOf({ settings }), 'bfdd')).toMatch(/detect-multiplier 4\n {2}receive-interval 100\n/);
    const without = labOf({ settings: { ...settings, bfd: false, bgpHold: '30s' } });
    expect(textOf(without, 'bfdd')).toBeUndefined();
    expect(textOf(without, 'bgpd')).not.toContain('bfd');
    expect(textOf(without, 'bgpd')).toContain('timers 10 30');
  });

  it('speaks to switches alone, spines under one AS number, leaves under their own', () => {
    const lab = labOf();
    expect(textOf(lab, 'bgpd')).toContain('neighbor p3 interface');
    expect(textOf(lab, 'bgpd')).not.toContain('neighbor p1 interface');
    expect(textOf(lab, 'bgpd', 'spine-1')).toContain('router bgp 65000');
    expect(textOf(lab, 'bgpd', 'spine-2')).toContain('router bgp 65000');
    expect(textOf(lab, 'bgpd', 'leaf-2')).toContain('router bgp 65102');
  });
});

describe('next hops of a kernel', () => {
  it('count only where packets would go', () => {
    const route = (nexthops: unknown[]): string => JSON.stringify([{ dst: '10.0.0.2/31', nexthops }]);
    const hops = (text: string): readonly string[] | undefined => parseNextHops(text).get('10.0.0.2/31');
    expect(hops(route([{ dev: 'p3' }, { dev: 'p4', flags: ['onlink'] }]))).toEqual(['p3', 'p4']);
    expect(hops(route([{ dev: 'p3' }, { dev: 'p4', flags: ['dead', 'linkdown'] }]))).toEqual(['p3']);
    expect(hops(JSON.stringify([{ dst: '10.0.0.2/31', nhid: 22, via: {}, dev: 'p3', flags: [] }]))).toEqual([
      'p3',
    ]);
    expect(hops('')).toBeUndefined();
  });
});

describe('the counters of a device', () => {
  it('are the same for every port of every device', () => {
    const lab = labOf();
    for (const node of lab.nodes) {
      const rules = countingRules(lab, node);
      for (const port of lab.portsOf(node)) {
        const name = port.interface.replaceAll('-', '_');
        expect(rules).toContain(`counter rx_${name} {}`);
        expect(rules).toContain(`counter damaged_${name} {}`);
        expect(rules).toContain(`device "${port.interface}" priority -350`);
      }
    }
  });
});

describe('a machine', () => {
  it('that lacks programs is told all packages at once, with the command that installs them', () => {
    const bare = { isRoot: true, has: (program: string) => !/nft|frr|vtysh/.test(program) };
    try {
      requireMachine(bare);
      throw new Error('it was taken');
    } catch (error) {
      expect(error).toBeInstanceOf(EnvironmentError);
      expect((error as EnvironmentError).message).toMatch(/packages nftables, frr/);
      expect((error as EnvironmentError).hint).toBe(
        'apt-get install -y --no-install-recommends nftables frr',
      );
    }
  });

  it('that has lost its programs can still be rid of a lab', () => {
    expect(() => requireRemoval({ isRoot: true, has: (program) => program === 'ip' })).not.toThrow();
    expect(() => requireRemoval({ isRoot: true, has: () => false })).toThrow(/package iproute2/);
  });

  it('finds programs of administrators for all that it starts, whatever the search path of the account is', () => {
    const before = process.env.PATH;
    try {
      process.env.PATH = '/usr/bin';
      requireMachine({ isRoot: true, has: () => true });
      expect(process.env.PATH).toBe('/usr/bin:/usr/sbin:/sbin');
    } finally {
      process.env.PATH = before;
    }
  });

  it('on which the caller is not root is told so', () => {
    expect(() => requireMachine({ isRoot: false, has: () => true })).toThrow(/takes root/);
  });
});
