import { describe, expect, test } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { loadConfig } from './config.js';
import { variables } from './variables.js';

interface Service {
  build?: string;
  image?: string;
  command?: string[];
  environment?: Record<string, string>;
  ports?: string[];
  depends_on?: Record<string, { condition: string }>;
}

const text = readFileSync(join(process.cwd(), 'docker-compose.yml'), 'utf8');
const { services } = parse(text, { merge: true }) as { services: Record<string, Service> };

/** What compose makes of `${NAME:?reason}` and `${NAME:-default}`. */
function substitute(value: string, environment: Record<string, string>): string {
  return value.replace(/\$\{(\w+):([?-])([^}]*)\}/g, (_, name: string, kind: string, rest: string) => {
    const given = environment[name] ?? '';
    if (given !== '') return given;
    if (kind === '-') return rest;
    throw new Error(`${name}: ${rest}`);
  });
}

const SECRETS = { POSTGRES_PASSWORD: 'p'.repeat(32), FABRICDRILL_TOKEN: 't'.repeat(64) };

function environmentOf(name: string, given: Record<string, string>): Record<string, string> {
  const entries = Object.entries(services[name].environment ?? {});
  return Object.fromEntries(entries.map(([key, value]) => [key, substitute(value, given)]));
}

describe('docker-compose.yml', () => {
  test('has a database, a queue, an API and workers, of which only the API is reachable, and from here only', () => {
    expect(Object.keys(services).sort()).toEqual(['api', 'postgres', 'redis', 'worker']);
    for (const [name, { ports }] of Object.entries(services)) {
      if (name === 'api') expect(ports).toEqual(['127.0.0.1:3000:3000']);
      else expect(ports).toBeUndefined();
    }
  });

  test.each(['api', 'worker'])('gives %s a configuration that the program accepts', (name) => {
    const environment = environmentOf(name, SECRETS);
    expect(Object.keys(environment).filter((key) => !Object.keys(variables).includes(key))).toEqual([]);
    const config = loadConfig(environment);
    expect(new URL(config.databaseUrl!).hostname).toBe('postgres');
    expect(new URL(config.redisUrl!).hostname).toBe('redis');
    expect(Object.keys(services[name].depends_on ?? {}).sort()).toEqual(['postgres', 'redis']);
  });

  test.each(['api', 'worker'])('starts a program of ours as %s', (name) => {
    const [program, file] = services[name].command!;
    expect(program).toBe('node');
    expect(existsSync(join(process.cwd(), file.replace(/^dist\//, '').replace(/\.js$/, '.ts')))).toBe(true);
  });

  test('the API listens outside its container, so it does not start without a token', () => {
    expect(loadConfig(environmentOf('api', SECRETS)).host).toBe('0.0.0.0');
    expect(() => environmentOf('api', { ...SECRETS, FABRICDRILL_TOKEN: '' })).toThrow(/FABRICDRILL_TOKEN/);
    expect(() => environmentOf('worker', { ...SECRETS, POSTGRES_PASSWORD: '' })).toThrow(/POSTGRES_PASSWORD/);
  });
});
