import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  deviceId,
  edgeId,
  ELEMENT_TYPES,
  elementName,
  elementRef,
  FABRIC_ID,
  jobId,
  linkId,
  nicId,
  parseElementId,
  patternId,
  portId,
  queueId,
} from './elements.js';

/** Names as builders and importers give them: `--` separates the ends of a link, so none ends in `-`. */
const name = fc.stringMatching(/^[a-z]([a-z0-9]|-[a-z0-9]){0,6}(\/[a-z]([a-z0-9]|-[a-z0-9]){0,6})?$/);

describe('an element id', () => {
  it('has the published spelling', () => {
    expect([
      deviceId('leaf-3'),
      portId('leaf-3/p17'),
      queueId('leaf-3/p17', 3),
      nicId('host-12/nic-4'),
      jobId('llm-a'),
      edgeId('llm-a', 3, 7),
      patternId('incast'),
      linkId('leaf-3/p17', 'host-12/nic-4'),
      FABRIC_ID,
    ]).toEqual([
      'device:leaf-3',
      'port:leaf-3/p17',
      'queue:leaf-3/p17/3',
      'nic:host-12/nic-4',
      'job:llm-a',
      'edge:llm-a/3-7',
      'pattern:incast',
      'link:host-12/nic-4--leaf-3/p17',
      'fabric:all',
    ]);
  });

  it('of a link is the same whichever end comes first', () => {
    fc.assert(
      fc.property(name, name, (a, b) => {
        expect(linkId(a, b)).toBe(linkId(b, a));
        const ends = elementName(linkId(a, b)).split('--');
        expect(ends).toEqual([...ends].sort());
      }),
    );
  });

  it('is split at its prefix and put together again', () => {
    fc.assert(
      fc.property(fc.constantFrom(...ELEMENT_TYPES), fc.string(), (type, rest) => {
        const id = `${type}:${rest}`;
        expect(parseElementId(id)).toEqual({ type, id });
        expect(elementRef(id)).toEqual({ type, id });
        expect(elementName(id)).toBe(rest);
      }),
    );
  });

  it.each(['', ':', 'leaf-3', 'leaf:3', ':device', 'Device:x', 'toString:x'])('is not %j', (text) => {
    expect(parseElementId(text)).toBeUndefined();
    expect(() => elementRef(text)).toThrow(RangeError);
  });
});
