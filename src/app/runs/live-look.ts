/**
 * Evidence so far, of a run whose fabric keeps to the wall clock: what a team works from while the fault is there.
 *
 * Looked at every few seconds and kept until the whole of it is stored; of a run that was cut short the last look stays. A
 * look that finds the one before still under way is left out, and so is evidence that has grown too large to be sent every
 * few seconds.
 */
import type { Fabric } from '../../fabric-api/fabric.js';
import { encodedParts } from '../../evidence/arrow.js';
import { EvidenceFile } from '../../evidence/evidence-file.js';
import type { LiveEvidence } from '../../store/evidence/live-evidence.js';

const LOOK_EVERY_MS = 2_000;
/** A look that takes long is followed by a rest of so many times that. */
const REST = 4;
const MOST_BYTES = 32 << 20;

/** @returns to be called as time passes on the fabric; does the rest by itself. Errors go to `failed`. */
export function lookEveryFewSeconds(
  fabric: Fabric,
  document: unknown,
  store: (evidence: LiveEvidence) => Promise<void>,
  failed: (error: unknown) => void,
): (nowNs: number) => void {
  let nextMs = Date.now() + LOOK_EVERY_MS;
  let busy = false;
  const look = async (untilNs: number): Promise<void> => {
    const evidence = await fabric.observe({ fromNs: 0, toNs: untilNs });
    const file = await EvidenceFile.write(encodedParts(evidence, true, document));
    try {
      if (file.bytes > MOST_BYTES) return;
      const chunks: Buffer[] = [];
      for await (const chunk of file.chunks()) chunks.push(chunk);
      await store({ untilNs, bytes: Buffer.concat(chunks) });
    } finally {
      await file.close();
    }
  };
  return (nowNs) => {
    const beganMs = Date.now();
    if (busy || beganMs < nextMs) return;
    busy = true;
    void look(nowNs)
      .catch(failed)
      .finally(() => {
        busy = false;
        nextMs = Date.now() + Math.max(LOOK_EVERY_MS, REST * (Date.now() - beganMs));
      });
  };
}
