import { describe, expect, it } from '@jest/globals';
import { simulatedFabric } from '../../../test/support/simulated-fabric.js';
import { bufferNotes } from './buffer-notes.js';

const described = (fabricDelay: string, settings: object = {}) =>
  simulatedFabric({
    topology: { builder: 'leaf-spine', leaves: 2, spines: 1, hostsPerLeaf: 2, gpusPerHost: 1, fabricDelay },
    settings,
    jobs: [],
  }).describe();

describe('buffers that are smaller than what pausing takes', () => {
  it('are told with buffer, headroom and how many switches are like it', () => {
    // 3 x 50 B/ns x (1 ms + 500 ns) and two packets a port
    expect(bufferNotes(described('1ms'))).toEqual([
      expect.stringMatching(
        /^leaf-1 has 128MB of buffer, .* takes 150MB of headroom a port, 450MB for 3 ports, as 2 more:/,
      ),
    ]);
  });

  it('are no matter within a building, nor where nothing is paused, nor where the file says what there is', () => {
    expect(bufferNotes(described('500ns'))).toEqual([]);
    expect(bufferNotes(described('1ms', { pfc: { on: false } }))).toEqual([]);
    expect(bufferNotes(described('1ms', { buffer: '1GB' }))).toEqual([]);
    expect(bufferNotes(described('1ms', { pfc: { headroom: '1MB' } }))).toEqual([]);
  });

  it('name the classes where several are paused', () => {
    const notes = bufferNotes(described('1ms', { pfc: { priorities: [3, 4] } }));
    expect(notes[0]).toMatch(/901MB for 3 ports and 2 classes/);
  });
});
