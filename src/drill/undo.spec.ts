import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { ConfigurationSnapshot } from '../fabric-api/fabric.js';
import { FakeFabric, LINKS } from './testing/fake-fabric.js';
import { differences, Injector, revertEntry, type UndoEntry, type UndoJournal } from './undo.js';

const [LINK] = LINKS;
const CUT = { type: 'link-cut', link: LINK } as const;
const HEALTHY: ConfigurationSnapshot = { [LINK]: { cable: 'connected' } };
const ENTRY: UndoEntry = { id: 'one', fault: 'cut', impairment: CUT, saved: HEALTHY };

const SILENT: UndoJournal = {
  intend: async () => undefined,
  applied: async () => undefined,
  verified: async () => undefined,
  failed: async () => undefined,
};
const going = new AbortController().signal;

/** Says that it reverted and does nothing. */
class LyingFabric extends FakeFabric {
  override async revert(): Promise<void> {
    return undefined;
  }
}

const snapshot = fc.dictionary(
  fc.constantFrom('port:a', 'port:b', 'link:c'),
  fc.dictionary(fc.constantFrom('admin-status', 'speed'), fc.constantFrom('up', 'down', '100')),
);

describe('differences between settings', () => {
  it('are none for the same settings, whatever the order of their keys', () => {
    fc.assert(
      fc.property(snapshot, (one) => {
        const turned = Object.fromEntries(Object.entries(one).reverse());
        expect(differences(one, turned)).toEqual([]);
      }),
    );
  });

  it('are found either way round and name element, setting and both values', () => {
    fc.assert(
      fc.property(snapshot, snapshot, (saved, found) => {
        expect(differences(saved, found).length).toBe(differences(found, saved).length);
      }),
    );
    expect(differences(HEALTHY, { [LINK]: { cable: 'cut' } })).toEqual([
      `${LINK} cable is cut, was connected`,
    ]);
    expect(differences(HEALTHY, {})).toEqual([`${LINK} cable is unreadable, was connected`]);
  });
});

describe('reverting an entry', () => {
  it('that another process applied brings back what was saved, as often as one likes', async () => {
    const fabric = new FakeFabric(undefined, [LINK]);
    expect(await revertEntry(fabric, ENTRY)).toBeUndefined();
    expect(await revertEntry(fabric, ENTRY)).toBeUndefined();
    expect(fabric.state[LINK]).toBe('connected');
  });

  it('does not believe a fabric that only says so', async () => {
    const fabric = new LyingFabric();
    await fabric.apply('one', CUT);
    expect(await revertEntry(fabric, ENTRY)).toBe(`${LINK} cable is cut, was connected`);
  });

  it('is tried three times before it counts as failed', async () => {
    let calls = 0;
    const fabric = new FakeFabric((call, when) => {
      if (call !== 'revert' || when !== 'before') return;
      calls++;
      throw new Error('no answer');
    });
    expect(await revertEntry(fabric, ENTRY)).toBe('no answer');
    expect(calls).toBe(3);
  });
});

describe('an injector', () => {
  it('undoes impairments that overlap on one setting to what was there before the first of them', async () => {
    const saved: ConfigurationSnapshot[] = [];
    const fabric = new FakeFabric();
    const injector = new Injector(fabric, {
      ...SILENT,
      intend: async (entry) => void saved.push(entry.saved),
    });
    await injector.apply('first', 'cut', CUT, going);
    await injector.apply('second', 'cut', CUT, going);
    expect(saved).toEqual([HEALTHY, HEALTHY]);
    expect(await injector.revert('first')).toBeUndefined();
    expect(fabric.state[LINK]).toBe('cut');
    expect(await injector.revert('second')).toBeUndefined();
    expect(fabric.state[LINK]).toBe('connected');
  });

  it('applies nothing when the intent can not be written', async () => {
    const fabric = new FakeFabric();
    const journal = { ...SILENT, intend: () => Promise.reject(new Error('no database')) };
    const injector = new Injector(fabric, journal);
    await expect(injector.apply('one', 'cut', CUT, going)).rejects.toThrow('no database');
    expect(fabric.applied).toEqual([]);
  });

  it('applies nothing when an abort came while the intent was written', async () => {
    const fabric = new FakeFabric();
    const abort = new AbortController();
    const journal = { ...SILENT, intend: async () => abort.abort() };
    const injector = new Injector(fabric, journal);
    expect(await injector.apply('one', 'cut', CUT, abort.signal)).toBe(false);
    expect(fabric.applied).toEqual([]);
    expect(await injector.revertAll()).toEqual([]);
  });

  it('reverts the newest first and goes on past one that fails', async () => {
    const order: string[] = [];
    class Stubborn extends FakeFabric {
      override async revert(id: string, ...rest: [typeof CUT, ConfigurationSnapshot]): Promise<void> {
        order.push(id);
        if (id === 'b') throw new Error('stuck');
        await super.revert(id, ...rest);
      }
    }
    const fabric = new Stubborn();
    const failed: string[] = [];
    const injector = new Injector(fabric, { ...SILENT, failed: async (id) => void failed.push(id) });
    for (const [index, id] of ['a', 'b', 'c'].entries()) {
      await injector.apply(id, 'cut', { type: 'link-cut', link: LINKS[index] }, going);
    }
    expect(await injector.revertAll()).toEqual(['b: stuck']);
    expect([...new Set(order)]).toEqual(['c', 'b', 'a']);
    expect(failed).toEqual(['b']);
    expect(Object.values(fabric.state).filter((cable) => cable === 'cut')).toHaveLength(1);
  });

  it('keeps the others going when the journal can not be written', async () => {
    const fabric = new FakeFabric();
    const injector = new Injector(fabric, {
      ...SILENT,
      verified: () => Promise.reject(new Error('no database')),
    });
    for (const [index, id] of ['a', 'b'].entries()) {
      await injector.apply(id, 'cut', { type: 'link-cut', link: LINKS[index] }, going);
    }
    expect(await injector.revertAll()).toEqual([]);
    expect(fabric.state).toEqual(new FakeFabric().state);
  });
});

describe('a journal that could not be told of a good revert', () => {
  it('is told again at the end, so that it does not go on calling the fault in place', async () => {
    const fabric = new FakeFabric();
    const recorded: string[] = [];
    let lost = true;
    const injector = new Injector(fabric, {
      ...SILENT,
      verified: async (id) => {
        if (lost) throw new Error('no connection');
        recorded.push(id);
      },
    });
    await injector.apply('one', 'cut', CUT, going);
    await expect(injector.revert('one')).rejects.toThrow('no connection');
    expect(fabric.state[LINK]).toBe('connected');
    expect(await injector.revertAll()).toEqual([]);
    expect(recorded).toEqual([]);
    lost = false;
    expect(await injector.revertAll()).toEqual([]);
    expect(await injector.revertAll()).toEqual([]);
    expect(recorded).toEqual(['one']);
  });
});
