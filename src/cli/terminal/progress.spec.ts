/** What a watcher sees on stderr, at a terminal and in a log. */
import { describe, expect, it } from '@jest/globals';
import { ProgressPrinter } from './progress.js';

function setUp(live: boolean) {
  let text = '';
  let nowMs = 0;
  const printer = new ProgressPrinter({ write: (part: string) => (text += part) }, live, () => nowMs);
  let id = 0;
  const show = (type: string, data: Record<string, unknown>, atMs = 0): void => {
    nowMs = atMs;
    printer.show({ id: ++id, type, data });
  };
  return { printer, show, text: () => text };
}

const clock = (now_s: number): Record<string, unknown> => ({ now_s, duration_s: 60 });

describe('progress', () => {
  it('gives a line to each phase, in words', () => {
    const { show, text } = setUp(false);
    show('state', { state: 'baseline' });
    show('state', { state: 'injecting', detail: 'link-down' });
    show('state', { state: 'passed' });
    expect(text()).toBe(
      'baseline    watching the healthy fabric\ninjecting   injecting (link-down)\npassed\n',
    );
  });

  it('says loudly what could not be undone', () => {
    const { show, text } = setUp(false);
    show('revert-failed', { id: 'r/cut/0', reason: 'no answer' });
    expect(text()).toBe('COULD NOT UNDO r/cut/0: no answer\n');
  });

  it('writes no control characters into a log, and a line of the clock every 10 s', () => {
    const { show, text } = setUp(false);
    show('state', { state: 'holding' });
    for (let second = 1; second <= 25; second++) show('progress', clock(second), second * 1000);
    expect(text().split('\n').slice(1)).toEqual(['            10 of 60 s', '            20 of 60 s', '']);
    expect(text()).not.toContain('\r');
    expect(text()).not.toContain('\u001b');
  });

  it('moves one line at a terminal and takes it away before the next phase', () => {
    const { show, text, printer } = setUp(true);
    show('progress', clock(30));
    expect(text()).toBe(`\r\u001b[K${'█'.repeat(15)}${'░'.repeat(15)} 30 of 60 s`);
    show('state', { state: 'reverting' });
    expect(text().endsWith(' s\r\u001b[Kreverting   reverting\n')).toBe(true);
    const before = text();
    printer.finish();
    expect(text()).toBe(before);
  });

  it('draws a full bar, not more, when a run goes on past its planned end', () => {
    const { show, text } = setUp(true);
    show('progress', clock(90));
    expect(text()).toContain(`${'█'.repeat(30)} 90 of 60 s`);
  });
});
