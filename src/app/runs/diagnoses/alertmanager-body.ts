/**
 * What Alertmanager's webhook sends (its documentation, "webhook_config", version 4), as far as it is read here, and
 * the verdict that its alerts amount to.
 *
 * Further keys are allowed, since later versions add some. An alert that has been resolved has fired before, so it
 * counts. Alerts say when something began and never why one should believe them, so no evidence is cited.
 */
import { z } from 'zod';
import { plainVerdict, type Culprit, type Verdict } from '../../../diagnosis/verdict.js';
import type { Alert } from '../../../store/runs/diagnosis.entity.js';
import type { AlertClaim } from '../../../fabric-api/alert-labels.js';

const labels = z.record(z.string().max(200), z.string().max(2000));

const alertSchema: z.ZodType<Alert> = z.object({
  status: z.enum(['firing', 'resolved']),
  labels,
  startsAt: z.iso.datetime({ offset: true }),
  endsAt: z.string().max(100).optional(),
  fingerprint: z.string().max(100).optional(),
});

export const alertmanagerSchema = z.object({
  version: z.literal('4').optional(),
  receiver: z.string().min(1).max(200).default('alertmanager'),
  alerts: z.array(alertSchema).min(1).max(1000),
});

/** The same alert in another message. */
const alertKey = ({ fingerprint, labels: own, startsAt }: Alert): string =>
  `${fingerprint ?? JSON.stringify(Object.entries(own).sort())} ${startsAt}`;

/** Alerts of two messages, each once, in the order in which they began. */
export function mergeAlerts(earlier: readonly Alert[], later: readonly Alert[]): Alert[] {
  const byKey = new Map([...earlier, ...later].map((alert) => [alertKey(alert), alert]));
  return [...byKey.values()].sort((a, b) => Date.parse(a.startsAt) - Date.parse(b.startsAt));
}

/**
 * One culprit for each claimed element and kind; what began first comes first.
 * @param startMs wall clock of the run's start; null where the fabric's clock is not the wall's
 */
export function verdictOfAlerts(
  claims: readonly { alert: Alert; claim: AlertClaim }[],
  startMs: number | null,
): Verdict {
  const byClaim = new Map<string, Culprit>();
  for (const { alert, claim } of claims) {
    const key = `${claim.kind} ${claim.element.id}`;
    if (byClaim.has(key)) continue;
    byClaim.set(key, {
      rank: byClaim.size + 1,
      ...claim,
      direction: 'both',
      onset_s: startMs === null ? null : (Date.parse(alert.startsAt) - startMs) / 1000,
      lostTimeShare: null,
      evidence: [],
    });
  }
  const culprits = [...byClaim.values()];
  const names = culprits.map(({ kind, element }) => `${kind} at ${element.id}`);
  return plainVerdict(culprits, true, `Alerts: ${names.join(', ')}.`);
}
