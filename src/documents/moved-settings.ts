/**
 * What Fabric documents said before the server had settings of its own: paths, accounts, keys and addresses. Such a document
 * is refused with what has to be moved where; stored ones are shown as they are, and told so when they are to be run.
 */
import { InputError, pointerToken, type InputIssue } from '../core/problem.js';

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const SSH = ['undoFolder', 'sharedFolder', 'node', 'install'];
const HOST = ['port', 'user', 'key', 'knownHosts', 'sudo', 'jump', 'frrSocket'];
const PROMETHEUS = ['url', 'authorization', 'timeout'];

/** @throws InputError naming each value that is the server's to choose */
export function refuseMovedSettings(document: unknown): void {
  const spec = isRecord(document) && isRecord(document.spec) ? document.spec : {};
  const issues = [
    ...ofTransport(spec.transport),
    ...ofSlurm(spec.orchestrator),
    ...ofPrometheus(spec.prometheus),
  ];
  if (issues.length > 0) throw new InputError(issues);
}

function ofTransport(transport: unknown): InputIssue[] {
  if (!isRecord(transport)) return [];
  const at = '/spec/transport';
  const issues = SSH.filter((key) => key in transport).map((key) => moved(`${at}/${key}`, `ssh.NAME.${key}`));
  if (isRecord(transport.ssh)) {
    issues.unshift(moved(`${at}/ssh`, 'ssh.NAME', 'write ssh: NAME here'));
  }
  for (const [device, node] of Object.entries(isRecord(transport.nodes) ? transport.nodes : {})) {
    if (!isRecord(node)) continue;
    const keys = HOST.filter((key) => key in node);
    if (isRecord(transport.ssh) && 'host' in node) keys.unshift('host');
    if (keys.length === 0) continue;
    const pointer = `${at}/nodes/${pointerToken(device)}`;
    issues.push(moved(pointer, `ssh.NAME.hosts.${device}`, `take ${keys.join(', ')} out of here`));
  }
  return issues;
}

const ofSlurm = (orchestrator: unknown): InputIssue[] =>
  isRecord(orchestrator) && isRecord(orchestrator.slurm)
    ? [
        moved(
          '/spec/orchestrator/slurm',
          'slurm.NAME (configuration, login)',
          'write slurm: NAME here, and nodes, partition, account and startWithin beside it',
        ),
      ]
    : [];

function ofPrometheus(prometheus: unknown): InputIssue[] {
  if (!isRecord(prometheus)) return [];
  return PROMETHEUS.filter((key) => key in prometheus).map((key) =>
    moved(`/spec/prometheus/${key}`, `prometheus.NAME.${key}`, 'write server: NAME here'),
  );
}

const moved = (pointer: string, to: string, instead = 'take it out of here'): InputIssue => ({
  pointer,
  message: `this is the server’s to choose; move it to ${to} in the file that FABRICDRILL_CONFIG names`,
  hint: `${instead}; docs/real-fabrics.md shows both files`,
});
