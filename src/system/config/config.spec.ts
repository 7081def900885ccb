import { describe, expect, test } from '@jest/globals';
import { InputError } from '../../core/problem.js';
import { hideSecrets, loadConfig } from './config.js';
import { VERSION } from '../version.js';

const TOKEN = 'a'.repeat(32);

function messages(environment: NodeJS.ProcessEnv): string {
  try {
    loadConfig(environment);
  } catch (error) {
    expect(error).toBeInstanceOf(InputError);
    return (error as InputError).message;
  }
  return '';
}

describe('the configuration', () => {
  test('needs nothing: loopback, port 3000, embedded database, PostgreSQL queue', () => {
    const config = loadConfig({});
    expect(config).toMatchObject({
      host: '127.0.0.1',
      port: 3000,
      workerConcurrency: 1,
      pacedConcurrency: 8,
    });
    expect(config.databaseUrl ?? config.redisUrl ?? config.token ?? config.serverUrl).toBeUndefined();
    expect(config.home).toMatch(/fabricdrill$/);
    expect(Object.isFrozen(config)).toBe(true);
  });

  test('takes every setting, an empty one counting as unset', () => {
    const config = loadConfig({
      FABRICDRILL_HOME: '/srv/drill/',
      DATABASE_URL: 'postgresql://u:p@db:5432/x',
      REDIS_URL: '',
      FABRICDRILL_URL: 'http://10.0.0.1:3000/',
      FABRICDRILL_HOST: '0.0.0.0',
      PORT: '8080',
      FABRICDRILL_PORT: '9090',
      FABRICDRILL_TOKEN: TOKEN,
      FABRICDRILL_WORKER_CONCURRENCY: '4',
      FABRICDRILL_PACED_CONCURRENCY: '2',
      LOG_LEVEL: 'debug',
      INIT_CWD: '/home/me',
      NO_COLOR: '1',
    });
    expect(config).toMatchObject({
      home: '/srv/drill',
      databaseUrl: 'postgresql://u:p@db:5432/x',
      redisUrl: undefined,
      serverUrl: 'http://10.0.0.1:3000',
      host: '0.0.0.0',
      port: 9090,
      token: TOKEN,
      workerConcurrency: 4,
      pacedConcurrency: 2,
      logLevel: 'debug',
      workingFolder: '/home/me',
      colour: false,
    });
  });

  test('resolves relative folders where the user stands', () => {
    const config = loadConfig({
      INIT_CWD: '/home/me',
      FABRICDRILL_HOME: 'drill',
      FABRICDRILL_INPUTS: '../inputs',
    });
    expect(config).toMatchObject({ home: '/home/me/drill', inputs: '/home/inputs' });
  });

  test('lets command-line flags win over the environment', () => {
    expect(loadConfig({ PORT: '1', FABRICDRILL_PORT: '2' }, { FABRICDRILL_PORT: '3' }).port).toBe(3);
  });

  test('tells all problems at once, each with its variable, the reason and a valid form', () => {
    const told = messages({
      PORT: 'http',
      DATABASE_URL: 'mysql://root:hunter2@db/x',
      REDIS_URL: 'cache:6379',
      FABRICDRILL_WORKER_CONCURRENCY: '0',
      LOG_LEVEL: 'loud',
    });
    expect(told.split('\n')).toHaveLength(5);
    expect(told).toContain('PORT "http": must be a whole number from 0 to 65535 (as in PORT=3000)');
    expect(told).toContain('DATABASE_URL: must be a URL of the form postgres://');
    expect(told).toContain('REDIS_URL: must be a URL of the form redis://host:6379');
    expect(told).toContain('FABRICDRILL_WORKER_CONCURRENCY "0": must be a whole number from 1 to 64');
    expect(told).toContain('LOG_LEVEL "loud": must be one of fatal, error, warn, info, debug, trace, silent');
    expect(told).not.toContain('hunter2');
  });

  test.each(['0.0.0.0', '::', '192.168.1.4', 'drill.example'])(
    'refuses to listen on %s without a token',
    (host) => {
      expect(messages({ FABRICDRILL_HOST: host })).toMatch(/FABRICDRILL_TOKEN is required .* 32 characters/);
      expect(loadConfig({ FABRICDRILL_HOST: host, FABRICDRILL_TOKEN: TOKEN }).host).toBe(host);
    },
  );

  test.each(['127.0.0.1', '127.1.2.3', '::1', 'localhost'])('lets %s do without a token', (host) => {
    expect(loadConfig({ FABRICDRILL_HOST: host }).token).toBeUndefined();
  });

  test('refuses a short token once, without printing it', () => {
    const told = messages({ FABRICDRILL_HOST: '0.0.0.0', FABRICDRILL_TOKEN: 'hunter2' });
    expect(told.split('\n')).toHaveLength(1);
    expect(told).toContain('FABRICDRILL_TOKEN: must have at least 32 characters');
    expect(told).not.toContain('hunter2');
  });

  test('catches a misspelt setting, and leaves strange ones alone', () => {
    expect(messages({ FABRICDRILL_HOEM: '/x' })).toContain('did you mean "FABRICDRILL_HOME"?');
    expect(messages({ FABRICDRILL_SOMETHING_ELSE: '/x' })).toBe('');
  });

  test('shows URLs without their secrets', () => {
    expect(hideSecrets('postgres://me:hunter2@db:5432/x?password=hunter2')).toBe('postgres://db:5432/x');
    expect(hideSecrets('hunter2')).toBe('(not a URL)');
  });

  test('knows the version of the package', () => {
    expect(VERSION).toMatch(/^\d+\.\d+\.\d+/);
  });
});
