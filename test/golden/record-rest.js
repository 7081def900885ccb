/**
 * Records what the server of a built checkout answers, each chapter of the conversation on an empty database.
 *
 *   node test/golden/record-rest.js CHECKOUT
 *
 * The ones in this folder are those of commit 5e5372a.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const CHAPTERS = ['definitions', 'runs', 'schedules', 'game-days', 'blind-days', 'gates'];

const checkout = resolve(process.argv[2] ?? '.');
const { PATH, HOME } = process.env;

for (const chapter of process.argv[3] === undefined ? CHAPTERS : process.argv.slice(3)) {
  const home = mkdtempSync(join(tmpdir(), 'fd-golden-'));
  const server = spawn(process.execPath, [join(checkout, 'dist/src/cli.js'), 'serve', '--port', '0'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH, HOME, FABRICDRILL_HOME: home },
  });
  const ended = once(server, 'exit');
  try {
    const url = await new Promise((found) => {
      let said = '';
      const hear = (chunk) => {
        said += chunk;
        const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(said) ?? [];
        if (address !== undefined) found(address);
      };
      for (const stream of [server.stdout, server.stderr]) stream.on('data', hear);
    });
    const jest = [
      '--experimental-vm-modules',
      'node_modules/jest/bin/jest.js',
      'test/golden/rest.e2e-spec.ts',
    ];
    const recorder = spawn(process.execPath, [...jest, '-t', `about ${chapter}$`], {
      stdio: 'inherit',
      cwd: resolve(import.meta.dirname, '../..'),
      env: { ...process.env, FABRICDRILL_GOLDEN: 'record', FABRICDRILL_GOLDEN_URL: url },
    });
    await once(recorder, 'exit');
  } finally {
    server.kill('SIGTERM');
    await ended;
    rmSync(home, { recursive: true, force: true });
  }
}
