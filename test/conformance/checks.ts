/**
 * What every fabric must do, as checks that throw: the suite runs them over real adapters, and over broken ones, which
 * they must catch. The drill relies on each of them when something goes wrong.
 */
import { expect } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import {
  advancesTime,
  keepsTime,
  runsWorkload,
  type ConfigurationSnapshot,
  type Fabric,
} from '../../src/fabric-api/fabric.js';
import { Injector } from '../../src/drill/undo.js';
import { levelsOf, type Impairment } from '../../src/fabric-api/impairment.js';
import { METRICS } from '../../src/model/telemetry/catalog.js';

/** Longest that a call of the contract may take, ms. */
export const CALL_WITHIN_MS = 20_000;

/** The fabric, with every answer due in time. */
export function inTime(fabric: Fabric, withinMs = CALL_WITHIN_MS): Fabric {
  const due = async <T>(call: string, answer: Promise<T>): Promise<T> => {
    const abort = new AbortController();
    const late = sleep(withinMs, undefined, { signal: abort.signal }).then(() => {
      throw new Error(`${call} gave no answer within ${withinMs} ms`);
    });
    try {
      return await Promise.race([answer, late]);
    } finally {
      abort.abort();
      late.catch(() => undefined);
    }
  };
  return {
    describe: () => fabric.describe(),
    readBack: (impairment) => due('readBack', fabric.readBack(impairment)),
    apply: (id, impairment, holdNs) => due('apply', fabric.apply(id, impairment, holdNs)),
    revert: (id, impairment, saved) => due('revert', fabric.revert(id, impairment, saved)),
    observe: (window) => due('observe', fabric.observe(window)),
    close: () => due('close', fabric.close()),
  };
}

/** Applied, read back and reverted, each as often as one likes. */
export async function checkRoundTrip(fabric: Fabric, impairment: Impairment): Promise<void> {
  const before = await fabric.readBack(impairment);
  expect(Object.keys(before)).not.toHaveLength(0);
  await fabric.apply('one', impairment);
  const during = await fabric.readBack(impairment);
  expect(during).not.toEqual(before);
  await fabric.apply('one', impairment);
  expect(await fabric.readBack(impairment)).toEqual(during);
  await fabric.revert('one', impairment, before);
  expect(await fabric.readBack(impairment)).toEqual(before);
  await fabric.revert('one', impairment, before);
  expect(await fabric.readBack(impairment)).toEqual(before);
}

/**
 * Reverted by an id that the fabric never saw, to what was saved. What was saved may itself be the impaired state, if an
 * operator had set it before the drill.
 */
export async function checkForeignRevert(fabric: Fabric, impairment: Impairment): Promise<void> {
  const saved = await fabric.readBack(impairment);
  await fabric.revert('of another process', impairment, saved);
  expect(await fabric.readBack(impairment)).toEqual(saved);
  await fabric.apply('crashed', impairment);
  const impaired = await fabric.readBack(impairment);
  await fabric.revert('crashed', impairment, saved);
  await fabric.revert('of another process again', impairment, impaired);
  expect(await fabric.readBack(impairment)).toEqual(impaired);
  await fabric.revert('of a third process', impairment, saved);
  expect(await fabric.readBack(impairment)).toEqual(saved);
}

/** Lets time of a fabric pass, ns. */
export type PassTime = (ns: number) => Promise<void>;

export const timeOf =
  (fabric: Fabric): PassTime =>
  async (ns) => {
    if (advancesTime(fabric)) await fabric.advance(fabric.nowNs + ns);
    else await sleep(ns / 1e6);
  };

const ALL_LEVELS_NS = 4e9;
const A_WHILE_NS = 0.1e9;
const LEVEL_WITHIN_NS = 20e9;

async function untilChanged(
  fabric: Fabric,
  impairment: Impairment,
  from: ConfigurationSnapshot,
  pass: PassTime,
): Promise<void> {
  for (let passedNs = 0; isDeepStrictEqual(await fabric.readBack(impairment), from); passedNs += A_WHILE_NS) {
    if (passedNs > LEVEL_WITHIN_NS) throw new Error('no later level came');
    await pass(A_WHILE_NS);
  }
}

/** A profile comes to its last level by itself, is not begun anew by a second `apply`, and is one thing to revert. */
export async function checkProfile(fabric: Fabric, profile: Impairment, pass: PassTime): Promise<void> {
  const before = await fabric.readBack(profile);
  const last = levelsOf(profile).at(-1)!.impairment;
  await fabric.apply('last level', last);
  const worst = await fabric.readBack(profile);
  await fabric.revert('last level', last, before);

  await fabric.apply('ramp', profile, 60e9);
  const first = await fabric.readBack(profile);
  expect(first).not.toEqual(before);
  expect(first).not.toEqual(worst);
  await untilChanged(fabric, profile, first, pass);
  const second = await fabric.readBack(profile);
  await fabric.apply('ramp', profile, 60e9);
  expect(await fabric.readBack(profile)).not.toEqual(first);
  await untilChanged(fabric, profile, second, pass);
  await pass(ALL_LEVELS_NS);
  expect(await fabric.readBack(profile)).toEqual(worst);
  await fabric.revert('ramp', profile, before);
  expect(await fabric.readBack(profile)).toEqual(before);
}

/** Reverted before its last level, by the drill or with all that an aborted one has in place: no later level comes. */
export async function checkProfileCutShort(
  fabric: Fabric,
  profile: Impairment,
  pass: PassTime,
): Promise<void> {
  const before = await fabric.readBack(profile);
  const journal: string[] = [];
  const note =
    (what: string) =>
    async (entry: string | { id: string }): Promise<void> =>
      void journal.push(`${what} ${typeof entry === 'string' ? entry : entry.id}`);
  const injector = new Injector(fabric, {
    ...{
      intend: note('intend'),
      applied: note('applied'),
      verified: note('verified'),
      failed: note('failed'),
    },
  });
  const signal = new AbortController().signal;
  for (const end of [() => injector.revert('reverted'), () => injector.revertAll()]) {
    const id = journal.length === 0 ? 'reverted' : 'aborted';
    await injector.apply(id, 'f', profile, signal, 60e9);
    await untilChanged(fabric, profile, await fabric.readBack(profile), pass);
    expect((await end()) ?? []).toEqual([]);
    expect(await fabric.readBack(profile)).toEqual(before);
  }
  await pass(ALL_LEVELS_NS);
  expect(await fabric.readBack(profile)).toEqual(before);
  expect(journal).toEqual(
    ['reverted', 'aborted'].flatMap((id) => [`intend ${id}`, `applied ${id}`, `verified ${id}`]),
  );
}

/** Settings of all these impairments. */
export async function everything(
  fabric: Fabric,
  impairments: readonly Impairment[],
): Promise<ConfigurationSnapshot[]> {
  const { capabilities } = fabric.describe();
  const found: ConfigurationSnapshot[] = [];
  for (const impairment of impairments.filter(({ type }) => capabilities.has(type))) {
    found.push(await fabric.readBack(impairment));
  }
  return found;
}

/** Watched for three seconds of its clock: catalogue metrics only, with rising times inside the window. */
export async function checkObservation(fabric: Fabric): Promise<void> {
  if (runsWorkload(fabric)) await fabric.startJobs();
  if (advancesTime(fabric)) await fabric.advance(3e9);
  else if (keepsTime(fabric)) while (fabric.clockNs() < 3e9) await sleep(50);
  const evidence = await fabric.observe({ fromNs: 1e9, toNs: 2e9 });
  const names = new Set<string>(METRICS.map(({ name }) => name));
  expect(evidence.series.length).toBeGreaterThan(0);
  for (const { metric, timesNs, values, quality } of evidence.series) {
    expect(names.has(metric)).toBe(true);
    expect(values).toHaveLength(timesNs.length);
    expect(quality).toHaveLength(timesNs.length);
    const wrong = timesNs.filter(
      (timeNs, index) => timeNs < 1e9 || timeNs > 2e9 || (index > 0 && timeNs <= timesNs[index - 1]),
    );
    expect(wrong).toHaveLength(0);
  }
}
