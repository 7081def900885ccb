/**
 * Waits for something that nothing announces.
 */

const PAUSE_MS = 20;

/** Resolves when the condition holds; rejects after the patience, so that a test fails where it waits. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what = 'the condition',
  patienceMs = 30_000,
): Promise<void> {
  const endMs = Date.now() + patienceMs;
  while (!(await condition())) {
    if (Date.now() > endMs) throw new Error(`${what} did not come true within ${patienceMs / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
