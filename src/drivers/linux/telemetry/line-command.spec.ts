import { afterEach, describe, expect, it } from '@jest/globals';
import { LineCommand } from './line-command.js';

const program = (script: string): string[] => [process.execPath, '-e', script];
const ECHO = `require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  if (line === 'die') process.exit(7);
  if (line !== 'silence') console.log(JSON.stringify([process.pid, line]));
})`;

describe('a command that stays', () => {
  let command: LineCommand;
  afterEach(() => command.close());

  it('answers in order, from one process', async () => {
    command = new LineCommand(program(ECHO));
    const answers = await Promise.all(['a', 'b', 'c'].map((line) => command.ask(line, 5000)));
    const rows = answers.map((answer) => JSON.parse(answer) as [number, string]);
    expect(rows.map(([, line]) => line)).toEqual(['a', 'b', 'c']);
    expect(new Set(rows.map(([pid]) => pid))).toEqual(new Set([command.pid]));
  });

  it('is started anew after it has died, or did not answer in time', async () => {
    command = new LineCommand(program(ECHO));
    await command.ask('a', 5000);
    const first = command.pid;
    await expect(command.ask('die', 5000)).rejects.toThrow(/ended: exit code 7/);
    await command.ask('b', 5000);
    expect(command.pid).not.toBe(first);
    await expect(command.ask('silence', 100)).rejects.toThrow(/no answer within 100 ms/);
    expect(JSON.parse(await command.ask('c', 5000))).toContain('c');
  });

  it('says what is wrong when it can not be started, and answers nothing once it is closed', async () => {
    command = new LineCommand(['/no/such/program']);
    await expect(command.ask('a', 1000)).rejects.toThrow(/ENOENT/);
    command.close();
    await expect(command.ask('a', 1000)).rejects.toThrow(/closed/);
  });
});
