import { describe, expect, it } from '@jest/globals';
import { HYPOTHESES, LIKELIHOODS, PRIORS, logLikelihoodRatio } from './likelihoods.js';
import type { Likelihood, Signature } from './likelihoods.js';

const rows = Object.entries(LIKELIHOODS) as [Signature, Likelihood][];

describe('the likelihood table', () => {
  it('holds no certainty: every cell and prior lies strictly between 0 and 1', () => {
    for (const [, row] of rows) {
      for (const chance of Object.values(row)) {
        expect(chance).toBeGreaterThan(0);
        expect(chance).toBeLessThan(1);
      }
    }
    for (const prior of Object.values(PRIORS)) expect(prior).toBeLessThan(0.01);
  });

  it('lets no signature pass that could not be looked for', () => {
    for (const [signature] of rows) {
      for (const hypothesis of HYPOTHESES) {
        expect(logLikelihoodRatio(signature, 'unknown', hypothesis)).toBe(0);
      }
    }
  });

  it('moves presence and absence in opposite directions', () => {
    for (const [signature] of rows) {
      for (const hypothesis of HYPOTHESES) {
        const present = logLikelihoodRatio(signature, 'present', hypothesis);
        const absent = logLikelihoodRatio(signature, 'absent', hypothesis);
        expect(present * absent).toBeLessThanOrEqual(0);
        expect(Number.isFinite(present) && Number.isFinite(absent)).toBe(true);
      }
    }
  });

  it('tells every two hypotheses apart by at least one signature, or by whose port it is', () => {
    const atSender = ['optic-error/host', 'optic-error/switch', 'optic-error/unknown'];
    for (const one of HYPOTHESES) {
      for (const other of HYPOTHESES.filter((hypothesis) => hypothesis !== one)) {
        if (atSender.includes(one) && atSender.includes(other)) continue;
        const differs = rows.some(
          ([signature]) =>
            logLikelihoodRatio(signature, 'present', one) !== logLikelihoodRatio(signature, 'present', other),
        );
        expect(differs).toBe(true);
      }
    }
  });
});
