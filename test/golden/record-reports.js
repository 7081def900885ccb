/**
 * Records each report format of a run, a gate that fails and a parity check that differs, as the command line of a built
 * checkout writes them.
 *
 *   node test/golden/record-reports.js CHECKOUT
 *
 * The ones in this folder are those of commit 5e5372a. Reports of game days are in the conversations with the server.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const checkout = resolve(process.argv[2] ?? '.');
const recorded = join(import.meta.dirname, 'recorded/reports');
const folder = mkdtempSync(join(tmpdir(), 'fd-golden-'));

const put = (kind, name, spec) =>
  writeFileSync(
    join(folder, `${name}.yaml`),
    JSON.stringify({ apiVersion: 'fabricdrill/v1', kind, metadata: { name }, spec }, null, 1),
  );
const job = (name, offset) => ({
  name,
  gpus: 4,
  placement: { strategy: 'packed', offset },
  step: { compute: '80ms', collectives: [{ collective: 'all-reduce', bytes: '200MB' }] },
});
const topology = { builder: 'leaf-spine', leaves: 2, spines: 2, hostsPerLeaf: 3, gpusPerHost: 2 };
const fabric = (name, spec) =>
  put('Fabric', name, { topology, jobs: [job('exposed', 4), job('bystander', 0)], ...spec });

fabric('site', { settings: { hashSeed: 3 } });
fabric('slow', { settings: { carrierDetection: '900ms', sessionRestore: '30s' } });
fabric('thin', { topology: { ...topology, hostRate: '10Gbps', fabricRate: '10Gbps' } });
put('Experiment', 'cut', {
  fabric: 'site.yaml',
  seed: 11,
  duration: '14s',
  faults: [
    {
      kind: 'link-down',
      params: { variant: 'cut' },
      target: { type: 'link', tier: 'leaf-spine', usedBy: 'exposed', mode: 'one', order: 'random' },
      at: '3s',
      duration: '3s',
    },
  ],
  objectives: ['recovery.recovered == 1'],
});
put('Suite', 'upgrade', {
  experiments: ['cut.yaml'],
  seeds: 5,
  objectives: [
    { metric: 'training.step_time_s', margin: '5%' },
    { metric: 'recovery.time_to_recover_s', margin: 1 },
  ],
});

const COMMANDS = {
  run: [
    ['run', 'cut.yaml'],
    ['text', 'json', 'junit', 'markdown'],
  ],
  gate: [
    ['gate', 'upgrade.yaml', '--baseline', 'site.yaml', '--candidate', 'thin.yaml', '--no-cache'],
    ['text', 'json', 'junit', 'markdown', 'sarif', 'github'],
  ],
  parity: [
    ['parity', 'cut.yaml', '--twin', 'slow.yaml'],
    ['text', 'json', 'junit', 'markdown'],
  ],
};
const { PATH, HOME } = process.env;
const env = { PATH, HOME, FABRICDRILL_HOME: join(folder, 'home') };
for (const [subject, [command, formats]] of Object.entries(COMMANDS)) {
  const outputs = formats.flatMap((format) => ['--output', `${format}=${subject}.${format}`]);
  const args = [join(checkout, 'dist/src/cli.js'), ...command, ...outputs];
  spawnSync(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'] });
  for (const format of formats) {
    copyFileSync(join(folder, `${subject}.${format}`), join(recorded, `${subject}.${format}`));
  }
}
rmSync(folder, { recursive: true, force: true });
