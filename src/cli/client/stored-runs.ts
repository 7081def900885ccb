/** Runs as they are stored, read here; or by the server that is named. Either way they are the same. */
import { Readable } from 'node:stream';
import type { FabricDocument } from '../../documents/fabric-document.js';
import { fabricAsRecorded, withJobsAsWritten } from '../../documents/stored.js';
import { EvidenceFile } from '../../evidence/evidence-file.js';
import type { RunState, Scorecard } from '../../scoring/scorecard.js';
import { isFinal } from '../../store/runs/run.machine.js';
import { refuseSealed } from '../../store/runs/sealed-run.js';
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

/** What was observed of a run: all of it, or so far, up to `untilS` seconds. */
export interface Observed {
  chunks: AsyncIterable<Uint8Array>;
  untilS: number | null;
}

/** Of a run that is under way, or was cut short, what was seen so far. @param use reads it to its end */
export const withObserved = <T>(
  id: string,
  context: CommandContext,
  use: (observed: Observed) => Promise<T>,
): Promise<T> =>
  read(
    context,
    async (sql) => {
      const { evidenceOf, findRun, liveEvidenceOf } = await reader();
      const run = await findRun(sql, id);
      const whole = async (): Promise<Observed> => ({
        chunks: (await evidenceOf(sql, run)).parts(),
        untilS: null,
      });
      const soFar = async (): Promise<Observed> => {
        const { bytes, untilNs } = await liveEvidenceOf(sql, run);
        return { chunks: Readable.from([bytes]), untilS: untilNs / 1e9 };
      };
      return use(await eitherOf(isFinal(run.state), whole, soFar));
    },
    async (client) => {
      const { final } = await client.json<RunView>('GET', address(id));
      const get = (rest: string) => async (): Promise<Observed> => {
        const { headers, body } = await client.request('GET', address(id, rest));
        const until = headers.get('evidence-until');
        return { chunks: Readable.fromWeb(body as never), untilS: until === null ? null : Number(until) };
      };
      return use(await eitherOf(final, get('/evidence'), get('/evidence/live')));
    },
  );

async function eitherOf(
  final: boolean,
  whole: () => Promise<Observed>,
  soFar: () => Promise<Observed>,
): Promise<Observed> {
  if (!final) return soFar();
  return whole().catch((error: unknown) => {
    if (!(error instanceof ProblemError || error instanceof RequestError)) throw error;
    return soFar().catch(() => {
      throw error;
    });
  });
}

/** Of a run in our own store: the fabric as it was recorded, and the evidence as a file, which the caller closes. */
export const recordedRun = (
  id: string,
  context: CommandContext,
): Promise<{ fabric: FabricDocument; file: EvidenceFile }> =>
  readHere(context, async (sql) => {
    const { evidenceOf, findRun } = await reader();
    const run = await findRun(sql, id);
    refuseSealed(run, 'diagnosis by us');
    const { parts } = await evidenceOf(sql, run);
    const fabric = fabricAsRecorded(withJobsAsWritten(run.fabricDefinition, run.definition));
    return { fabric, file: await EvidenceFile.from(parts()) };
  });

const reader = async () => ({
  ...(await import('../../store/runs/read-runs.js')),
  ...(await import('../../store/runs/run-view.js')),
});

const read = <T>(
  context: CommandContext,
  here: (sql: Sql) => Promise<T>,
  there: (client: ApiClient) => Promise<T>,
): Promise<T> =>
  context.config.serverUrl === undefined ? readHere(context, here) : context.withServer(there);

function readHere<T>({ config }: CommandContext, here: (sql: Sql) => Promise<T>): Promise<T> {
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
