/**
 * One answer to one case, graded: by the product's own scores against the truth, and as an alarm on a control.
 *
 * An abstention names nothing and so is wrong at rank 1. On a control every named element is an alarm, with two exceptions
 * that are right: a job, and for a compute straggler the host that it sits on.
 */
import type { Verdict } from '../../src/diagnosis/index.js';
import { scoreExplainability } from '../../src/scoring/explainability/explainability.js';
import { elementCredit, LADDER } from '../../src/scoring/explainability/element-match.js';
import type { CaseRun } from './run-case.js';

export interface Grade {
  /** Share of the faults that head the list, 0 or 1 for one fault. */
  top1: number;
  top3: number;
  setF1: number;
  /** Kind, and side and direction where the truth knows them, of what was found; null when nothing was. */
  kindRight: boolean | null;
  sideRight: boolean | null;
  abstained: boolean;
  onsetErrorS: number | null;
  /** Some culprit is named that is no cause of what happened, on a control. */
  falseAlarm: boolean;
  /** Each named culprit: what probability it was given, and whether it is one. */
  claims: { probability: number; right: boolean }[];
  /** Brier's error of the first ranks; null for who abstains. */
  brier: number | null;
  /** Whether the hosts that send too much, or the NIC that takes too little, are named; null where nobody is. */
  aggressorNamed: boolean | null;
  said: string;
}

export function grade(run: CaseRun, verdict: Verdict): Grade {
  const isControl = run.truth.every(({ kind }) => kind === 'straggler');
  const { metrics } = scoreExplainability({
    evidence: run.evidence,
    topology: run.topology,
    jobs: run.jobs,
    truth: run.truth,
    verdict,
    injectedNs: run.injectedNs,
    revertedNs: run.liftedNs,
    endNs: run.evidence.toNs,
    exposedJobs: run.exposedJobs,
    targetBytesInBaseline: true,
  });
  const figure = (name: string): number | null => {
    const value: unknown = metrics[name];
    return typeof value === 'number' ? value : null;
  };
  const named = verdict.faultFound === true ? verdict.culprits : [];
  const claims = named.map(({ element, probability }) => ({
    probability,
    right: run.truth.some((entry) => elementCredit(element, entry, run.topology) === LADDER.exact),
  }));
  const found = claims.some(({ right }) => right);
  return {
    top1: figure('top1') ?? 0,
    top3: figure('top3') ?? 0,
    setF1: figure('set_f1') ?? 0,
    kindRight: found ? metrics.kind_correct === true : null,
    sideRight: found ? metrics.side_correct === true : null,
    abstained: verdict.faultFound === null,
    onsetErrorS: figure('onset_error_s'),
    falseAlarm:
      isControl && named.some(({ element }, index) => element.type !== 'job' && !claims[index].right),
    claims,
    brier: figure('brier'),
    aggressorNamed: aggressorNamed(run, verdict),
    said: saying(verdict),
  };
}

function saying({ faultFound, culprits }: Verdict): string {
  if (faultFound !== true) return faultFound === false ? 'no fault' : "can't be told";
  return culprits
    .map(
      ({ kind, element, side, probability }) => `${kind} ${element.id} (${side}, ${probability.toFixed(2)})`,
    )
    .join('; ');
}

/** What a case's truth says, in the same form. */
export const truthOf = ({ truth }: CaseRun): string =>
  truth.map(({ kind, elements, side }) => `${kind} ${elements[0]?.id ?? '?'} (${side})`).join('; ') ||
  'no fault';

/** Injected traffic has senders; they, or their hosts, are whom an operator would call. */
function aggressorNamed({ impairments, topology }: CaseRun, { aggressors }: Verdict): boolean | null {
  const senders = impairments.flatMap((one) => (one.type === 'traffic' ? one.fromNics : []));
  if (senders.length === 0) return null;
  const hosts = topology.nics
    .filter(({ name }) => senders.includes(`nic:${name}`))
    .map(({ host }) => `device:${topology.devices[host].name}`);
  const guilty = new Set([...senders, ...hosts]);
  return aggressors.length > 0 && aggressors.every(({ id }) => guilty.has(id));
}
