/**
 * Where a lab is built and removed: on this machine, or, with FABRICDRILL_URL, on that of the server, where the drill will run.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { EnvironmentError } from '../../core/problem.js';
import type { LabRemoval, LabSummary } from '../../fabric-api/lab-builder.js';
import type { ApiClient } from './api-client.js';

interface LabView {
  state: 'building' | 'up' | 'removing' | 'down' | 'failed';
  step: string | null;
  reason: string | null;
  hint: string | null;
  lab: LabSummary | null;
  removed: LabRemoval | null;
}

const LOOK_MS = 300;
const address = (name: string, rest = ''): string => `/v1/fabrics/${encodeURIComponent(name)}${rest}`;

/** Stores the document, builds its lab there and waits for it. @param progress told of each step */
export async function upOnServer(
  client: ApiClient,
  name: string,
  source: unknown,
  progress: (step: string) => void,
): Promise<LabSummary> {
  await client.json('PUT', address(name), source);
  await client.json('POST', address(name, '/up'));
  const { lab } = await settled(client, name, progress);
  if (lab === null) throw new EnvironmentError(`the lab "${name}" was removed by somebody else`);
  return lab;
}

/** @returns null where no lab but a paced simulation has ended */
export async function downOnServer(client: ApiClient, name: string): Promise<LabRemoval | null> {
  const begun = await client.json<LabView>('POST', address(name, '/down'));
  if (begun.state === 'down') return begun.removed;
  return (await settled(client, name, () => undefined)).removed;
}

async function settled(client: ApiClient, name: string, progress: (step: string) => void): Promise<LabView> {
  let told: string | null = null;
  for (;;) {
    const view = await client.json<LabView>('GET', address(name, '/lab'));
    if (view.step !== null && view.step !== told) progress(view.step);
    told = view.step;
    if (view.state === 'failed') {
      throw new EnvironmentError(view.reason ?? `the lab "${name}" failed`, view.hint ?? undefined);
    }
    if (view.state === 'up' || view.state === 'down') return view;
    await sleep(LOOK_MS);
  }
}
