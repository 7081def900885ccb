/**
 * Opens a site: asks every device, once and all together, whether it is what the Fabric document says.
 *
 * A site is built by nobody here, so everything that a drill will need is looked for before one is planned: the way there,
 * the programs of the dialect, the interfaces of the ports, Node and this very program on hosts that run jobs. All that is
 * wrong is said at once. What the devices can do decides which impairments the fabric has. Nothing is changed.
 */
import { listChoices, nearestHint } from '../../../core/nearest.js';
import { EnvironmentError, InputError, pointerToken, type InputIssue } from '../../../core/problem.js';
import type { Job } from '../../../model/workload/job.js';
import type { ImpairmentType } from '../../../fabric-api/impairment.js';
import { LINUX_CAPABILITIES } from '../controls/controls.js';
import { workerProgram } from '../job/worker-process.js';
import { RULES_TABLE, type Lab } from '../lab/lab.js';
import type { LabNode } from '../lab/parts.js';
import { CommandError } from '../transport/place.js';

export interface SiteFacts {
  /** Devices, by index, that have the counting rules of `fabrics up` on their ports. */
  withRules: ReadonlySet<number>;
  capabilities: ReadonlyMap<ImpairmentType, string>;
}

/** Programs as arguments; says which are missing, then the interfaces, then the tables of counters. */
const PROBE = `for p in "$@"; do command -v "$p" >/dev/null 2>&1 || [ -e "$p" ] || echo "missing $p"; done
for d in /sys/class/net/*; do echo "interface \${d##*/}"; done
command -v nft >/dev/null 2>&1 && nft list tables netdev 2>/dev/null
true`;

interface Answer {
  node: LabNode;
  missing: string[];
  interfaces: string[];
  hasRules: boolean;
  failure?: string;
}

/**
 * @throws EnvironmentError for devices that can't be reached or lack a program
 * @throws InputError for ports whose interface is not there
 */
export async function surveySite(lab: Lab, jobs: readonly Job[]): Promise<SiteFacts> {
  const jobHosts = new Set(
    jobs.flatMap(({ placement }) => Array.from(placement, (gpu) => lab.topology.gpus[gpu].host)),
  );
  const answers = await Promise.all(lab.nodes.map((node) => probe(node, jobHosts.has(node.device))));
  const failures = answers.flatMap(({ failure }) => failure ?? []);
  if (failures.length > 0) {
    const hint = 'ssh -i KEY USER@HOST tells more; the host key must stand in knownHosts';
    throw new EnvironmentError(`${lab.name}: ${listChoices(failures, 4)}`, hint);
  }
  const missing = answers.flatMap(({ node, missing: programs }) =>
    programs.map((program) => `${node.name} has no ${packageOf(node, program)}`),
  );
  if (missing.length > 0) {
    throw new EnvironmentError(
      `${lab.name}: ${listChoices(missing, 6)}`,
      'install it there, or give another dialect',
    );
  }
  checkInterfaces(lab, answers);
  const withRules = new Set(answers.filter(({ hasRules }) => hasRules).map(({ node }) => node.device));
  return { withRules, capabilities: capabilitiesOf(lab, withRules) };
}

async function probe(node: LabNode, runsJobs: boolean): Promise<Answer> {
  const empty = { node, missing: [], interfaces: [], hasRules: false };
  const programs = Object.keys(node.dialect.needs);
  // the vector without what leads to the device: Node, and the program of a rank
  const own = runsJobs ? node.place.programWords(workerProgram()) : [];
  try {
    const { stdout } = await node.place.run(['sh', '-c', PROBE, 'sh', ...programs, ...own]);
    const lines = stdout.split('\n');
    const after = (word: string): string[] =>
      lines.flatMap((line) => (line.startsWith(`${word} `) ? [line.slice(word.length + 1)] : []));
    return {
      node,
      missing: after('missing'),
      interfaces: after('interface'),
      hasRules: lines.includes(`table netdev ${RULES_TABLE}`),
    };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return { ...empty, failure: `${node.name}: ${error.why}` };
  }
}

function packageOf({ dialect }: LabNode, program: string): string {
  const from = dialect.needs[program];
  return from === undefined ? `${program}, which its jobs need` : `${program} (package ${from})`;
}

function checkInterfaces(lab: Lab, answers: readonly Answer[]): void {
  const issues = answers.flatMap(({ node, interfaces }) =>
    lab
      .portsOf(node)
      .filter((port) => !interfaces.includes(port.interface))
      .map((port): InputIssue => {
        const word = port.name.slice(port.name.lastIndexOf('/') + 1);
        return {
          pointer: `/spec/transport/nodes/${pointerToken(node.name)}/interfaces/${pointerToken(word)}`,
          message: `${node.name} has no interface ${port.interface}; it has ${listChoices(interfaces, 8)}`,
          hint: nearestHint(port.interface, interfaces),
        };
      }),
  );
  if (issues.length > 0) throw new InputError(issues);
}

/** What all devices can do; what only some can is refused on the others by their knobs. */
function capabilitiesOf(lab: Lab, withRules: ReadonlySet<number>): SiteFacts['capabilities'] {
  const untested = [...new Set(lab.nodes.map(({ dialect }) => dialect))].flatMap(({ name, untested: why }) =>
    why === undefined ? [] : [`dialect ${name}: ${why}`],
  );
  const all = new Map<ImpairmentType, string>(LINUX_CAPABILITIES);
  // Damage is counted by the rules of the port that receives it: without them it would be a loss that nobody sees.
  if (lab.nodes.some(({ device, dialect }) => !dialect.kernelForwards || !withRules.has(device))) {
    all.delete('bit-errors');
  }
  if (untested.length === 0) return all;
  const said = untested.join('; ');
  return new Map([...all].map(([type, cost]) => [type, cost === '' ? said : `${cost}; ${said}`]));
}
