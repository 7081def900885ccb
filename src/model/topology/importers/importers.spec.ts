import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { InputError, type InputIssue } from '../../../core/problem.js';
import type { Topology } from '../model.js';
import { buildTopology, topologySchema } from '../topology-spec.js';
import { importNs3 } from './import-ns3.js';
import { importSimai } from './import-simai.js';
import type { ImportedTopology } from './topology-text.js';

const NS3 = `6 3 6
3 4 5
0 4 100Gbps 1000ns 0.000000
1 4 100Gbps 1000ns 0
2 5 25Gbps 0.001ms 0.001
4 3 400Gbps 1us 0
5 3 400Gbps 1us 0
4 3 400Gbps 1us 0
`;

/** Two servers of two GPUs, dual-port NICs, planes with a spine each. */
const SIMAI = `12 2 2 6 18 H100
4 5 6 7 8 9 10 11
0 4 2880Gbps 0.000025ms 0
0 6 200Gbps 0.0005ms 0
0 8 200Gbps 0.0005ms 0
1 4 2880Gbps 0.000025ms 0
1 7 200Gbps 0.0005ms 0
1 9 200Gbps 0.0005ms 0
2 5 2880Gbps 0.000025ms 0
2 6 200Gbps 0.0005ms 0
2 8 200Gbps 0.0005ms 0
3 5 2880Gbps 0.000025ms 0
3 7 200Gbps 0.0005ms 0
3 9 200Gbps 0.0005ms 0
6 10 400Gbps 0.0005ms 0
7 10 400Gbps 0.0005ms 0
8 11 400Gbps 0.0005ms 0
9 11 400Gbps 0.0005ms 0
6 10 400Gbps 0.0005ms 0
8 11 400Gbps 0.0005ms 0
`;

const NUMBERS_100_TO_129 = Array.from({ length: 30 }, (_, index) => 100 + index).join(' ');

const stored = (imported: ImportedTopology): Topology =>
  buildTopology(topologySchema.parse(JSON.parse(JSON.stringify(imported.spec))));
const issuesOf = (run: () => unknown): readonly InputIssue[] => {
  try {
    run();
  } catch (error) {
    if (error instanceof InputError) return error.issues;
    throw error;
  }
  return [];
};
const withLine = (text: string, number: number, line: string): string => {
  const lines = text.split('\n');
  lines[number - 1] = line;
  return lines.join('\n');
};

describe('ns-3 import', () => {
  it('names switches by tier and hosts in the order of their ids', () => {
    const imported = importNs3(NS3);
    const topology = stored(imported);
    expect(topology.devices.map(({ name }) => name)).toEqual([
      'leaf-1',
      'leaf-2',
      'spine-1',
      'host-1',
      'host-2',
      'host-3',
    ]);
    expect(topology.links.map(({ id }) => id)).toEqual([
      'link:host-1/nic-0--leaf-1/p1',
      'link:host-2/nic-0--leaf-1/p2',
      'link:host-3/nic-0--leaf-2/p1',
      'link:leaf-1/p3--spine-1/p1',
      'link:leaf-2/p2--spine-1/p2',
      'link:leaf-1/p4--spine-1/p3',
    ]);
    expect(topology.links[2]).toMatchObject({ rateGbps: 25, delayNs: 1000, lossRatio: 0.001 });
    expect(topology.gpus).toHaveLength(3);
    expect(topology.scaleUpGbps).toBe(0);
    expect(imported.notes).toEqual(['line 8 links nodes 4 and 3 as line 6 does: kept as a parallel link']);
  });

  it('ignores text after the announced links, with a note', () => {
    const { notes } = importNs3(`${NS3}\nsrc0 dst0 rate delay error_rate\n...\n`);
    expect(notes).toContain(
      'ignored 2 lines from line 10 on: they follow the 6 links announced and link none of the 6 nodes',
    );
  });

  it('ignores rows of a larger network that are left behind the announced links, as in the file of the format', () => {
    const { spec, notes } = importNs3(
      `${NS3}3 6 25Gbps 0.001ms 0\n3 7 25Gbps 0.001ms 0\n\nFirst line: total node #\n`,
    );
    expect(spec.links).toHaveLength(6);
    expect(notes.join()).toMatch(/ignored 3 lines from line 9 on/);
  });

  it('refuses a header that contradicts its rows with both numbers and the line, and nothing else', () => {
    const rows = ['0 4', '1 4', '2 5', '3 5', '4 6', '5 6', '4 6', '5 6'].map(
      (ends) => `${ends} 100Gbps 1us 0`,
    );
    const text = (header: string): string => [header, '4 5 6', ...rows].join('\n');
    expect(importNs3(text('7 3 8')).spec.links).toHaveLength(8);
    expect(issuesOf(() => importNs3(text('7 3 6')))).toEqual([
      {
        pointer: '',
        line: 9,
        message: 'the header announces 6 links, but 8 follow; this is the first too many',
        hint: expect.any(String),
      },
    ]);
    expect(issuesOf(() => importNs3(text('7 3 9')))).toMatchObject([
      { line: 11, message: 'the file ends after 8 links, but the header announces 9' },
    ]);
    expect(issuesOf(() => importNs3(text('6 3 8')))).toMatchObject([
      { line: 2, message: 'unknown node "6"; ids run from 0 to 5' },
    ]);
    const fewer = text('5 2 8').replace('4 5 6', '3 4');
    expect(issuesOf(() => importNs3(fewer))).toMatchObject([
      { line: 5, message: 'unknown node "5", "6"; the header announces 5 nodes: ids run from 0 to 4' },
    ]);
  });

  it('refuses hosts that are joined in one sentence, however many they are', () => {
    const text = `5 1 6\n0\n${['0 1', '0 2', '1 2', '1 3', '2 3', '3 4'].map((ends) => `${ends} 1Gbps 1us 0`).join('\n')}`;
    const issues = issuesOf(() => importNs3(text));
    expect(issues).toHaveLength(1);
    expect(issues[0]).toMatchObject({
      line: 5,
      message: expect.stringContaining('the first of 4 such links'),
    });
  });

  it('tells of links that are written more than once, the first of them by their lines', () => {
    const [header, ids, ...links] = NS3.trimEnd().split('\n');
    const [nodes, switches, count] = header.split(/\s+/).map(Number);
    const more = links.slice(-1);
    const text = [
      `${nodes} ${switches} ${count + 4}`,
      ids,
      ...links,
      ...more,
      ...more,
      ...more,
      ...more,
    ].join('\n');
    const { notes } = importNs3(`${text}\n`);
    expect(notes).toHaveLength(4);
    expect(notes[1]).toMatch(/^line \d+ links nodes \d+ and \d+ as line \d+ does/);
    expect(notes[3]).toBe('and 2 more parallel links');
  });

  it('reads files with CRLF and spare blank lines alike', () => {
    expect(importNs3(NS3.replaceAll('\n', '\r\n\r\n')).spec).toEqual(importNs3(NS3).spec);
  });

  it.each([
    ['a cut-off file', NS3.split('\n').slice(0, 6).join('\n'), 7, /ends after 4 links.*announces 6/],
    ['a missing field', withLine(NS3, 4, '1 4 100Gbps 1000ns'), 4, /4 fields; a link has 5/],
    [
      'an unknown node',
      withLine(NS3, 4, '1 9 100Gbps 1000ns 0'),
      4,
      /unknown node "9"; .*6 nodes: ids run from 0 to 5/,
    ],
    ['a bad rate unit', withLine(NS3, 4, '1 4 100Gigs 1000ns 0'), 4, /"100Gigs" is no rate/],
    ['a bad delay unit', withLine(NS3, 4, '1 4 100Gbps 1000 0'), 4, /"1000" is no delay/],
    ['a loss above one', withLine(NS3, 4, '1 4 100Gbps 1000ns 1.5'), 4, /"1.5" is no loss/],
    ['a self link', withLine(NS3, 4, '4 4 100Gbps 1000ns 0'), 4, /node 4 is linked to itself/],
    ['two hosts joined', withLine(NS3, 4, '1 0 100Gbps 1000ns 0'), 4, /nodes 1 and 0 are both hosts/],
    ['a switch listed twice', withLine(NS3, 2, '3 4 4'), 2, /switch 4 is listed twice/],
    ['too few switch ids', withLine(NS3, 2, '3 4'), 2, /2 switch ids, but the header announces 3/],
    ['a bad header number', withLine(NS3, 1, '6 three 6'), 1, /"three" is no number/],
    ['a header of impossible size', withLine(NS3, 1, '900000000 3 6'), 1, /6 links can't connect 900000000/],
    ['no hosts', withLine(NS3, 1, '6 6 6'), 1, /leave no host/],
    ['an empty file', '\n\n', 1, /the file is empty/],
    ['only a header', '6 3 6\n', 1, /line of switch ids is missing/],
    ['a host without link', withLine(NS3, 1, '7 3 6'), 1, /node 6 is a host, but no link names it/],
    [
      'a host with three links',
      `5 2 5\n3 4\n0 3 1Gbps 1us 0\n0 4 1Gbps 1us 0\n1 3 1Gbps 1us 0\n2 4 1Gbps 1us 0\n0 3 1Gbps 1us 0`,
      7,
      /node 0 has a third fabric link/,
    ],
  ])('refuses %s with its line', (_, text, line, message) => {
    const issues = issuesOf(() => importNs3(text));
    expect(issues.map((issue) => issue.line)).toContain(line);
    expect(issues.map((issue) => issue.message).join('\n')).toMatch(message);
  });

  it('refuses a fabric in islands', () => {
    const text = '4 2 2\n2 3\n0 2 1Gbps 1us 0\n1 3 1Gbps 1us 0\n';
    expect(issuesOf(() => importNs3(text))[0].message).toMatch(/not connected: 2 islands/);
  });

  it('points a SimAI file to its own format', () => {
    expect(issuesOf(() => importNs3(SIMAI))[0].hint).toMatch(/--format simai/);
    expect(issuesOf(() => importSimai(NS3))[0].hint).toMatch(/--format ns3/);
  });

  it('either imports a mutilated file or names what is wrong, and never fails otherwise', () => {
    fc.assert(
      fc.property(fc.constantFrom(NS3, SIMAI), fc.nat(), fc.nat(40), fc.string(), (text, at, cut, junk) => {
        const start = at % text.length;
        const broken = text.slice(0, start) + junk + text.slice(start + cut);
        for (const read of [importNs3, importSimai]) issuesOf(() => read(broken));
      }),
      { numRuns: 300 },
    );
  });
});

describe('SimAI import', () => {
  it('turns the GPUs of one NVSwitch into one host with dual-port NICs', () => {
    const imported = importSimai(SIMAI);
    const topology = stored(imported);
    expect(topology.nics.map(({ name, ports }) => [name, ports.length])).toEqual([
      ['host-1/nic-0', 2],
      ['host-1/nic-1', 2],
      ['host-2/nic-0', 2],
      ['host-2/nic-1', 2],
    ]);
    expect([topology.gpusPerHost, topology.scaleUpGbps, topology.scaleUpDelayNs]).toEqual([2, 2880, 50]);
    expect(topology.links).toHaveLength(14);
    const switches = topology.devices.filter(({ role }) => role === 'switch');
    expect(switches.map(({ name, rail, plane }) => [name, rail, plane])).toEqual([
      ['leaf-1', 0, 0],
      ['leaf-2', 1, 0],
      ['leaf-3', 0, 1],
      ['leaf-4', 1, 1],
      ['spine-1', undefined, 0],
      ['spine-2', undefined, 1],
    ]);
    expect(imported.notes).toEqual([
      'line 19 links nodes 6 and 10 as line 15 does: kept as a parallel link',
      'line 20 links nodes 8 and 11 as line 17 does: kept as a parallel link',
      '2 servers of 2 H100 GPUs',
      "2 NVSwitches and their 4 links became the servers' scale-up network",
    ]);
  });

  it('refuses rows that the header does not count before it looks at what they make', () => {
    const [header, ...rest] = SIMAI.trimEnd().split('\n');
    const text = [header.replace(' 18 ', ' 14 '), ...rest].join('\n');
    expect(issuesOf(() => importSimai(text))).toMatchObject([
      { line: 17, message: 'the header announces 14 links, but 18 follow; this is the first too many' },
    ]);
  });

  it('refuses GPUs that are wired to each other in one sentence about a server without a switch', () => {
    const pairs = Array.from({ length: 8 }, (_, a) =>
      Array.from({ length: 7 - a }, (__, b) => [a, a + b + 1]),
    ).flat();
    const rows = [...pairs, ...Array.from({ length: 8 }, (_, gpu) => [gpu, 8])];
    const text = `9 8 0 1 36 A100\n8\n${rows.map(([a, b]) => `${a} ${b} 100Gbps 0.0005ms 0`).join('\n')}\n`;
    const issues = issuesOf(() => importSimai(text));
    expect(issues).toHaveLength(1);
    expect(issues[0]).toMatchObject({
      line: 3,
      message: expect.stringMatching(
        /^nodes 0 and 1 are GPUs of one server without an NVSwitch, the first of 28/,
      ),
      hint: expect.stringContaining('NVSwitch'),
    });
  });

  it('groups GPUs by id when there are no NVSwitches', () => {
    const text = `6 2 0 2 6 A100\n4 5\n${[0, 1, 2, 3].map((gpu) => `${gpu} ${4 + (gpu % 2)} 1Gbps 1us 0`).join('\n')}\n4 5 1Gbps 1us 0\n4 5 1Gbps 1us 0`;
    const topology = stored(importSimai(text));
    expect(topology.nics.map(({ name }) => name)).toEqual([
      'host-1/nic-0',
      'host-1/nic-1',
      'host-2/nic-0',
      'host-2/nic-1',
    ]);
  });

  it.each([
    ['servers of unequal size', withLine(SIMAI, 12, '3 4 2880Gbps 0.000025ms 0'), 1, /has 3 GPUs/],
    [
      'an NVSwitch in the fabric',
      withLine(SIMAI, 20, '5 11 400Gbps 0.0005ms 0'),
      20,
      /leads to a fabric switch/,
    ],
    ['servers larger than any', `130 100 0 30 100 X\n${NUMBERS_100_TO_129}\n`, 1, /at most 64/],
    ['a GPU count that makes no servers', withLine(SIMAI, 1, '12 3 2 6 18 H100'), 1, /not servers of 3/],
  ])('refuses %s', (_, text, line, message) => {
    const issues = issuesOf(() => importSimai(text));
    expect(issues[0].message).toMatch(message);
    expect(issues[0].line).toBe(line);
  });
});

describe('files that are passed around in the field', () => {
  const folder = process.env['FABRICDRILL_INPUTS'];
  if (folder === undefined) {
    process.stdout.write(
      'skipped: real topology files, because FABRICDRILL_INPUTS names no folder with them\n',
    );
  }
  const inFolder = folder === undefined ? it.skip : it;
  const read = (name: string): string => readFileSync(join(folder as string, name), 'utf8');
  const tiers = (topology: Topology): Record<string, number> => {
    const counts: Record<string, number> = {};
    for (const { tier } of topology.devices) counts[tier] = (counts[tier] ?? 0) + 1;
    return counts;
  };

  inFolder('imports the fat tree of the HPCC paper', () => {
    const topology = stored(importNs3(read('hpcc-fat-320host.topology.txt')));
    expect(tiers(topology)).toEqual({ leaf: 20, spine: 20, core: 16, host: 320 });
    expect(topology.links).toHaveLength(480);
    expect(new Set(topology.devices.map(({ pod }) => pod))).toEqual(new Set([0, 1, 2, 3, 4, undefined]));
  });

  inFolder('imports the single-switch file and notes the text behind its links', () => {
    const imported = importNs3(read('hpcc-mix.topology.txt'));
    expect(tiers(stored(imported))).toEqual({ leaf: 1, host: 65 });
    expect(imported.notes).toHaveLength(1);
  });

  inFolder('imports Spectrum-X as rails', () => {
    const topology = stored(importSimai(read('Spectrum-X_128g_8gps_400Gbps_H100.topology.txt')));
    expect(tiers(topology)).toEqual({ leaf: 8, spine: 16, host: 16 });
    const leaves = topology.devices.filter(({ tier }) => tier === 'leaf');
    expect(leaves.map(({ rail }) => rail)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(topology.gpus).toHaveLength(128);
    expect(topology.links).toHaveLength(256);
    expect(topology.scaleUpGbps).toBe(2880);
  });

  inFolder('imports Alibaba HPN with two ports a NIC in two planes of leaves', () => {
    const topology = stored(
      importSimai(read('AlibabaHPN_128g_8gps_DualToR_DualPlane_200Gbps_H100.topology.txt')),
    );
    expect(tiers(topology)).toEqual({ leaf: 16, spine: 16, host: 16 });
    const leaves = topology.devices.filter(({ tier }) => tier === 'leaf');
    expect(leaves.map(({ rail, plane }) => `${rail}/${plane}`)).toEqual(
      [0, 1].flatMap((plane) => [0, 1, 2, 3, 4, 5, 6, 7].map((rail) => `${rail}/${plane}`)),
    );
    expect(topology.nics.every(({ ports }) => ports.length === 2)).toBe(true);
    const spines = topology.devices.filter(({ tier }) => tier === 'spine');
    expect(spines.map(({ plane }) => plane)).toEqual([...new Array(8).fill(0), ...new Array(8).fill(1)]);
    expect(topology.links).toHaveLength(256 + 128);
  });
});
