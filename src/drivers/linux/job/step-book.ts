/**
 * Puts the reports of a job's ranks together to steps of the job: a step has ended when its last rank has.
 */
import type { Job } from '../../../model/workload/job.js';
import type { StepSummary } from './job-events.js';
import type { WorkerReport } from './protocol.js';

export type StepReport = Extract<WorkerReport, { report: 'step' }>;

export class StepBook {
  private readonly open = new Map<number, (StepReport | undefined)[]>();

  constructor(private readonly job: Job) {}

  /** Forgets steps under way: their ranks have started anew. */
  clear(): void {
    this.open.clear();
  }

  /** @returns the step when this was its last rank's report */
  add(report: StepReport): StepSummary | undefined {
    const ranks = this.job.placement.length;
    const reports = this.open.get(report.step) ?? new Array<StepReport | undefined>(ranks).fill(undefined);
    this.open.set(report.step, reports);
    reports[report.rank] = report;
    const complete = reports.filter((one) => one !== undefined);
    if (complete.length < ranks) return undefined;
    this.open.delete(report.step);
    return this.summary(complete);
  }

  private summary(reports: readonly StepReport[]): StepSummary {
    const endedNs = Math.max(...reports.map((one) => one.endedNs));
    const beganNs = Math.max(...reports.map((one) => one.beganNs));
    return {
      step: reports[0].step,
      endedNs,
      durationNs: endedNs - beganNs,
      computeNs: reports.map((one) => one.computeNs),
      waitNs: reports.map((one) => Math.max(0, one.endedNs - one.beganNs - one.computeNs)),
      collectives: this.collectives(reports),
    };
  }

  private collectives(reports: readonly StepReport[]): StepSummary['collectives'] {
    return this.job.program.operations.flatMap((operation, index) => {
      if (operation.type === 'compute') return [];
      const took = operation.groups.map((group) => {
        const spans = group.flatMap((rank) =>
          reports[rank].collectives.filter((one) => one.operation === index),
        );
        if (spans.length === 0) return 0;
        const joinedNs = Math.max(...spans.map((one) => one.beganNs));
        return Math.max(...spans.map((one) => one.endedNs)) - joinedNs;
      });
      const { bytes, collective: type, groups } = operation;
      return [{ type, bytes, ranks: groups[0].length, tookNs: Math.max(0, ...took) }];
    });
  }
}
