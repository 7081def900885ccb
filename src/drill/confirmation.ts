/**
 * The confirmation of a real fabric: whoever asks for a drill on one names it a second time, so that no typing slip breaks a
 * cluster. One rule for the server and for the command line that acts without one; each words the next step for its users.
 */

/** What a drill is to run on. */
export interface DrilledFabric {
  name: string;
  driver: string;
}

export interface ConfirmationIssue {
  code: 'confirmation-required' | 'confirmation-mismatch';
  /** The real fabric that was not named, or the name that nothing here bears. */
  fabric: string;
  message: string;
}

/** What happens on it happens in the world. */
export const isReal = ({ driver }: { driver: string }): boolean => driver !== 'simulated';

/** @returns undefined when every real fabric was named, and nothing was named that is not drilled */
export function confirmationIssue(
  fabrics: readonly DrilledFabric[],
  confirm: string | undefined,
): ConfirmationIssue | undefined {
  const missing = fabrics.find((fabric) => isReal(fabric) && fabric.name !== confirm);
  if (missing !== undefined) {
    const { name } = missing;
    return { code: 'confirmation-required', fabric: name, message: `"${name}" is a real fabric` };
  }
  if (confirm === undefined || fabrics.length === 0 || fabrics.some(({ name }) => name === confirm)) {
    return undefined;
  }
  // whoever names a real fabric and forgot to choose it would take the simulation's pass for the fabric's
  return {
    code: 'confirmation-mismatch',
    fabric: confirm,
    message: `"${confirm}" is not what this runs on, which is the simulated "${fabrics[0].name}"`,
  };
}
