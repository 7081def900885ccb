/**
 * Alerts of an operator's own monitoring, as a diagnosis of the run that was open when they began.
 *
 * The rules of the run's fabric (`alertLabels`) say what an alert means. Everything that comes is kept: an alert that
 * belongs to no run is listed as unmatched with the reason, since a wrong rule would otherwise look like silence.
 */
import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { knownElements } from '../../../model/workload/known-elements.js';
import { claimOf, type AlertClaim } from '../../../fabric-api/alert-labels.js';
import { RunEntity } from '../../../store/runs/run.entity.js';
import { isFinal } from '../../../store/runs/run.machine.js';
import { DiagnosisEntity } from '../../../store/runs/diagnosis.entity.js';
import { mergeAlerts, verdictOfAlerts } from './alertmanager-body.js';
import type { Alert } from '../../../store/runs/diagnosis.entity.js';
import { fabricOfRun, type RunFabric } from './run-fabric.js';

export interface AlertReceipt {
  matched: { diagnosis: string; run: string; alerts: number }[];
  unmatched: { diagnosis: string; labels: Record<string, string>; reason: string }[];
}

/** A run and what its fabric's rules make of alerts. */
class Candidate {
  private readonly fabric: RunFabric;
  private readonly known: (id: string) => boolean;

  constructor(readonly run: RunEntity) {
    this.fabric = fabricOfRun(run);
    this.known = knownElements(this.fabric.topology, this.fabric.jobs);
  }

  get hasRules(): boolean {
    return (this.fabric.document.spec.alertLabels ?? []).length > 0;
  }

  /** A claim about an element of this fabric, or why the alert makes none. */
  read(alert: Alert): AlertClaim | string {
    const name = this.run.fabricName;
    const claim = claimOf(this.fabric.document.spec.alertLabels ?? [], alert.labels);
    if (claim === undefined) return `no rule in alertLabels of the fabric "${name}" fits`;
    const exists = claim.element.type === 'pattern' || this.known(claim.element.id);
    return exists ? claim : `the fabric "${name}" has no ${claim.element.id}`;
  }
}

@Injectable()
export class AlertsService {
  constructor(private readonly dataSource: DataSource) {}

  /** @param fabric only runs on the fabric of this name are meant */
  async receive(receiver: string, alerts: readonly Alert[], fabric?: string): Promise<AlertReceipt> {
    const receipt: AlertReceipt = { matched: [], unmatched: [] };
    const byRun = new Map<string, { candidate: Candidate; alerts: Alert[] }>();
    const candidates = new Map<string, Candidate>();
    for (const alert of alerts) {
      const found = await this.match(alert, fabric, candidates);
      if (typeof found === 'string') receipt.unmatched.push(await this.keep(receiver, alert, found));
      else {
        const group = byRun.get(found.run.id) ?? { candidate: found, alerts: [] };
        group.alerts.push(alert);
        byRun.set(found.run.id, group);
      }
    }
    for (const group of byRun.values()) receipt.matched.push(await this.store(receiver, group));
    return receipt;
  }

  /** The one run that was open when the alert began and whose fabric knows what it means, or why there is none. */
  private async match(
    alert: Alert,
    fabric: string | undefined,
    known: Map<string, Candidate>,
  ): Promise<Candidate | string> {
    const open = await this.openAt(alert.startsAt, fabric);
    if (open.length === 0) return `no run was open at ${alert.startsAt}`;
    const reasons: string[] = [];
    const fitting: Candidate[] = [];
    for (const run of open) {
      const candidate = known.get(run.id) ?? new Candidate(run);
      known.set(run.id, candidate);
      const claim = candidate.read(alert);
      if (typeof claim !== 'string') fitting.push(candidate);
      else reasons.push(candidate.hasRules ? claim : `the fabric "${run.fabricName}" has no alertLabels`);
    }
    if (fitting.length === 1) return fitting[0];
    if (fitting.length === 0) return [...new Set(reasons)].join('; ');
    const names = fitting.map(({ run }) => `${run.id} on "${run.fabricName}"`);
    return `it could belong to ${names.join(' or ')}; name the fabric in the address: ?fabric=NAME`;
  }

  private openAt(instant: string, fabric: string | undefined): Promise<RunEntity[]> {
    const query = this.dataSource
      .getRepository(RunEntity)
      .createQueryBuilder('run')
      .where('run.startedAt <= :instant AND (run.endedAt IS NULL OR run.endedAt >= :instant)', { instant })
      .orderBy('run.createdAt', 'DESC')
      .limit(20);
    if (fabric !== undefined) query.andWhere('run.fabricName = :fabric', { fabric });
    return query.getMany();
  }

  /** One diagnosis for what a receiver says of a run, however many messages that takes. */
  private async store(
    receiver: string,
    { candidate, alerts }: { candidate: Candidate; alerts: Alert[] },
  ): Promise<AlertReceipt['matched'][number]> {
    const { run } = candidate;
    return this.dataSource.transaction(async (manager) => {
      // the run's row is the lock: two messages about it must not each miss the other's alerts
      await manager.query('SELECT 1 FROM runs WHERE id = $1 FOR UPDATE', [run.id]);
      const earlier = await manager.findOneBy(DiagnosisEntity, {
        runId: run.id,
        source: 'alertmanager',
        author: receiver,
      });
      const merged = mergeAlerts(earlier?.alerts ?? [], alerts);
      const now = new Date();
      const row = Object.assign(new DiagnosisEntity(), {
        id: earlier?.id ?? randomUUID(),
        runId: run.id,
        source: 'alertmanager' as const,
        author: receiver,
        verdict: verdictOfAlerts(claimsOf(candidate, merged), startMsOf(run)),
        alerts: merged,
        reason: null,
        score: null,
        beforeEnd: (earlier?.beforeEnd ?? true) && !isFinal(run.state),
        receivedAt: earlier?.receivedAt ?? now,
        updatedAt: now,
        scoredAt: null,
      });
      await manager.save(row);
      return { diagnosis: row.id, run: run.id, alerts: alerts.length };
    });
  }

  private async keep(
    receiver: string,
    alert: Alert,
    reason: string,
  ): Promise<AlertReceipt['unmatched'][number]> {
    const now = new Date();
    const row = {
      id: randomUUID(),
      runId: null,
      source: 'alertmanager' as const,
      author: receiver,
      verdict: null,
      alerts: [alert],
      reason,
      score: null,
      beforeEnd: false,
      receivedAt: now,
      updatedAt: now,
      scoredAt: null,
    };
    await this.dataSource.getRepository(DiagnosisEntity).insert(row);
    return { diagnosis: row.id, labels: alert.labels, reason };
  }
}

const claimsOf = (candidate: Candidate, alerts: readonly Alert[]) =>
  alerts.flatMap((alert) => {
    const claim = candidate.read(alert);
    return typeof claim === 'string' ? [] : [{ alert, claim }];
  });

/** Simulated time runs at another speed than the wall clock, so an alert's time says nothing about it. */
const startMsOf = (run: RunEntity): number | null =>
  run.driver === 'simulated' ? null : (run.startedAt?.getTime() ?? null);
