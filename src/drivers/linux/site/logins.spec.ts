import { describe, expect, it } from '@jest/globals';
import { serverSettingsSchema } from '../../../fabric-api/server-settings.js';
import { siteTransport } from '../../../fabric-api/site-transport.js';
import { transportSchema, type TransportSettings } from '../../../fabric-api/transport-settings.js';
import { requireLogins } from './logins.js';

const readable = process.execPath;
const machine = { has: () => true };
const site = (login: Record<string, unknown>, jump?: Record<string, unknown>): TransportSettings => {
  const { ssh } = serverSettingsSchema.parse({
    ssh: {
      rack: {
        ...{ key: readable, knownHosts: readable },
        hosts: { 'leaf-1': { host: '192.0.2.1', ...login, ...(jump === undefined ? {} : { jump }) } },
      },
    },
  });
  return siteTransport(transportSchema.parse({ ssh: 'rack', nodes: { 'leaf-1': {} } }), {
    ...{ slurm: {}, prometheus: {}, ssh },
  });
};

describe('what logging in to a site needs of this machine', () => {
  it('names the package of a client that is not there', () => {
    expect(() => requireLogins(site({}), { has: () => false })).toThrow('package openssh-client');
  });

  it('names keys and known hosts that can not be read, of jump hosts, too', () => {
    const transport = site({ key: '/nowhere/id' }, { host: 'bastion', knownHosts: '/nowhere/known' });
    expect(() => requireLogins(transport, machine)).toThrow('/nowhere/id, /nowhere/known');
  });

  it('has nothing to say where all is there', () => {
    expect(() => requireLogins(site({}), machine)).not.toThrow();
  });
});
