/**
 * Keeps results of runs from being written, which holds a run in `diagnosing`: no fabric is asked for anything there.
 */
import pg from 'pg';

export async function lockResults(databaseUrl: string): Promise<{ release(): Promise<void> }> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('BEGIN');
  await client.query('LOCK TABLE run_results IN ACCESS EXCLUSIVE MODE');
  return {
    release: async () => {
      await client.query('ROLLBACK');
      await client.end();
    },
  };
}
