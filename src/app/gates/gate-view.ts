/** A gate as REST shows it; the result has an end of its own. */
import { OPEN_GATE_STATES, type GateEntity } from './gate.entity.js';

export function gateView(gate: GateEntity): Record<string, unknown> {
  return {
    id: gate.id,
    suite: gate.suiteName,
    baseline: gate.baselineName,
    candidate: gate.candidateName,
    state: gate.state,
    final: !OPEN_GATE_STATES.includes(gate.state),
    reason: gate.reason,
    exitCode: gate.exitCode,
    progress: { done: gate.runsDone, planned: gate.runsPlanned, made: gate.runsMade },
    version: gate.version,
    createdAt: gate.createdAt.toISOString(),
    startedAt: gate.startedAt?.toISOString() ?? null,
    endedAt: gate.endedAt?.toISOString() ?? null,
  };
}

export const gateDetails = (gate: GateEntity): Record<string, unknown> => ({
  ...gateView(gate),
  result: gate.result,
});
