/**
 * Every sentence that versions before typed settings could write, as those versions wrote it, and as it is read now.
 */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readSettings } from './legacy-settings.js';
import {
  bufferSchema,
  hashSeedSchema,
  loadSchema,
  markingSchema,
  moveOrderSchema,
  rateSchema,
  signalSchema,
  slowdownSchema,
  type SettingValue,
} from './setting.js';

const read = (setting: string, text: string): SettingValue =>
  readSettings({ 'port:a': { [setting]: text } })['port:a'][setting];

const positive = fc.oneof(
  fc.double({ min: 1e-12, max: 1e12, noNaN: true }),
  fc.integer({ min: 1, max: 1e9 }),
);
const share = fc.double({ min: 1e-9, max: 1, noNaN: true });
const optional = fc.option(positive, { nil: undefined });
const name = fc.stringMatching(/^[a-z]{1,6}-\d{1,3}$/);
const nics = fc.array(
  fc.tuple(name, name).map((parts) => parts.join('/')),
  { minLength: 1, maxLength: 5 },
);
const pairs = fc.integer({ min: 1, max: 1024 });

/** What is left out in JSON is left out here. */
const plain = (value: object): object => JSON.parse(JSON.stringify(value)) as object;

describe('a stored sentence', () => {
  it.each(['speed', 'host-rate', 'host-receive-rate', 'host-send-rate'])('of %s is a rate', (setting) => {
    fc.assert(
      fc.property(positive, (rateGbps) => {
        const value = read(setting, `${rateGbps}Gbps`);
        expect(rateSchema.parse(value)).toEqual({ rateGbps });
      }),
    );
  });

  it.each(['compute', 'gpu-3-compute'])('of %s is a factor', (setting) => {
    fc.assert(
      fc.property(positive, (slowdownFactor) => {
        expect(slowdownSchema.parse(read(setting, `${slowdownFactor}x`))).toEqual({ slowdownFactor });
      }),
    );
  });

  it('of a hash seed is a number', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffffffff }), (seed) => {
        expect(hashSeedSchema.parse(read('hash-seed', String(seed)))).toEqual({ seed });
      }),
    );
  });

  it('of a signal has the ratio, the lanes and the cause', () => {
    const condition = fc.record({
      bitErrorRatio: fc.double({ min: 1e-12, max: 0.5, noNaN: true }),
      laneShare: share,
      cause: fc.constantFrom('connector', 'laser', 'serdes'),
    });
    fc.assert(
      fc.property(condition, (one) => {
        const text = `bit errors ${one.bitErrorRatio} on ${one.laneShare} of the lanes, ${one.cause}`;
        expect(signalSchema.parse(read('signal', text))).toEqual(one);
      }),
    );
  });

  it('of a signal on Linux is a share of frames, as it is read back now', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e9 }), (frames) => {
        expect(read('signal', `damages ${frames} of 1000000000 frames`)).toEqual({
          damagedFrameRatio: frames / 1_000_000_000,
        });
      }),
    );
  });

  it('of a marking curve is its figures', () => {
    fc.assert(
      fc.property(positive, positive, share, (kminBytes, kmaxBytes, pmax) => {
        const value = read('ecn', `kmin ${kminBytes}B, kmax ${kmaxBytes}B, pmax ${pmax}`);
        expect(markingSchema.parse(value)).toEqual({ kminBytes, kmaxBytes, pmax });
      }),
    );
  });

  it('of a buffer has what was set of it', () => {
    fc.assert(
      fc.property(fc.boolean(), optional, optional, (pfc, headroomBytes, freeShare) => {
        const text = [
          pfc ? 'on' : 'off',
          ...(headroomBytes === undefined ? [] : [`headroom ${headroomBytes}B`]),
          ...(freeShare === undefined ? [] : [`alpha ${freeShare}`]),
        ].join(', ');
        expect(plain(bufferSchema.parse(read('pfc', text)))).toEqual(
          plain({ pfc, headroomBytes, freeShare }),
        );
      }),
    );
  });

  it('of a load has its senders, and what they send', () => {
    fc.assert(
      fc.property(
        nics,
        positive,
        optional,
        fc.integer({ min: 0, max: 7 }),
        pairs,
        (from, gbps, bytes, priority, qps) => {
          const size = bytes === undefined ? '' : `${bytes}B at `;
          const fromNics = from.map((nic) => `nic:${nic}`);
          const figures = { fromNics, rateGbps: gbps, bytesPerSender: bytes, queuePairs: qps };
          const simulated = `${size}${gbps}Gbps, priority ${priority}, ${qps} queue pairs, from ${fromNics.join(' ')}`;
          expect(plain(loadSchema.parse(read('load-x', simulated)))).toEqual(plain({ ...figures, priority }));
          const linux = `${size}${gbps}Gbps on ${qps} connections each from ${from.join(' ')}`;
          expect(plain(read('load-x', linux) as object)).toEqual(plain(figures));
        },
      ),
    );
  });

  it('of an order to leave a host has its mode and where to', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('planned', 'after-loss', 'evict'),
        fc.option(
          name.map((host) => `device:${host}`),
          { nil: undefined },
        ),
        (mode, toHost) => {
          const text = `${mode}, ${toHost === undefined ? 'no host to go to' : `to ${toHost}`}`;
          expect(plain(moveOrderSchema.parse(read('order-to-leave-host-1', text)))).toEqual(
            plain({ mode, toHost }),
          );
        },
      ),
    );
  });

  it.each([
    ['ecn', 'by port speed', 'default'],
    ['pfc', 'as the fabric', 'default'],
    ['pause-of-class-3', 'as needed', 'as-needed'],
    ['pause-of-class-3', 'without end', 'endless'],
  ])('of %s: "%s" is a word now', (setting, text, word) => {
    expect(read(setting, text)).toBe(word);
  });

  it.each([
    ...[
      ['admin-status', 'up'],
      ['admin-status', 'down'],
      ['cable', 'connected'],
      ['cable', 'cut'],
    ],
    ...[
      ['egress', 'forward'],
      ['egress', 'drop'],
      ['power', 'on'],
      ['power', 'off'],
    ],
    ...[
      ['scheduling', 'enabled'],
      ['scheduling', 'drained'],
      ['host-rate', 'full'],
      ['speed', 'unlimited'],
    ],
    ...[
      ['signal', 'clean'],
      ['load-x', 'none'],
      ['order-to-leave-host-1', 'none'],
    ],
  ])('%s: %s is the same word now', (setting, text) => {
    expect(read(setting, text)).toBe(text);
  });

  it('that nobody wrote stays as it is, for the driver to refuse', () => {
    expect(read('speed', 'fastGbps')).toBe('fastGbps');
    expect(read('something-else', '40Gbps')).toBe('40Gbps');
  });
});

it('settings that are typed already stay as they are', () => {
  const typed = {
    'link:a': { speed: { rateGbps: 40 } },
    'device:b': { ecn: 'default', pfc: { pfc: false } },
    'nic:c': { 'pause-of-class-3': 'endless', 'load-x': 'none' },
  };
  expect(readSettings(typed)).toEqual(typed);
  expect(readSettings(readSettings(typed))).toEqual(typed);
});
