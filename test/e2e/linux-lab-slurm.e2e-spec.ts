/**
 * A lab whose jobs are a real Slurm's: refused where Slurm could not run them, drained and moved by it, and given back even
 * by a drill that was killed. Slurm, the lab and its workers are this machine's; skipped, with the reason, where it has none.
 */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { readServerSettings } from '../../src/documents/server-settings.js';
import { openFabric, useServerSettings } from '../../src/drivers/catalog.js';
import { fabricSpecSchema } from '../../src/fabric-api/definition.js';
import type { Impairment } from '../../src/fabric-api/impairment.js';
import { SlurmClient } from '../../src/drivers/linux/slurm/slurm-client.js';
import { startSlurm, whyNoSlurm, type Slurm } from '../../src/drivers/linux/slurm/testing/small-slurm.js';
import { LocalPlace } from '../../src/drivers/linux/transport/place.js';
import { EnvironmentError, InputError } from '../../src/core/problem.js';
import { compileProgram, startProgram } from '../support/child-program.js';
import type { Scorecard } from '../../src/scoring/scorecard.js';
import { CHECKOUT, Cli } from '../support/cli.js';
import { yamlOf, type Json } from '../support/definitions.js';
import { labDefinition, labDown, labUp, whyNoLab } from '../support/linux-lab.js';
import { until } from '../support/until.js';

// a limit for what hangs; a drill takes its time, and programs start slowly on a busy machine
jest.setTimeout(240_000);
const PATIENCE_MS = 120_000;
const why = whyNoLab('jobs of a lab in a real Slurm') ?? whyNoSlurm();
if (why !== undefined) process.stderr.write(`skipped: jobs of a lab in a real Slurm: ${why}\n`);

const job = (name: string, hosts: string[]): Record<string, unknown> => ({
  name,
  hosts,
  queuePairs: 1,
  checkpoint: { every: 50, duration: '50ms' },
  step: { compute: '150ms', collectives: [{ collective: 'all-reduce', bytes: '400kB' }] },
});
const HOSTS = ['host-1', 'host-2', 'host-3', 'host-4', 'host-5', 'host-6'];
const NODES = Object.fromEntries(HOSTS.map((host, at) => [host, `h${at + 1}`]));
const LAB = {
  topology: {
    builder: 'leaf-spine',
    leaves: 2,
    spines: 1,
    hostsPerLeaf: 3,
    hostRate: '50Mbps',
    fabricRate: '50Mbps',
  },
  settings: { mtu: '1448B', headerBytes: 66, ackBytes: 66, bfd: false },
  telemetry: { switchInterval: '500ms', nicInterval: '500ms', jobInterval: '500ms' },
  jobs: [job('exposed', ['host-1', 'host-4']), job('bystander', ['host-3', 'host-6'])],
  lab: { undoMargin: '1s' },
};
const DRAIN: Impairment = { type: 'host-drain', device: 'device:host-5' };

/** Opens the fabric, drains a host for a while, and is killed before it can take that back. */
const DRAINS = `
import { openFabric, useServerSettings } from './src/drivers/catalog.js';
import { readServerSettings } from './src/documents/server-settings.js';
const [document, impairment, settings] = process.argv.slice(2).map((word) => JSON.parse(word));
useServerSettings(readServerSettings(settings));
const fabric = await openFabric(document, 1);
await fabric.apply('run/0', impairment, 1e9);
console.log('in place');
setInterval(() => undefined, 1000);
`;

(why === undefined ? describe : describe.skip)('a lab whose jobs are Slurm’s', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fabricdrill-lab-slurm-'));
  const [settings, silent] = ['settings.yaml', 'slurm.conf'].map((name) => join(folder, name));
  const cli = Cli.compile({ FABRICDRILL_HOME: join(folder, 'home'), FABRICDRILL_CONFIG: settings });
  const bare = labDefinition(LAB);
  let slurm: Slurm;
  let client: SlurmClient;

  /** @param changes of the orchestrator, for what is wrong */
  const fabric = (changes: Json = {}): Json => ({
    ...LAB,
    driver: 'linux',
    lab: { ...LAB.lab, prefix: bare.name },
    orchestrator: { slurm: 'lab', nodes: NODES, ...changes },
  });
  const open = (changes: Json): Promise<unknown> =>
    openFabric({ metadata: { name: bare.name }, spec: fabricSpecSchema.parse(fabric(changes)) }, 1);
  const leftovers = async (): Promise<unknown> => {
    const drained = (await client.nodes()).filter((node) => node.drained);
    return { drained, orders: await client.reservations(), jobs: await client.idsOf('exposed') };
  };
  const NOTHING = { drained: [], orders: [], jobs: [] };

  beforeAll(async () => {
    [slurm] = await Promise.all([startSlurm(Object.values(NODES)), labUp(bare)]);
    const entries = {
      lab: { configuration: slurm.environment.SLURM_CONF },
      far: { login: { host: 'login-1' } },
      none: { configuration: join(folder, 'none') },
      silent: { configuration: silent },
    };
    writeFileSync(settings, JSON.stringify({ slurm: entries }));
    useServerSettings(readServerSettings(settings));
    client = new SlurmClient(new LocalPlace(), slurm.environment.SLURM_CONF);
  });

  afterAll(async () => {
    await slurm?.stop();
    await labDown(bare);
    cli.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is refused before a drill where Slurm does not know what the file says, or does not answer', async () => {
    const wrong = { nodes: { ...NODES, 'host-4': 'h44' } };
    await expect(open(wrong)).rejects.toThrow(/nodes\/host-4: Slurm has no node "h44" for host-4.*h1/);
    await expect(open({ nodes: { ...NODES, 'host-44': 'h4' } })).rejects.toThrow(/no host "host-44"/);
    await expect(open({ nodes: { ...NODES, 'host-4': 'h1' } })).rejects.toThrow(/node h1 is of two hosts/);
    await expect(open({ partition: 'gpu' })).rejects.toThrow(
      /jobs\/0: Slurm would not take the job "exposed"/,
    );
    await expect(open({ slurm: 'far' })).rejects.toThrow(/an entry .* without login/);
    await expect(open({ slurm: 'none' })).rejects.toThrow(InputError);
    await expect(open({ slurm: 'lap' })).rejects.toThrow(
      /have no slurm "lap"; there is lab, far, none, silent/,
    );
    const text = readFileSync(slurm.environment.SLURM_CONF, 'utf8');
    writeFileSync(silent, text.replace(/SlurmctldPort=\d+/, 'SlurmctldPort=9'));
    await expect(open({ slurm: 'silent' })).rejects.toThrow(EnvironmentError);
    expect(await leftovers()).toEqual(NOTHING);
  });

  it('gets a drained node back when the lease ends, though the drill was killed', async () => {
    const program = compileProgram(DRAINS);
    const document = { metadata: { name: bare.name }, spec: fabricSpecSchema.parse(fabric()) };
    const running = startProgram(
      program,
      [document, DRAIN, settings].map((word) => JSON.stringify(word)),
    );
    expect(await running.line()).toBe('in place');
    running.process.kill('SIGKILL');
    await running.ended;
    program.remove();
    expect(await client.node('h5')).toMatchObject({
      drained: true,
      reason: expect.stringMatching(bare.name),
    });
    await until(async () => !(await client.node('h5')).drained, 'the end of the drain');
    expect(await leftovers()).toEqual(NOTHING);
  });

  /** Runs the drill, and follows at Slurm what it does there. */
  async function drilled(): Promise<{ scorecard: Scorecard }> {
    const output = join(folder, 'scorecard.json');
    const drill = cli.start([
      'run',
      join(folder, 'drill.yaml'),
      '--confirm',
      bare.name,
      '--output',
      `json=${output}`,
    ]);
    const isDrained = async (): Promise<boolean> => (await client.nodes()).some((node) => node.drained);
    await until(() => isDrained().catch(() => false), 'the drain', PATIENCE_MS);
    const [id] = await client.idsOf('exposed');
    const again = async (): Promise<boolean> => {
      const found = await client.job(id);
      return found === undefined || (found.restarts === 1 && found.state === 'RUNNING');
    };
    await until(again, 'the second life', PATIENCE_MS);
    const { stderr, exitCode } = await drill.ended;
    const scorecard = JSON.parse(readFileSync(output, 'utf8')) as Scorecard;
    // an objective may be missed; what happened is the same
    expect(exitCode === 0 || exitCode === 1 ? '' : stderr).toBe('');
    return { scorecard };
  }

  it('is drilled from a file to a verdict: Slurm drains the host and moves the job, which loses no step', async () => {
    const document = { apiVersion: 'fabricdrill/v1', kind: 'Fabric', metadata: { name: bare.name } };
    writeFileSync(join(folder, 'lab.yaml'), yamlOf({ ...document, spec: fabric() }));
    // the shipped experiment, in less time
    const shipped = parse(readFileSync(join(CHECKOUT, 'experiments/job-migration.yaml'), 'utf8')) as Json & {
      spec: { faults: Json[] };
    };
    const [fault] = shipped.spec.faults;
    const faults = [{ ...fault, at: '3s', duration: '9s' }];
    const spec = { ...shipped.spec, fabric: 'lab.yaml', duration: '18s', faults };
    writeFileSync(join(folder, 'drill.yaml'), yamlOf({ ...shipped, spec }));
    const { scorecard } = await drilled();
    const { scores, verdict, truth } = scorecard;
    const { time_to_recover_s: recoveredS } = scores.recovery.metrics;
    console.log(
      `Slurm: at its pace again, on another host, ${Number(recoveredS).toFixed(1)} s after the order`,
    );
    expect(scores.recovery.metrics).toMatchObject({ redone_steps: 0, recovered: true });
    const [{ elements }] = truth;
    const named = verdict!.culprits.find(({ kind }) => kind === 'job-migration');
    expect(named?.element).toEqual(elements[0]);
    const cited = named!.evidence.map(({ metric, element, change }) => `${metric} of ${element}: ${change}`);
    expect(cited).toContain(`host_drained of ${elements[0].id}: 0 → 1`);
    expect(cited).toContain(`host_allocated_gpus of ${elements[0].id}: 1 → 0`);
    expect(cited.some((line) => /host_allocated_gpus.*: 0 → 1/.test(line))).toBe(true);
    expect(await leftovers()).toEqual(NOTHING);
  });
});
