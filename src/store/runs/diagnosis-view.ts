/** A diagnosis from outside as REST and scorecards show it. */
import type { OutsideDiagnosis } from '../../scoring/scorecard.js';
import type { DiagnosisEntity } from './diagnosis.entity.js';

export const diagnosisView = (row: DiagnosisEntity): Record<string, unknown> => ({
  id: row.id,
  run: row.runId,
  source: row.source,
  author: row.author,
  receivedAt: row.receivedAt.toISOString(),
  beforeEnd: row.beforeEnd,
  explainability: row.score,
  reason: row.reason,
  verdict: row.verdict,
  alerts: row.alerts,
});

/** A line of a scorecard; null for what is no diagnosis of a run. */
export const scorecardEntry = (row: DiagnosisEntity): OutsideDiagnosis | null =>
  row.verdict === null
    ? null
    : {
        id: row.id,
        source: row.source,
        author: row.author,
        beforeEnd: row.beforeEnd,
        faultFound: row.verdict.faultFound,
        named: row.verdict.culprits.map(({ kind, element }) => ({ kind, element })),
        explainability: row.score,
      };
