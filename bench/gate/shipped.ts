/** The upgrades that ship with the suite `pre-upgrade`, each with what its file says that the gate must do. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadDefinitions, type LoadedFile } from '../../src/documents/load.js';
import type { Pair } from './measure-pair.js';

/** Compiled files lie one folder deeper than their sources. */
const FOLDER = ['../../experiments/suites', '../../../experiments/suites']
  .map((path) => fileURLToPath(new URL(path, import.meta.url)))
  .find((path) => existsSync(path));

const definitions = (file: string): LoadedFile =>
  loadDefinitions(
    readFileSync(file, 'utf8'),
    (path) => readFileSync(resolve(file, '..', path), 'utf8'),
    file,
  );

/** The suite with its experiments, which stand in its own file. */
export function preUpgradeSuite(): Pick<Pair, 'suite' | 'experiments'> {
  const { suites, experiments } = definitions(join(FOLDER!, 'pre-upgrade.yaml'));
  const suite = suites[0].value;
  const named = new Map(experiments.map(({ value }) => [value.metadata.name, value]));
  return { suite, experiments: suite.spec.experiments.map((name) => named.get(name)!) };
}

export function shippedUpgrades(): Pair[] {
  const suite = preUpgradeSuite();
  const folder = join(FOLDER!, 'upgrades');
  return readdirSync(folder)
    .sort()
    .map((name): Pair => {
      const file = join(folder, name);
      const [baseline, candidate] = definitions(file).fabrics.map(({ value }) => value);
      const says = /must (pass|fail)[.]/.exec(readFileSync(file, 'utf8').replaceAll(/\n# /g, ' '))?.[1];
      if (says === undefined) throw new Error(`${file} does not say whether the gate must pass or fail`);
      const wanted = says === 'pass' ? 'none' : 'regression';
      return { name: basename(name, '.yaml'), wanted, ...suite, baseline, candidate };
    });
}
