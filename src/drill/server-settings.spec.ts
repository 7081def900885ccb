import { afterAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InputError, type InputIssue } from '../core/problem.js';
import { requireSettings, useServerSettings } from '../drivers/catalog.js';
import { buildTopology } from '../model/topology/topology-spec.js';
import { NO_SETTINGS } from '../fabric-api/server-settings.js';
import { refuseFiles } from '../documents/fabric-document.js';
import { loadDefinitions, loadFabric } from '../documents/load.js';
import { readServerSettings } from '../documents/server-settings.js';
import { fabricAsRecorded } from '../documents/stored.js';

const folder = mkdtempSync(join(tmpdir(), 'fabricdrill-settings-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const fileOf = (text: string): string => {
  const file = join(folder, 'settings.yaml');
  writeFileSync(file, text);
  return file;
};
const issuesOf = (step: () => unknown): readonly InputIssue[] => {
  try {
    step();
  } catch (error) {
    if (error instanceof InputError) return error.issues;
    throw error;
  }
  return [];
};

const RACK = `ssh:
  rack:
    key: /etc/fabricdrill/id
    knownHosts: /etc/fabricdrill/known_hosts
    hosts: { leaf-1: { host: 192.0.2.11 }, spine-1: { host: 192.0.2.21 }, host-1: { host: 192.0.2.31 } }
slurm: { training: { configuration: /etc/slurm/slurm.conf } }
prometheus: { site: { url: https://prometheus.example } }
`;
const fabric = (spec: string): string => `apiVersion: fabricdrill/v1
kind: Fabric
metadata: { name: rack }
spec:
  driver: linux
  topology: { builder: leaf-spine, leaves: 1, spines: 1, hostsPerLeaf: 1, gpusPerHost: 1 }
${spec}`;
const load = (spec: string) => loadDefinitions(fabric(spec), refuseFiles).fabrics[0];
const NODES = '    nodes: { leaf-1: {}, spine-1: {}, host-1: { address: 10.0.1.1/31 } }\n';

describe('the server’s settings', () => {
  it('are read with their defaults, and are none where no file is named', () => {
    expect(readServerSettings(undefined)).toBe(NO_SETTINGS);
    const { ssh, slurm, file } = readServerSettings(fileOf(RACK));
    expect(ssh.rack).toMatchObject({
      user: 'root',
      port: 22,
      sudo: false,
      undoFolder: '/run/fabricdrill/undo',
    });
    expect(slurm.training.configuration).toBe('/etc/slurm/slurm.conf');
    expect(file).toBe(join(folder, 'settings.yaml'));
  });

  it.each([
    ['ssh: { rack: { key: id, knownHosts: /etc/known, hosts: {} } }', 1, /absolute path/],
    ['slurm:\n  a: { configuration: /etc/slurm.conf, plugin: x }', 2, /unknown key "plugin"/],
    ['slurm: {}\nssl: {}', 2, /unknown key "ssl"/],
    ['prometheus:\n  a:\n    url: http://me:secret@host', 3, /no user and password/],
    ['ssh: [', 1, /no valid YAML/],
    [
      "ssh:\n  a:\n    key: /k\n    knownHosts: /n\n    hosts: { x: { host: '-oProxyCommand=sh' } }",
      5,
      /host name/,
    ],
    ["ssh:\n  a:\n    key: '/k$(sh)'\n    knownHosts: /n\n    hosts: {}", 3, /absolute path/],
    [
      "ssh:\n  a:\n    key: /k\n    user: '-l root'\n    knownHosts: /n\n    hosts: {}",
      4,
      /name of an account/,
    ],
  ])('are refused with file and line: %j', (text, line, message) => {
    const [issue] = issuesOf(() => readServerSettings(fileOf(text)));
    expect(issue).toMatchObject({ file: join(folder, 'settings.yaml'), line });
    expect(issue.message).toMatch(message);
  });

  it('are told to be missing where their file is', () => {
    const [{ message }] = issuesOf(() => readServerSettings(join(folder, 'none.yaml')));
    expect(message).toMatch(/FABRICDRILL_CONFIG: .*none\.yaml can't be read/);
  });

  it('are named by documents, and a name that is not there is refused with those that are and their file', () => {
    const file = fileOf(RACK);
    useServerSettings(readServerSettings(file));
    try {
      const site = load(`  transport:\n    ssh: rack\n${NODES}`).value.spec;
      expect(() => requireSettings(site)).not.toThrow();
      const wrong = load(`  transport:\n    ssh: rak\n${NODES}`).value.spec;
      const [issue] = issuesOf(() => requireSettings(wrong));
      expect(issue).toMatchObject({ pointer: '/spec/transport/ssh', hint: 'did you mean "rack"?' });
      expect(issue.message).toContain(`there is rack, and they are set in ${file}`);
      const elsewhere = load('  transport:\n    ssh: rack\n    nodes: { leaf-1: { host: leaf-9 } }\n').value
        .spec;
      expect(issuesOf(() => requireSettings(elsewhere))[0]).toMatchObject({
        pointer: '/spec/transport/nodes/leaf-1',
        message: expect.stringMatching(/no host "leaf-9"; it has leaf-1, spine-1, host-1/),
      });
      const slurm = load('  orchestrator: { slurm: night }\n').value.spec;
      expect(issuesOf(() => requireSettings(slurm))[0].message).toMatch(
        /no slurm "night"; there is training/,
      );
      useServerSettings(NO_SETTINGS);
      expect(issuesOf(() => requireSettings(site))[0].message).toMatch(/FABRICDRILL_CONFIG names no file/);
    } finally {
      useServerSettings(NO_SETTINGS);
    }
  });
});

describe('a document that chooses files and addresses of the server', () => {
  it.each([
    ['  orchestrator: { slurm: { configuration: /tmp/evil.conf } }\n', '/spec/orchestrator/slurm'],
    [`  transport:\n    ssh: { key: /k, knownHosts: /n }\n${NODES}`, '/spec/transport/ssh'],
    [`  transport:\n    ssh: rack\n    node: /tmp/node\n${NODES}`, '/spec/transport/node'],
    [
      '  transport:\n    ssh: rack\n    nodes: { leaf-1: { key: /k, port: 1 } }\n',
      '/spec/transport/nodes/leaf-1',
    ],
    ['  prometheus: { url: http://a, metrics: [] }\n', '/spec/prometheus/url'],
    [
      '  prometheus: { server: a, authorization: { env: X }, metrics: [] }\n',
      '/spec/prometheus/authorization',
    ],
  ])('is refused with what has to be moved where: %j', (spec, pointer) => {
    const [issue] = issuesOf(() => load(spec));
    expect(issue.pointer).toBe(pointer);
    expect(issue.line).toBeGreaterThan(6);
    expect(issue.message).toMatch(
      /move it to (ssh|slurm|prometheus)\.NAME.* in the file that FABRICDRILL_CONFIG names/,
    );
  });

  it('is still read for what was recorded on it', () => {
    const stored = {
      ...{ apiVersion: 'fabricdrill/v1', kind: 'Fabric', metadata: { name: 'rack' } },
      spec: {
        topology: { builder: 'leaf-spine', leaves: 1, spines: 1, hostsPerLeaf: 1, gpusPerHost: 1 },
        orchestrator: { slurm: { configuration: '/etc/slurm.conf' } },
      },
    };
    expect(() => loadFabric(stored, refuseFiles)).toThrow(/move it to slurm\.NAME/);
    expect(fabricAsRecorded(stored).metadata.name).toBe('rack');
  });

  it.each([
    ["  transport:\n    ssh: '-oProxyCommand=sh'\n    nodes: {}\n", '/spec/transport/ssh'],
    [
      "  transport:\n    ssh: r\n    nodes: { leaf-1: { interfaces: { p1: '-x' } } }\n",
      '/spec/transport/nodes/leaf-1/interfaces/p1',
    ],
    [
      "  transport:\n    ssh: r\n    nodes: { leaf-1: { interfaces: { p1: 'a\"; drop' } } }\n",
      '/spec/transport/nodes/leaf-1/interfaces/p1',
    ],
    [
      "  transport:\n    ssh: r\n    nodes: { leaf-1: { gateway: '10.0.0.1 dev x' } }\n",
      '/spec/transport/nodes/leaf-1/gateway',
    ],
    ["  orchestrator: { slurm: s, partition: '--wrap=sh' }\n", '/spec/orchestrator/partition'],
    ["  orchestrator: { slurm: s, nodes: { host-1: 'h[1-9]' } }\n", '/spec/orchestrator/nodes/host-1'],
    ["  lab: { prefix: '../x' }\n", '/spec/lab/prefix'],
    ["  lab: { prefix: '-x' }\n", '/spec/lab/prefix'],
  ])('puts no word of its own on a command line: %j', (spec, pointer) => {
    expect(issuesOf(() => load(spec)).map((issue) => issue.pointer)).toContain(pointer);
  });

  it.each(['-x', 'a b', 'a/../b', 'a\nb', 'a"b', '..'])(
    'has no device %j, since namespaces, folders and FRR’s files are called by it',
    (name) => {
      const topology = {
        builder: 'explicit',
        nodes: [
          { role: 'switch', name },
          { role: 'host', name: 'h' },
        ],
        links: [],
      };
      const stored = { apiVersion: 'fabricdrill/v1', kind: 'Fabric', metadata: { name: 'x' } };
      const links = [{ a: name, b: 'h', rate: '50Mbps', delay: '1us' }];
      const spec = { driver: 'linux', topology: { ...topology, links } };
      expect(() => {
        const { value } = loadFabric({ ...stored, spec }, refuseFiles);
        buildTopology(value.spec.topology);
      }).toThrow(InputError);
    },
  );
});
