import { expect, it } from '@jest/globals';
import { Computing } from './compute/host.js';
import { endingOfError } from './ending.js';

it.each([
  ['thread', () => Computing.thread(), 70],
  ['process', () => Computing.process(), 3],
] as const)('a drill whose %s is lost ends as error, and says so', async (name, start, exitCode) => {
  const computing = start();
  const computed = computing.compute({} as never, () => undefined).catch((error: unknown) => error);
  await computing.close();
  const ending = endingOfError(await computed);
  expect(ending).toMatchObject({ state: 'error', exitCode });
  expect(ending.reason).toMatch(
    new RegExp(`^the ${name} that computed it was lost \\(its ${name} ended with .+\\)`),
  );
});
