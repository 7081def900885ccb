/** Scorecards as golden files hold them: what `--output json` prints, without what differs from run to run. */
import { reportFormat } from '../../src/reports/catalog.js';
import type { Scorecard } from '../../src/scoring/scorecard.js';

/** A seed that no shipped experiment states. */
export const OTHER_SEED = 2026;

/** @param file `experiments/NAME.yaml` */
export const goldenOf = (file: string, seed?: number): string =>
  `scorecards/${file.slice(file.indexOf('/') + 1, -'.yaml'.length)}${seed === undefined ? '' : `.seed-${seed}`}.json`;

export function printed(scorecard: Scorecard): unknown {
  const { run, ...told } = JSON.parse(reportFormat('json').render(scorecard)) as {
    run: Record<string, unknown>;
  };
  const { id: _id, version: _version, startedAt: _from, endedAt: _to, ...about } = run;
  return { run: about, ...told };
}
