/** Runs as they are stored, read here; or by the server that is named. Either way they are the same. */
import type { RunState, Scorecard } from '../../scoring/scorecard.js';
import type { Sql } from '../../store/sql.js';
import { NotFoundError, RequestError } from '../../system/errors.js';
import type { CommandContext } from '../context.js';
import { withStore } from '../store.js';
import { ProblemError } from '../terminal/failure.js';
import type { ApiClient, RunView } from './api-client.js';

export interface RunChoice {
  state?: RunState;
  fabric?: string;
  experiment?: string;
}

const address = (id: string, rest = ''): string => `/v1/runs/${encodeURIComponent(id)}${rest}`;

/** Newest first. */
export const listedRuns = (choice: RunChoice, limit: number, context: CommandContext): Promise<RunView[]> =>
  read(
    context,
    async (sql) => {
      const { listRuns, runView } = await reader();
      return (await listRuns(sql, choice, limit)).slice(0, limit).map(runView) as unknown as RunView[];
    },
    async (client) => {
      const query = new URLSearchParams({ limit: String(limit), ...choice });
      return (await client.json<{ data: RunView[] }>('GET', `/v1/runs?${query.toString()}`)).data;
    },
  );

/** With its plan, unless that is sealed. */
export const shownRun = (id: string, context: CommandContext): Promise<RunView> =>
  read(
    context,
    async (sql) => {
      const [{ findRun, runView }, { planView }] = [await reader(), await import('../../drill/plan/plan.js')];
      const run = await findRun(sql, id);
      return { ...runView(run), plan: run.sealed ? null : planView(run.plan) } as unknown as RunView;
    },
    (client) => client.json<RunView>('GET', address(id)),
  );

/** With what others said of the run. */
export async function runScorecard(id: string, context: CommandContext): Promise<Scorecard> {
  const ofServer = (client: ApiClient): Promise<Scorecard> => client.json('GET', address(id, '/scorecard'));
  const own = await read<Scorecard | undefined>(
    context,
    async (sql) => {
      const { findRun, scorecardOf } = await reader();
      const scorecard = await scorecardOf(sql, await findRun(sql, id));
      // diagnoses from elsewhere are scored when they are asked for, which is the server's
      const others = await sql.query<unknown[]>('SELECT 1 FROM run_diagnoses WHERE run_id = $1 LIMIT 1', [
        id,
      ]);
      return others.length === 0 ? scorecard : undefined;
    },
    ofServer,
  );
  return own ?? context.withServer(ofServer);
}

const reader = async () => ({
  ...(await import('../../store/runs/read-runs.js')),
  ...(await import('../../store/runs/run-view.js')),
});

function read<T>(
  { config, withServer }: CommandContext,
  here: (sql: Sql) => Promise<T>,
  there: (client: ApiClient) => Promise<T>,
): Promise<T> {
  if (config.serverUrl !== undefined) return withServer(there);
  return withStore(config, async (store) => {
    try {
      return await here(await store.sql());
    } catch (error) {
      throw error instanceof RequestError ? asProblem(error) : error;
    }
  });
}

/** As a server would answer. */
function asProblem(error: RequestError): ProblemError {
  const status = error instanceof NotFoundError ? 404 : 409;
  return new ProblemError(status, { detail: error.message, hint: error.hint });
}
