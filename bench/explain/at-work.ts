/**
 * Which switches a setting is at work on: where a drill of marks or buffers is worth its time.
 *
 * A threshold that no queue reaches may be anything, so who drills it looks first where switches mark or pause at all. The
 * scene runs for some seconds without any fault, and each switch whose counter rises is a target, in random order.
 */
import { InputError } from '../../src/core/problem.js';
import type { Prng } from '../../src/core/prng.js';
import type { SimulatedFabric } from '../../src/drivers/simulated/simulated-fabric.js';
import type { Attempt, CorpusCase } from './corpus/case.js';
import { caseRandom } from './corpus/seeds.js';

/** Steps enough for every queue that a job fills to be seen. */
const WATCHED_NS = 10e9;

/**
 * What may be tried for each fault, with the targets of those that ask for a counter at work.
 * @param open opens the scene of the case once more
 * @throws InputError when no switch counts any
 */
export async function attemptsAtWork(
  one: CorpusCase,
  open: () => SimulatedFabric,
): Promise<readonly (readonly Attempt[])[]> {
  if (one.entries.every(({ atWork }) => atWork === undefined)) return one.attempts;
  const fabric = open();
  await fabric.startJobs();
  await fabric.advance(WATCHED_NS);
  const { series } = await fabric.observe({ fromNs: 0, toNs: WATCHED_NS });
  const { topology } = fabric.describe();
  await fabric.close();
  const random = caseRandom(one.seed).stream('at work');
  return one.entries.map(({ atWork }, index) => {
    if (atWork === undefined) return one.attempts[index];
    const counting = new Set(
      series
        .filter(({ metric, values }) => metric === atWork && (values.at(-1) ?? 0) > (values.at(0) ?? 0))
        .map(({ element }) => element.slice(element.indexOf(':') + 1).split('/')[0]),
    );
    const names = topology.devices.flatMap(({ role, name }) =>
      role === 'switch' && counting.has(name) ? [name] : [],
    );
    if (names.length === 0) throw InputError.at('/spec/faults', `no switch counts ${atWork} in this scene`);
    return targeted(one.attempts[index][0], names, random.stream(`${index}`));
  });
}

const targeted = (attempt: Attempt, names: readonly string[], random: Prng): Attempt[] =>
  random
    .shuffle(names)
    .map((name) => ({ ...attempt, target: { type: 'device', names: [name], mode: 'one' } }));
