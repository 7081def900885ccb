/**
 * The pipeline snippets of docs/pipelines, each run as the script it is: with a candidate that is worse they must end as
 * the gate does and leave the reports that the pipeline picks up. Runs are kept, so that only the first one simulates.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { compileProgram, type ChildProgram } from '../support/child-program.js';
import { experimentDocument, fabricDocument, yamlOf } from '../support/definitions.js';
import { readSource } from '../support/source-tree.js';

interface Workflow {
  jobs: Record<string, { steps: { run?: string }[] }>;
}

/** By pipeline: the shell that it would run. */
const SCRIPTS: Record<string, (text: string) => string[]> = {
  'github-actions.yml': (text) =>
    Object.values((parse(text) as Workflow).jobs).flatMap(({ steps }) =>
      steps.flatMap(({ run }) => run ?? []),
    ),
  'gitlab-ci.yml': (text) => [
    (parse(text) as { 'fabric-gate': { script: string[] } })['fabric-gate'].script.join('\n'),
  ],
  Jenkinsfile: (text) => [...text.matchAll(/sh '''([\s\S]*?)'''/g)].map((match) => match[1]),
};

const SUITE = yamlOf({
  apiVersion: 'fabricdrill/v1',
  kind: 'Suite',
  metadata: { name: 'pre-upgrade' },
  spec: {
    experiments: ['drill'],
    seeds: 5,
    objectives: [{ metric: 'training.step_time_s', margin: '5%' }],
  },
});

const PACKAGE = 'https://packages.example.com/fabricdrill.tgz';

let folder: string;
let program: ChildProgram;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fabricdrill-pipelines-'));
  for (const name of ['bin', 'suites', 'fabrics']) mkdirSync(join(folder, name));
  const today = fabricDocument('today') as { spec: { topology: object } };
  const slow = {
    ...today.spec,
    topology: { ...today.spec.topology, hostRate: '10Gbps', fabricRate: '10Gbps' },
  };
  writeFileSync(
    join(folder, 'suites/pre-upgrade.yaml'),
    `${SUITE}---\n${yamlOf(experimentDocument('drill', '../fabrics/today.yaml'))}`,
  );
  writeFileSync(join(folder, 'fabrics/today.yaml'), yamlOf(today));
  writeFileSync(
    join(folder, 'fabrics/next.yaml'),
    yamlOf({ ...today, metadata: { name: 'next' }, spec: slow }),
  );
  // threads are started by path, so only the compiled file tells where they begin
  program = compileProgram(`import './src/cli.js';`);
  const command = join(folder, 'bin/fabricdrill');
  writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${program.folder}/src/cli.js" "$@"\n`);
  chmodSync(command, 0o755);
  // the command above stands for what would be installed; test/e2e/install installs the real package
  const npm = join(folder, 'bin/npm');
  writeFileSync(npm, '#!/bin/sh\necho "$@" >> "$HOME/npm.log"\n');
  chmodSync(npm, 0o755);
}, 60_000);

afterAll(() => {
  program.remove();
  rmSync(folder, { recursive: true });
});

/** As the pipeline's shell would: it stops at the first command that fails. */
const inShell = (name: string, cwd: string): SpawnSyncReturns<string> => {
  const scripts = SCRIPTS[name](readSource(`docs/pipelines/${name}`));
  expect(scripts).toHaveLength(1);
  return spawnSync('bash', ['-e', '-o', 'pipefail', '-c', scripts[0]], {
    cwd,
    encoding: 'utf8',
    env: {
      PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
      HOME: folder,
      FABRICDRILL_HOME: join(folder, 'home'),
      GITHUB_STEP_SUMMARY: join(folder, 'summary.md'),
      FABRICDRILL_PACKAGE: PACKAGE,
    },
  });
};

describe('the pipeline snippet', () => {
  it.each(Object.keys(SCRIPTS))('%s installs the package that it is told of', (name) => {
    rmSync(join(folder, 'npm.log'), { force: true });
    inShell(name, join(folder, 'bin'));
    expect(readFileSync(join(folder, 'npm.log'), 'utf8')).toBe(`install --global ${PACKAGE}\n`);
    const text = readSource(`docs/pipelines/${name}`);
    expect(text).toMatch(/FABRICDRILL_PACKAGE(: | = ')https:[^ ']*fabricdrill-\d+\.\d+\.\d+\.tgz/);
  });

  it.each(Object.keys(SCRIPTS))('%s ends as bad input where the suite is not there', (name) => {
    const { status, stderr } = inShell(name, join(folder, 'bin'));
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: expect.stringMatching(/^error: suites\/pre-upgrade.yaml: there is no such file/),
    });
  });

  it.each(Object.keys(SCRIPTS))(
    '%s fails as its gate does and leaves its reports',
    (name) => {
      for (const file of ['gate.md', 'gate.xml']) rmSync(join(folder, file), { force: true });
      const { status, stdout, stderr } = inShell(name, folder);
      expect({ status, stderr: status === 1 ? '' : stderr }).toEqual({ status: 1, stderr: '' });
      expect(readFileSync(join(folder, 'gate.xml'), 'utf8')).toContain('<failure type="regression"');
      expect(readFileSync(join(folder, 'gate.md'), 'utf8')).toMatch(/^## fabricdrill gate failed/);
      if (name !== 'github-actions.yml') return;
      expect(stdout).toMatch(/^::error file=suites\/pre-upgrade.yaml,line=\d+,title=regression/);
      expect(existsSync(join(folder, 'gate.sarif'))).toBe(true);
      expect(readFileSync(join(folder, 'summary.md'), 'utf8')).toContain('gate failed');
    },
    120_000,
  );
});
