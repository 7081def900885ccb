/** A document's transport, put together with the server's settings that it names. */
import { listChoices, nearestHint } from '../core/nearest.js';
import { InputError, pointerToken, type InputIssue } from '../core/problem.js';
import { namedSetting, type ServerSettings } from './server-settings.js';
import type { TransportSettings, TransportSpec } from './transport-settings.js';

/** @throws InputError for an entry or hosts that the settings do not have */
export function siteTransport({ ssh, nodes }: TransportSpec, settings: ServerSettings): TransportSettings {
  const { hosts, ...shared } = namedSetting(settings, 'ssh', ssh, '/spec/transport/ssh');
  const names = Object.keys(hosts);
  const issues: InputIssue[] = [];
  const reached: TransportSettings['nodes'] = {};
  for (const [device, { host = device, ...node }] of Object.entries(nodes)) {
    if (Object.hasOwn(hosts, host)) {
      reached[device] = { ...node, ...hosts[host] };
      continue;
    }
    issues.push({
      pointer: `/spec/transport/nodes/${pointerToken(device)}`,
      message: `the ssh "${ssh}" of the server’s settings has no host "${host}"; it has ${listChoices(names)}`,
      hint:
        nearestHint(host, names) ??
        `add it under ssh.${ssh}.hosts in ${settings.file ?? 'the server’s file'}`,
    });
  }
  if (issues.length > 0) throw new InputError(issues);
  return { ...shared, nodes: reached };
}
