/**
 * What can be done to a port of a lab: shut it down, slow it down, lose or damage what it sends.
 *
 * Losses act where the packet arrives, on ingress of the peer, before anything there counts: the sender has sent it, the
 * receiver has never seen it, both still say up. Damage is a mark on a random share of frames, which the receiver's own
 * rule counts and drops. Speed is the rate of the token bucket. Sources: ip-link(8), tc-tbf(8), nft(8) 1.0.6.
 * Not modelled: renegotiation, which takes a link down for a moment; errors in bursts.
 */
import { z } from 'zod';
import { portId } from '../../../core/elements.js';
import { InputError } from '../../../core/problem.js';
import { rateSchema, settingText, type SettingValue } from '../../../fabric-api/setting.js';
import { filledIn, type DialectChoice, type DialectStep, type TemplateWords } from '../dialects/dialect.js';
import { DAMAGED_MARK, type Lab } from '../lab/lab.js';
import type { LabPort } from '../lab/parts.js';
import { INGRESS_PRIORITY } from '../lab/ingress-priority.js';
import { noTable, ownTable } from '../lab/rules.js';
import { CommandError } from '../transport/place.js';
import type { Step } from '../undo/shell.js';
import { commanded, type Knob } from './knob.js';

const nft = (input: string): Step => ({ command: ['nft', '-f', '-'], input });
/** Names of nft take no dashes in front and scripts trip over them. */
const wordOf = (port: LabPort): string => port.interface.replaceAll(/[^A-Za-z0-9]/g, '_');

const spoken = (steps: readonly DialectStep[], words: TemplateWords): Step[] =>
  steps.map(({ command, input }) => ({
    command: command.map((word) => filledIn(word, words)),
    ...(input === undefined ? {} : { input: filledIn(input, words) }),
  }));

/** A name in a pattern is meant letter by letter. */
const asPattern = (words: TemplateWords): TemplateWords =>
  Object.fromEntries(
    Object.entries(words).map(([name, word]) => [name, String(word).replaceAll(/[^A-Za-z0-9_]/g, '\\$&')]),
  );

async function ask(port: LabPort, command: readonly string[], words: TemplateWords): Promise<string> {
  return (await port.node.place.run(command.map((word) => filledIn(word, words)))).stdout;
}

/** What a dialect says of a setting that is one of two words. */
function choiceKnob(
  choice: DialectChoice,
  words: TemplateWords,
  port: LabPort,
  knob: Pick<Knob, 'element' | 'setting' | 'impaired'> & { more?: (value: SettingValue) => Step[] },
): Knob {
  const { more = () => [], ...rest } = knob;
  const { pattern, present, absent, tell } = choice;
  return commanded({
    ...rest,
    node: port.node,
    read: async () => {
      const there = new RegExp(filledIn(pattern, asPattern(words)), 's');
      return there.test(await ask(port, choice.ask, words)) ? present : absent;
    },
    steps: (value) => [...spoken(tell[settingText(value)], words), ...more(value)],
    accepts: (value) => value === present || value === absent,
    worse: (one, other) => (one === knob.impaired ? one : other),
  });
}

export function adminKnob(lab: Lab, port: LabPort): Knob {
  const { node } = port;
  const route = lab.defaultRoute(node);
  // A host loses its default route with the interface, and no daemon gives it back.
  const more = (value: SettingValue): Step[] =>
    value === 'up' && route !== undefined ? [{ command: ['ip', 'route', 'replace', ...route] }] : [];
  return choiceKnob(node.dialect.adminState, { interface: port.interface }, port, {
    element: portId(port.name),
    setting: 'admin-status',
    impaired: 'down',
    more,
  });
}

const UNLIMITED = 'unlimited';

/** @throws InputError where the port's device has no way to be slowed down */
export function rateKnob(lab: Lab, port: LabPort, rateGbps: number): Knob {
  const { node } = port;
  const { rate } = node.dialect;
  if (rate === undefined) throw unspoken(port, 'to slow a port down');
  const { burst, queueLimit: limit } = lab.lab;
  // devices tell whole bits or megabits
  const rounded = (gbps: number): SettingValue => ({ rateGbps: Number(gbps.toPrecision(6)) });
  const gbpsOf = (value: SettingValue): number =>
    value === UNLIMITED ? Infinity : rateSchema.parse(value).rateGbps;
  const wordsOf = (gbps: number): TemplateWords => ({
    ...{ interface: port.interface, burst, limit },
    ...{ bits: Math.round(gbps * 1e9), mbps: Math.round(gbps * 1000) },
  });
  return commanded({
    element: portId(port.name),
    setting: 'speed',
    impaired: rounded(rateGbps),
    node,
    read: async () => {
      const answer = await ask(port, rate.ask, { interface: port.interface });
      const found = new RegExp(rate.pattern, 's').exec(answer)?.[1];
      if (found !== undefined) return rounded(Number(found) * rate.gbpsPerUnit);
      if (rate.unlimited !== undefined && new RegExp(rate.unlimited.pattern).test(answer)) return UNLIMITED;
      throw new Error(`the speed of ${port.name} can't be told: ${answer.trim() || 'no answer'}`);
    },
    steps: (value) =>
      value === UNLIMITED
        ? spoken(rate.unlimited!.tell, { interface: port.interface })
        : spoken(rate.tell, wordsOf(gbpsOf(value))),
    accepts: (value) =>
      value === UNLIMITED ? rate.unlimited !== undefined : rateSchema.safeParse(value).success,
    worse: (one, other) => (gbpsOf(one) < gbpsOf(other) ? one : other),
  });
}

/** What the port sends is lost on its way. @throws InputError where the peer can't lose it */
export function blackholeKnob(lab: Lab, port: LabPort): Knob {
  const peer = lab.peerOf(port);
  const { arrivals } = peer.node.dialect;
  if (arrivals === undefined) throw unspoken(peer, 'to lose what arrives');
  return choiceKnob(arrivals, { interface: peer.interface, table: `loss_${wordOf(peer)}` }, peer, {
    element: portId(port.name),
    setting: 'egress',
    impaired: 'drop',
  });
}

const unspoken = ({ node, name }: LabPort, what: string): InputError =>
  InputError.at(
    '/link',
    `the dialect ${node.dialect.name} of ${node.name} has no way ${what}, which ${name} would need`,
    'choose another link, or another fault',
  );

/** Frames are damaged so many times in this many. */
const DAMAGE_IN = 1_000_000_000;
const CLEAN = 'clean';
const damageSchema = z.strictObject({ damagedFrameRatio: z.number().min(0).max(1) });

/** Some of what the port sends arrives damaged. @param share of frames, 0..1 */
export function damageKnob(lab: Lab, port: LabPort, share: number): Knob {
  const peer = lab.peerOf(port);
  const table = `damage_${wordOf(peer)}`;
  const damage = (frames: number): SettingValue =>
    frames === 0 ? CLEAN : { damagedFrameRatio: frames / DAMAGE_IN };
  const framesOf = (value: SettingValue): number =>
    value === CLEAN ? 0 : Math.round(damageSchema.parse(value).damagedFrameRatio * DAMAGE_IN);
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
    impaired: damage(Math.round(share * DAMAGE_IN)),
    node: peer.node,
    read: async () => {
      const found = await readTable(peer, table);
      return found === undefined ? CLEAN : damage(Number(/numgen random mod \d+ < (\d+)/.exec(found)?.[1]));
    },
    steps: (value) => [nft(value === CLEAN ? noTable(table) : rules(framesOf(value)))],
    accepts: (value) => value === CLEAN || damageSchema.safeParse(value).success,
    worse: (one, other) => (framesOf(one) > framesOf(other) ? one : other),
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
