/**
 * Drills on labs as a user does them: `fabrics up`, `run`, `fabrics down`, each a process of its own on one database.
 *
 * Definitions are the shipped ones with other names and shorter times, so that what ships is what is proven.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Scorecard } from '../../src/scoring/scorecard.js';
import { CHECKOUT, Cli, type CliResult } from './cli.js';
import { createTestDatabase, type TestDatabase } from './database.js';
import { yamlOf, type Json } from './definitions.js';
import { labName } from './linux-lab.js';

export interface LabRun {
  exitCode: number | null;
  scorecard: Scorecard;
}

/** A shipped definition: `metadata` and `spec` of what is in the file. */
type Document = Json & { metadata: { name: string }; spec: Json };

const shipped = (file: string): Document =>
  parse(readFileSync(join(CHECKOUT, 'experiments', file), 'utf8')) as Document;

/** When the fault of a shipped experiment begins, how long it stays, and how long the drill takes. */
export interface Times {
  at: string;
  hold: string;
  duration: string;
}

export class LabCli {
  private readonly built: string[] = [];

  private constructor(
    private readonly cli: Cli,
    private readonly database: TestDatabase,
    private readonly folder: string,
  ) {}

  static async open(): Promise<LabCli> {
    const database = await createTestDatabase();
    const folder = mkdtempSync(join(tmpdir(), 'fabricdrill-e2e-lab-'));
    return new LabCli(Cli.compile({ DATABASE_URL: database.url }), database, folder);
  }

  /** Builds the shipped lab under a name of its own, which it returns. @param spec what differs, its topology and settings key by key */
  async up(spec: Json): Promise<string> {
    const name = labName();
    const document = shipped('fabrics/linux-lab.yaml');
    const changed: Json = { ...document.spec, lab: { prefix: name }, ...spec };
    for (const part of ['topology', 'settings']) {
      changed[part] = { ...(document.spec[part] as Json), ...(spec[part] as Json | undefined) };
    }
    const file = this.write(name, { ...document, metadata: { name }, spec: changed });
    this.built.push(name);
    const { exitCode, stdout, stderr } = await this.cli.runApart(['fabrics', 'up', file]);
    if (exitCode !== 0) throw new Error(`fabrics up ended with ${exitCode}:\n${stdout}${stderr}`);
    return name;
  }

  /** The file of a shipped experiment with other times, and with what else differs in its only fault or its spec. */
  experiment(name: string, { at, hold, duration }: Times, fault: Json = {}, spec: Json = {}): string {
    const document = shipped(`${name}.yaml`);
    const [first] = document.spec.faults as Json[];
    const faults = [{ ...first, ...fault, at, duration: hold }];
    return this.write(name, { ...document, spec: { ...document.spec, duration, faults, ...spec } });
  }

  /** As it is typed. */
  typed(...args: string[]): Promise<CliResult> {
    return this.cli.runApart(args);
  }

  /** One drill, once: a lab has the machine to itself, so one that needs a second try is a failure. */
  async run(experiment: string, lab: string): Promise<LabRun> {
    const args = ['run', experiment, '--fabric', lab, '--confirm', lab, '--output', 'json'];
    const { exitCode, stdout, stderr } = await this.cli.runApart(args);
    if (stdout === '') throw new Error(`run ended with ${exitCode} and no scorecard:\n${stderr}`);
    return { exitCode, scorecard: JSON.parse(stdout) as Scorecard };
  }

  /** Removes its labs, its processes and its database. */
  async close(): Promise<void> {
    try {
      for (const name of this.built.splice(0)) {
        const { exitCode, stderr } = await this.cli.runApart(['fabrics', 'down', name]);
        if (exitCode !== 0) throw new Error(`fabrics down ${name} ended with ${exitCode}:\n${stderr}`);
      }
    } finally {
      this.cli.remove();
      rmSync(this.folder, { recursive: true });
      await this.database.drop();
    }
  }

  private write(name: string, document: Json): string {
    const file = join(mkdtempSync(join(this.folder, 'file-')), `${name}.yaml`);
    writeFileSync(file, yamlOf(document));
    return file;
  }
}
