/** What help texts share. */

/** Examples under a command's options, as `addHelpText('after', …)` takes them. */
export const examples = (commands: readonly string[]): string =>
  ['', `Example${commands.length === 1 ? '' : 's'}:`, ...commands.map((one) => `  fabricdrill ${one}`)].join(
    '\n',
  );
