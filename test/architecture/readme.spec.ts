/**
 * The README names every environment variable and every exit code, and only commands that there are.
 */
import { describe, expect, jest, test } from '@jest/globals';
import { main } from '../../src/cli/program.js';
import { variables } from '../../src/system/config/variables.js';
import { EXIT } from '../../src/scoring/exit-codes.js';
import { FINAL_STATES } from '../../src/scoring/scorecard.js';
import { filesBelow, readSource } from '../support/source-tree.js';

const readme = readSource('README.md');

/** What the system sets, not the user of this program. */
const SURROUNDINGS = ['XDG_DATA_HOME', 'INIT_CWD', 'TERM', 'npm_lifecycle_event'];

describe('the README', () => {
  test.each(Object.keys(variables).filter((name) => !SURROUNDINGS.includes(name)))('explains %s', (name) => {
    expect(readme).toMatch(new RegExp(`^\\|.*\`${name}\``, 'm'));
  });

  test.each(Object.values(EXIT))('explains exit code %i', (code) => {
    expect(readme).toMatch(new RegExp(`^\\| ${code} \\|`, 'm'));
  });

  test.each(FINAL_STATES)('explains the state %s', (state) => {
    expect(readme).toContain(`| \`${state}\` |`);
  });
});

describe('documentation', () => {
  const pages = filesBelow('.').filter((file) => file.endsWith('.md') && !file.startsWith('docs/adr/'));
  const blocks = (text: string): string[] =>
    [...text.matchAll(/^```\n([\s\S]*?)^```$/gm)].map(([, block]) => block);
  const called = pages.flatMap((page) =>
    blocks(readSource(page)).flatMap((block) =>
      [...block.matchAll(/^fabricdrill ([a-z-]+)(?: ([a-z]+))?/gm)].map((match) => [page, match] as const),
    ),
  );

  test.each(called.map(([page, match]) => [page, match[0], match] as const))(
    '%s calls a command that there is: %s',
    async (_page, _text, [, command, verb]) => {
      let help = '';
      jest.spyOn(process.stdout, 'write').mockImplementation((text) => ((help += String(text)), true));
      const exitCode = await main(['node', 'fabricdrill', command, '--help']);
      jest.restoreAllMocks();
      expect(exitCode).toBe(0);
      expect(help).toContain(`Usage: fabricdrill ${command}`);
      if (help.includes('\nCommands:')) expect(help).toMatch(new RegExp(`^ {2}${verb}\\b`, 'm'));
    },
  );
});
