/**
 * What can be done to a port of a lab: shut it down, slow it down, lose or damage what it sends.
 *
 * Losses act where the packet arrives, on ingress of the peer, before anything there counts: the sender has sent it, the
 * receiver has never seen it, both still say up. Damage is a mark on a random share of frames, which the receiver's own
 * rule counts and drops. Speed is the rate of the token bucket. Sources: ip-link(8), tc-tbf(8), nft(8) 1.0.6.
 * Not modelled: renegotiation, which takes a link down for a moment; errors in bursts.
 */
import { portId } from '../../../kernel/elements.js';
import { bucket } from '../lab/build.js';
import { DAMAGED_MARK, type Lab, type LabPort } from '../lab/lab.js';
import { INGRESS_PRIORITY, noTable, ownTable } from '../lab/rules.js';
import { CommandError } from '../transport/place.js';
import type { Step } from '../undo/shell.js';
import { commanded, type Knob } from './knob.js';

const nft = (input: string): Step => ({ command: ['nft', '-f', '-'], input });
/** Names of nft take no dashes in front and scripts trip over them. */
const wordOf = (port: LabPort): string => port.interface.replaceAll('-', '_');

interface LinkLine {
  flags: string[];
}

export function adminKnob(lab: Lab, port: LabPort): Knob {
  const { node } = port;
  const set = (state: string): Step => ({ command: ['ip', 'link', 'set', 'dev', port.interface, state] });
  // A host loses its default route with the interface, and no daemon gives it back.
  const route = (): Step => ({
    command: ['ip', 'route', 'replace', 'default', 'via', lab.peerOf(port).address!],
  });
  return commanded({
    element: portId(port.name),
    setting: 'admin-status',
    impaired: 'down',
    node,
    read: async () => {
      const { stdout } = await node.place.run(['ip', '-j', 'link', 'show', 'dev', port.interface]);
      const [line] = JSON.parse(stdout) as LinkLine[];
      return line.flags.includes('UP') ? 'up' : 'down';
    },
    steps: (value) => [set(value), ...(value === 'up' && node.role === 'host' ? [route()] : [])],
    accepts: (value) => value === 'up' || value === 'down',
    worse: (one, other) => (one === 'down' ? one : other),
  });
}

export function rateKnob(lab: Lab, port: LabPort, rateGbps: number): Knob {
  const { node } = port;
  const text = (gbps: number): string => `${Number(gbps.toPrecision(6))}Gbps`;
  const parse = (value: string): number => (value.endsWith('Gbps') ? Number(value.slice(0, -4) || NaN) : NaN);
  return commanded({
    element: portId(port.name),
    setting: 'speed',
    impaired: text(rateGbps),
    node,
    read: async () => {
      const { stdout } = await node.place.run(['tc', '-j', 'qdisc', 'show', 'dev', port.interface, 'root']);
      const [line] = JSON.parse(stdout) as { kind: string; options: { rate?: number } }[];
      if (line?.options.rate === undefined) throw new Error(`${port.name} has no token bucket`);
      return text((line.options.rate * 8) / 1e9);
    },
    steps: (value) => [
      { command: ['tc', 'qdisc', 'change', ...bucket(lab, port, parse(value) * 1000).split(' ')] },
    ],
    accepts: (value) => parse(value) > 0,
    worse: (one, other) => (parse(one) < parse(other) ? one : other),
  });
}

/** What the port sends is lost on its way. */
export function blackholeKnob(lab: Lab, port: LabPort): Knob {
  const peer = lab.peerOf(port);
  const table = `loss_${wordOf(peer)}`;
  const rules = ownTable(table, [
    ' counter lost {}',
    ' chain on_the_way {',
    `  type filter hook ingress device "${peer.interface}" priority ${INGRESS_PRIORITY.loss};`,
    '  counter name lost drop',
    ' }',
  ]);
  return commanded({
    element: portId(port.name),
    setting: 'egress',
    impaired: 'drop',
    node: peer.node,
    read: async () => ((await readTable(peer, table)) === undefined ? 'forward' : 'drop'),
    steps: (value) => [nft(value === 'drop' ? rules : noTable(table))],
    accepts: (value) => value === 'drop' || value === 'forward',
    worse: (one, other) => (one === 'drop' ? one : other),
  });
}

/** Frames are damaged so many times in this many. */
const DAMAGE_IN = 1_000_000_000;
const CLEAN = 'clean';

/** Some of what the port sends arrives damaged. @param share of frames, 0..1 */
export function damageKnob(lab: Lab, port: LabPort, share: number): Knob {
  const peer = lab.peerOf(port);
  const table = `damage_${wordOf(peer)}`;
  const text = (frames: number): string =>
    frames === 0 ? CLEAN : `damages ${frames} of ${DAMAGE_IN} frames`;
  const parse = (value: string): number =>
    value === CLEAN ? 0 : Number(/^damages (\d+) of 1000000000 frames$/.exec(value)?.[1] ?? NaN);
  const rules = (frames: number): string =>
    ownTable(table, [
      ' counter seen {}',
      ' counter damaged {}',
      ' chain on_the_way {',
      `  type filter hook ingress device "${peer.interface}" priority ${INGRESS_PRIORITY.damage};`,
      '  counter name seen',
      `  numgen random mod ${DAMAGE_IN} < ${frames} counter name damaged meta mark set ${DAMAGED_MARK}`,
      ' }',
    ]);
  return commanded({
    element: portId(port.name),
    setting: 'signal',
    impaired: text(Math.round(share * DAMAGE_IN)),
    node: peer.node,
    read: async () => {
      const found = await readTable(peer, table);
      return found === undefined ? CLEAN : text(Number(/numgen random mod \d+ < (\d+)/.exec(found)?.[1]));
    },
    steps: (value) => [nft(value === CLEAN ? noTable(table) : rules(parse(value)))],
    accepts: (value) => Number.isInteger(parse(value)),
    worse: (one, other) => (parse(one) > parse(other) ? one : other),
  });
}

/** The table as nft writes it; undefined when there is none. @throws CommandError when it can't be asked for */
async function readTable({ node }: LabPort, table: string): Promise<string | undefined> {
  const command = ['nft', 'list', 'table', 'netdev', table];
  const { stdout, stderr, code } = await node.place.run(command, { anyExit: true });
  if (code === 0) return stdout;
  if (stderr.includes('No such file or directory')) return undefined;
  throw new CommandError(node.place.name, command, stderr.trim(), code);
}
