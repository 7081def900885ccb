import { describe, expect, it } from '@jest/globals';
import { packetCaseFlows, parsePacketCase, type PacketModel } from '../../bench/packet-case.js';
import { runFlowList } from '../../bench/reference-models/flow-list.js';
import { caseJson } from './cases.js';

function makespans(file: string, model: PacketModel): { oursNs: number; peerNs: number } {
  const source = parsePacketCase(caseJson(file));
  const { capacities, flows } = packetCaseFlows(source, model);
  return { oursNs: runFlowList(capacities, flows).makespanNs, peerNs: source.result.makespan_ns };
}

describe('one flow alone', () => {
  it.each([
    ['hpcc_single_1MB_star_dcqcn.json', 2, 1000],
    ['hpcc_single_10MB_ls_dcqcn.json', 4, 10_000],
  ])(
    'takes exactly what the packet-level peer recorded in %s, and the closed form gives',
    (file, links, packets) => {
      const { oursNs, peerNs } = makespans(file, { rounding: 'peer' });
      expect(oursNs).toBeCloseTo((packets + links - 1) * 83 + 2 * links * 1000 + links * 4, 6);
      expect(oursNs).toBeCloseTo(peerNs, 6);
    },
  );

  it('takes the closed form without the rounding of the peer as well', () => {
    const { oursNs } = makespans('hpcc_single_10MB_ls_dcqcn.json', { rounding: 'exact' });
    expect(oursNs).toBeCloseTo((10_000 + 4 - 1) * 83.84 + 2 * 4 * 1000 + 4 * 4.8, 6);
  });
});

describe.each(['hpcc_ring16_16MB_dcqcn.json', 'hpcc_ring64_64MB_dcqcn.json'])(
  'the AllReduce of %s',
  (file) => {
    const errorOf = (model: Partial<PacketModel>): number => {
      const { oursNs, peerNs } = makespans(file, { rounding: 'peer', ...model });
      return oursNs / peerNs - 1;
    };

    it('takes as long as at packet level, within 1 %', () => {
      expect(Math.abs(errorOf({}))).toBeLessThanOrEqual(0.01);
    });

    it('comes out more than 1 % short without headers', () => {
      expect(errorOf({ headers: false })).toBeLessThan(-0.01);
    });

    it('comes out more than 1 % short without the share of the ACKs', () => {
      expect(errorOf({ ackShare: false })).toBeLessThan(-0.01);
    });

    it('comes out more than 1 % short without latency', () => {
      expect(errorOf({ latency: false })).toBeLessThan(-0.01);
    });
  },
);

describe('a packet-level case', () => {
  it('is refused with a pointer when a field is missing or a path leaves the topology', () => {
    const document = caseJson('hpcc_single_1MB_star_dcqcn.json') as Record<string, unknown>;
    expect(() => parsePacketCase({ ...document, packet: { data_payload: 1000 } })).toThrow(
      '/packet/data_wire',
    );
    const source = parsePacketCase(document);
    source.flows[0].path = [0, 1];
    expect(() => packetCaseFlows(source, { rounding: 'exact' })).toThrow(
      '/flows/0/path: no link from node 0 to node 1',
    );
  });
});
