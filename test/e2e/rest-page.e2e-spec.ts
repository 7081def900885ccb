/**
 * docs/rest.md can't rot: its commands are run as they stand, in order, in one shell, against a live server.
 */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHECKOUT } from '../support/cli.js';
import { queueBackends } from '../support/queue-backends.js';
import { startService, type TestService } from '../support/service.js';
import { readSource } from '../support/source-tree.js';

jest.setTimeout(120_000);

const MARK = '== block';
const blocks = [...readSource('docs/rest.md').matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map((match) => match[1]);

const hasCurl = spawnSync('curl', ['--version']).status === 0;
if (!hasCurl) console.log('docs/rest.md is not run: curl is missing (apt-get install curl)');

(hasCurl ? describe : describe.skip)('docs/rest.md', () => {
  let service: TestService;
  let outputs: string[] = [];

  beforeAll(async () => {
    const [backend] = queueBackends('docs/rest.md');
    service = await startService(backend, { api: true, worker: true });
    const script = blocks.map((block) => `echo '${MARK}'\n${block}\necho`).join('\n');
    outputs = (await shell(script, service.url)).split(`${MARK}\n`).slice(1);
  });

  afterAll(() => service.stop());

  const outputWith = (command: string): string => {
    const at = blocks.findIndex((block) => block.includes(command));
    expect(at).toBeGreaterThanOrEqual(0);
    return outputs[at];
  };

  it('runs to its end', () => {
    expect(outputs).toHaveLength(blocks.length);
    for (const output of outputs) expect(output.trim()).not.toBe('');
  });

  it('stores, plans and runs', () => {
    expect(outputWith('link-down.yaml')).toMatch(/^\/v1\/experiments\/[0-9a-f-]{36}\n/);
    expect(JSON.parse(outputWith('/plan'))).toMatchObject({ fabric: 'rail-64', seed: 7, unsupported: [] });
    expect(outputWith('/events')).toMatch(/^event: end$/m);
  });

  it('shows results', () => {
    const results = outputWith('/scorecard');
    expect(results).toContain('"explainability"');
    expect(results).toContain('"culprits"');
    expect(results).toMatch(/^### Objectives/m);
  });

  it('shows what is wrong', () => {
    expect(JSON.parse(outputWith('/abort'))).toMatchObject({ status: 409 });
    const { status, errors } = JSON.parse(outputWith('fabrik')) as { status: number; errors: unknown[] };
    expect(status).toBe(400);
    expect(errors).toContainEqual(expect.objectContaining({ pointer: '/spec/fabrik', line: 4 }));
  });
});

function shell(script: string, url: string): Promise<string> {
  // Of its own, since a file of this name may belong to another user.
  const folder = mkdtempSync(join(tmpdir(), 'fabricdrill-rest-page-'));
  const child = spawn('bash', ['-euo', 'pipefail', '-s'], {
    cwd: CHECKOUT,
    env: { PATH: process.env.PATH, URL: url, TMPDIR: folder },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (errors += chunk));
  child.stdin.end(script);
  return new Promise((done, failed) => {
    child.once('error', failed);
    child.once('close', (code) => {
      rmSync(folder, { recursive: true });
      if (code === 0) done(output);
      else failed(new Error(`exit ${code}\n${output}\n${errors}`));
    });
  });
}
