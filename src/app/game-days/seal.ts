/**
 * The promise of a blind game day: what will be injected was fixed before anybody diagnosed it.
 *
 * The text is canonical JSON of everything that decides it, with 256 random bits, without which a hash of so few
 * possibilities could be found by trying. Its SHA-256 is shown from the start; the text, byte for byte, when the seal is
 * broken, so that `curl … | sha256sum` gives the same.
 */
import { createHash, randomBytes } from 'node:crypto';
import { planView } from '../../drill/plan/plan.js';
import { canonicalJson } from '../../system/digest.js';
import type { RunEntity } from '../../store/runs/run.entity.js';

export interface Seal {
  seal: string;
  sealedText: string;
}

export const sealOf = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

export function sealRun(run: RunEntity, stage: string, label: string): Seal {
  const sealedText = canonicalJson({
    run: run.id,
    stage,
    name: label,
    experiment: run.definition,
    fabric: run.fabricDefinition,
    seed: run.seed,
    plan: planView(run.plan),
    version: run.version,
    salt: randomBytes(32).toString('hex'),
  });
  return { seal: sealOf(sealedText), sealedText };
}
