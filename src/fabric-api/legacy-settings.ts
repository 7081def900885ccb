/**
 * Settings as they were stored before they were typed: sentences such as `bit errors 0.0011 on 1 of the lanes, connector`.
 *
 * An undo journal may still hold them, and a simulation that an earlier version started says them. They are read here, once,
 * as they come in; nothing writes them any more. What is typed already, or a word of the device, stays as it is.
 */
import { mapSettings, type ConfigurationSnapshot, type SettingValue } from './setting.js';

export const readSettings = (stored: ConfigurationSnapshot): ConfigurationSnapshot =>
  mapSettings(stored, (_, setting, value) => (typeof value === 'string' ? typed(setting, value) : value));

function typed(setting: string, text: string): SettingValue {
  for (const [name, sentence, read] of SENTENCES) {
    const groups = name.test(setting) ? sentence.exec(text)?.slice(1) : undefined;
    if (groups === undefined) continue;
    const value = read(groups);
    if (!Object.values(value).some(Number.isNaN)) return value;
  }
  return text;
}

type Read = (groups: readonly string[]) => SettingValue;

const optional = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Number(text);
const rate: Read = ([gbps]) => ({ rateGbps: Number(gbps) });

const SENTENCES: readonly [setting: RegExp, sentence: RegExp, read: Read][] = [
  [/^speed$/, /^(\S+)Gbps$/, rate],
  [/^host-(?:receive-|send-)?rate$/, /^(\S+)Gbps$/, rate],
  [/^(?:gpu-\d+-)?compute$/, /^(\S+)x$/, ([times]) => ({ slowdownFactor: Number(times) })],
  [/^hash-seed$/, /^(\d+)$/, ([seed]) => ({ seed: Number(seed) })],
  [
    /^signal$/,
    /^bit errors (\S+) on (\S+) of the lanes, (\w+)$/,
    ([ratio, share, cause]) => ({ bitErrorRatio: Number(ratio), laneShare: Number(share), cause }),
  ],
  [
    /^signal$/,
    /^damages (\d+) of (\d+) frames$/,
    ([damaged, all]) => ({ damagedFrameRatio: Number(damaged) / Number(all) }),
  ],
  [/^ecn$/, /^by port speed$/, () => 'default'],
  [
    /^ecn$/,
    /^kmin (\S+)B, kmax (\S+)B, pmax (\S+)$/,
    ([kmin, kmax, pmax]) => ({ kminBytes: Number(kmin), kmaxBytes: Number(kmax), pmax: Number(pmax) }),
  ],
  [/^pfc$/, /^as the fabric$/, () => 'default'],
  [
    /^pfc$/,
    /^(on|off)(?:, headroom (\S+)B)?(?:, alpha (\S+))?$/,
    ([state, room, alpha]) => ({
      pfc: state === 'on',
      headroomBytes: optional(room),
      freeShare: optional(alpha),
    }),
  ],
  [/^pause-of-class-\d$/, /^as needed$/, () => 'as-needed'],
  [/^pause-of-class-\d$/, /^without end$/, () => 'endless'],
  [
    /^load-/,
    /^(?:(\S+)B at )?(\S+)Gbps, priority (\d), (\d+) queue pairs, from (.+)$/,
    ([size, gbps, priority, queuePairs, nics]) => ({
      ...{ fromNics: nics.split(' '), rateGbps: Number(gbps), bytesPerSender: optional(size) },
      ...{ priority: Number(priority), queuePairs: Number(queuePairs) },
    }),
  ],
  [
    /^load-/,
    /^(?:(\S+)B at )?(\S+)Gbps on (\d+) connections each from (.+)$/,
    ([size, gbps, queuePairs, nics]) => ({
      ...{ fromNics: nics.split(' ').map((name) => `nic:${name}`), rateGbps: Number(gbps) },
      ...{ bytesPerSender: optional(size), queuePairs: Number(queuePairs) },
    }),
  ],
  [
    /^order-to-leave-/,
    /^(\S+), (?:no host to go to|to (device:.+))$/,
    ([mode, toHost]) => ({ mode, toHost }),
  ],
];
