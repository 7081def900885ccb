/** Answers as the tools gave them on Debian 12, shortened. */
import { describe, expect, it } from '@jest/globals';
import {
  parseBfdPeers,
  parseCounters,
  parseLinks,
  parseNetstat,
  parseQueues,
  parseSpeeds,
} from './readings.js';

const link = (flags: string[], changes: number) => ({
  ifname: 'p3',
  flags,
  operstate: 'UP',
  stats64: { rx: { bytes: 656, dropped: 0 }, tx: { bytes: 656, dropped: 2, carrier_changes: changes } },
});

describe('readings of a Linux device', () => {
  it('tell whether a port is shut, has lost its carrier, or is up, and how often it went down', () => {
    const read = (flags: string[], changes: number) =>
      parseLinks(JSON.stringify([link(flags, changes)])).get('p3');
    expect(read(['UP', 'LOWER_UP'], 2)).toEqual({ operUp: true, adminUp: true, downEvents: 1, txDropped: 2 });
    expect(read(['NO-CARRIER', 'UP'], 3)).toMatchObject({ operUp: false, adminUp: true, downEvents: 2 });
    expect(read([], 5)).toMatchObject({ operUp: false, adminUp: false, downEvents: 3 });
  });

  it('tell rate, bytes, drops and backlog of the root queue, in bits and bytes', () => {
    const text = JSON.stringify([
      { kind: 'noqueue', handle: '0:', dev: 'lo', root: true, options: {}, bytes: 0, drops: 0, backlog: 0 },
      {
        kind: 'tbf',
        handle: '8001:',
        dev: 'p3',
        root: true,
        options: { rate: 6250000 },
        bytes: 90,
        drops: 4,
        backlog: 130,
      },
      {
        kind: 'pfifo',
        handle: '8002:',
        dev: 'p3',
        parent: '8001:1',
        options: {},
        bytes: 1,
        drops: 1,
        backlog: 1,
      },
    ]);
    expect(parseQueues(text).get('p3')).toEqual({
      rateGbps: 0.05,
      sentBytes: 90,
      dropped: 4,
      backlogBytes: 130,
    });
    expect(parseQueues(text).get('lo')?.rateGbps).toBeNaN();
  });

  it('add to the bytes of netfilter the frame header that queues count', () => {
    const text = JSON.stringify({
      nftables: [
        { metainfo: { version: '1.0.6' } },
        { counter: { family: 'netdev', name: 'rx_p3', table: 'fabricdrill', packets: 10, bytes: 1000 } },
      ],
    });
    expect(parseCounters(text).get('rx_p3')).toEqual({ packets: 10, bytes: 1140 });
  });

  it('tell of sessions by the interface they run over', () => {
    const bfd = [
      { interface: 'p3', status: 'up' },
      { interface: 'p4', status: 'down' },
      { peer: '10.0.0.1', status: 'up' },
    ];
    expect([...parseBfdPeers(JSON.stringify(bfd))]).toEqual([
      ['p3', true],
      ['p4', false],
    ]);
  });

  it('find the counters of TCP by group and name', () => {
    const netstat = parseNetstat('TcpExt: TW TCPTimeouts\nTcpExt: 1 7\nIpExt: InCEPkts\nIpExt: 3\n');
    expect(netstat.get('TcpExt.TCPTimeouts')).toBe(7);
    expect(netstat.get('IpExt.InCEPkts')).toBe(3);
    expect(netstat.get('TcpExt.TCPOFOQueue')).toBeUndefined();
  });

  it('know the speeds of ports that have one', () => {
    const speeds = parseSpeeds('lo ;swp1 25000;swp2 -1;swp3 400000;');
    expect([...speeds]).toEqual([
      ['swp1', 25],
      ['swp3', 400],
    ]);
    expect([...parseSpeeds('')]).toEqual([]);
  });

  it('are an error when they are none, never a zero', () => {
    expect(() => parseLinks('Cannot open network namespace')).toThrow();
    expect(() => parseQueues('')).toThrow();
  });
});
