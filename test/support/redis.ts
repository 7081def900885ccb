/**
 * A Redis server of a spec's own, on loopback, without persistence; Redis is not part of a plain installation.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { Redis } from 'ioredis';

export interface TestRedis {
  url: string;
  stop(): Promise<void>;
}

/** Path of a program, or undefined after one line on stderr that says how to get it. */
export function findProgram(name: string, debianPackage: string, what: string): string | undefined {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return join(folder, name);
    } catch {
      continue;
    }
  }
  process.stderr.write(`skipped: ${what}: ${name} is not installed (apt-get install ${debianPackage})\n`);
  return undefined;
}

export async function startRedis(program: string): Promise<TestRedis> {
  const port = await freePort();
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const server: ChildProcess = spawn(program, args, { stdio: 'ignore', cwd: '/' });
  const ended = new Promise<void>((done) => server.once('exit', () => done()));
  const url = `redis://127.0.0.1:${port}`;
  const client = new Redis(url, { maxRetriesPerRequest: 50, retryStrategy: () => 50 });
  client.on('error', () => undefined);
  await client.ping();
  client.disconnect();
  return {
    url,
    stop: async () => {
      server.kill('SIGTERM');
      await ended;
    },
  };
}

/** A loopback port that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}
