import { describe, expect, it } from '@jest/globals';
import { InputError } from '../../../core/problem.js';
import { fabricSpecSchema, type FabricDefinition } from '../../../fabric-api/definition.js';
import { serverSettingsSchema } from '../../../fabric-api/server-settings.js';
import { siteTransport } from '../../../fabric-api/site-transport.js';
import { Lab } from '../lab/lab.js';
import { CommandError, type Place } from '../transport/place.js';
import { surveySite } from './open.js';

const ports = ['p1', 'p2'];
const host = (port: number): unknown => ({ host: '192.0.2.1', port });
const SETTINGS = serverSettingsSchema.parse({
  ssh: {
    rack: {
      ...{ key: '/etc/key', knownHosts: '/etc/known' },
      hosts: { 'leaf-1': host(1), 'spine-1': host(2), 'host-1': host(3) },
    },
  },
});

const definition = (leaf: Record<string, unknown>): FabricDefinition => ({
  name: 'rack',
  spec: fabricSpecSchema.parse({
    driver: 'linux',
    topology: { builder: 'leaf-spine', leaves: 1, spines: 1, hostsPerLeaf: 1, gpusPerHost: 1 },
    transport: {
      ssh: 'rack',
      nodes: { 'leaf-1': leaf, 'spine-1': {}, 'host-1': { address: '10.0.1.1/31' } },
    },
  }),
});

/** A lab whose devices answer the survey so. */
function answering(found: FabricDefinition, answer: (device: string) => string): Lab {
  const lab = Lab.from(found, siteTransport(found.spec.transport!, SETTINGS));
  for (const one of lab.nodes) {
    const place: Partial<Place> = {
      name: one.name,
      programWords: (path) => ['node', path],
      run: (command) => {
        const stdout = answer(one.name);
        if (stdout === '') return Promise.reject(new CommandError(one.name, command, 'the way is lost'));
        return Promise.resolve({ stdout, stderr: '', code: 0 });
      },
    };
    one.place = place as Place;
  }
  return lab;
}

const has = (...interfaces: string[]): string => interfaces.map((name) => `interface ${name}\n`).join('');
const RULES = 'table netdev fabricdrill\n';
const all = has('lo', 'nic-0', ...ports) + RULES;

describe('the survey of a site', () => {
  it('says of every impairment that nobody has tried a dialect, and leaves out what it can’t do', async () => {
    const lab = answering(definition({ dialect: 'sonic' }), () => all);
    const { capabilities } = await surveySite(lab, []);
    expect(capabilities.has('bit-errors')).toBe(false);
    expect(capabilities.size).toBeGreaterThan(3);
    for (const cost of capabilities.values()) {
      expect(cost).toMatch(/dialect sonic: .*nobody has tried it on a switch$/);
    }
  });

  it('says nothing of the kind where all dialects were tried', async () => {
    const { capabilities, withRules } = await surveySite(
      answering(definition({}), () => all),
      [],
    );
    expect([...capabilities.values()].join()).not.toMatch(/tried/);
    expect(capabilities.has('bit-errors')).toBe(true);
    expect([...withRules]).toHaveLength(3);
  });

  it('refuses damage that no port would count', async () => {
    const lab = answering(definition({}), (name) => (name === 'host-1' ? has('nic-0') : all));
    expect((await surveySite(lab, [])).capabilities.has('bit-errors')).toBe(false);
  });

  it('names all devices that can’t be reached, and programs that are missing with their packages', async () => {
    const lost = answering(definition({}), (name) => (name === 'host-1' ? all : ''));
    await expect(surveySite(lost, [])).rejects.toThrow(
      'rack: leaf-1: the way is lost, spine-1: the way is lost',
    );
    const bare = answering(definition({}), (name) => (name === 'leaf-1' ? `missing vtysh\n${all}` : all));
    await expect(surveySite(bare, [])).rejects.toThrow('leaf-1 has no vtysh (package frr)');
  });

  it('names interfaces that are not there, with those that are', async () => {
    const lab = answering(definition({ interfaces: { p1: 'swp1' } }), () => all);
    await expect(surveySite(lab, [])).rejects.toThrow(InputError);
    await expect(surveySite(lab, [])).rejects.toThrow(/leaf-1 has no interface swp1/);
  });
});
