/**
 * Diagnoses from outside: taken at any time, scored by the code that scores our own as soon as the run has ended.
 *
 * Scores are written when somebody first asks for them after the end, so that a process which dies in between leaves
 * nothing half-done. Nothing of the truth is shown before, or a diagnosis could be made from its own mark.
 */
import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { DataSource, type Repository } from 'typeorm';
import type { Verdict } from '../../../diagnosis/verdict.js';
import { runCounterfactual } from '../../../drill/counterfactual.js';
import { scoreDiagnosis } from '../../../drill/judge.js';
import { knownElements } from '../../../model/workload/known-elements.js';
import { openFabric } from '../../../drivers/catalog.js';
import { portId, deviceId, nicId } from '../../../core/elements.js';
import type { Cursor } from '../../platform/http/page.js';
import { isUuid } from '../../../system/uuid.js';
import { NotFoundError } from '../../../system/errors.js';
import type { Score } from '../../../scoring/scorecard.js';
import type { Topology } from '../../../model/topology/model.js';
import { readStored, storedEvidence } from '../../../store/evidence/stored-evidence.js';
import { RunTruthEntity, type RunEntity } from '../../../store/runs/run.entity.js';
import { isFinal } from '../../../store/runs/run.machine.js';
import { RunsService } from '../runs.service.js';
import { DiagnosisEntity, type DiagnosisSource } from '../../../store/runs/diagnosis.entity.js';
import { fabricOfRun } from './run-fabric.js';
import { requireKnownCulprits } from './verdict-body.js';

export interface DiagnosisFilter {
  matched?: boolean;
  source?: DiagnosisSource;
}

@Injectable()
export class DiagnosesService {
  private readonly diagnoses: Repository<DiagnosisEntity>;

  constructor(
    private readonly dataSource: DataSource,
    private readonly runs: RunsService,
  ) {
    this.diagnoses = dataSource.getRepository(DiagnosisEntity);
  }

  /** @throws InputError when a culprit is no element of the run's fabric */
  async add(runId: string, author: string, verdict: Verdict): Promise<DiagnosisEntity> {
    const run = await this.runs.get(runId);
    const row = this.rowOf(run, author, verdict);
    await this.diagnoses.insert(row);
    return (await this.scored(run, [row]))[0];
  }

  /**
   * A diagnosis that is not stored yet.
   * @param place pointer of the verdict within what was sent
   * @throws InputError when a culprit is no element of the run's fabric
   */
  rowOf(run: RunEntity, author: string, verdict: Verdict, place = ''): DiagnosisEntity {
    const { topology, jobs } = fabricOfRun(run);
    requireKnownCulprits(verdict, knownElements(topology, jobs), () => namesOf(topology), place);
    const now = new Date();
    return Object.assign(new DiagnosisEntity(), {
      id: randomUUID(),
      runId: run.id,
      source: 'api' as const,
      author,
      verdict,
      alerts: null,
      reason: null,
      score: null,
      // nobody could read the truth before the end, nor while it is sealed
      beforeEnd: !isFinal(run.state) || run.sealed,
      receivedAt: now,
      updatedAt: now,
      scoredAt: null,
    });
  }

  /** All of a run, oldest first. */
  async ofRun(runId: string): Promise<DiagnosisEntity[]> {
    const run = await this.runs.get(runId);
    const rows = await this.diagnoses.find({
      where: { runId: run.id },
      order: { receivedAt: 'ASC', id: 'ASC' },
    });
    return this.scored(run, rows);
  }

  async one(runId: string, id: string): Promise<DiagnosisEntity> {
    const run = await this.runs.get(runId);
    const row = isUuid(id) ? await this.diagnoses.findOneBy({ id, runId: run.id }) : null;
    if (row === null) {
      const hint = `GET /v1/runs/${run.id}/diagnoses lists them`;
      throw new NotFoundError(`run ${run.id} has no diagnosis ${id}`, hint);
    }
    return (await this.scored(run, [row]))[0];
  }

  /** Newest first, one row more than asked for when there are more. */
  list(filter: DiagnosisFilter, limit: number, after?: Cursor): Promise<DiagnosisEntity[]> {
    const query = this.diagnoses
      .createQueryBuilder('diagnosis')
      .orderBy('diagnosis.receivedAt', 'DESC')
      .addOrderBy('diagnosis.id', 'DESC')
      .limit(limit + 1);
    if (filter.matched !== undefined)
      query.andWhere(`diagnosis.runId IS ${filter.matched ? 'NOT ' : ''}NULL`);
    if (filter.source !== undefined) query.andWhere('diagnosis.source = :source', { source: filter.source });
    if (after !== undefined) {
      query.andWhere('(diagnosis.receivedAt, diagnosis.id) < (:createdAt, CAST(:id AS uuid))', { ...after });
    }
    return query.getMany();
  }

  /** The rows, with scores where the run has ended with a truth to compare with. */
  private async scored(run: RunEntity, rows: DiagnosisEntity[]): Promise<DiagnosisEntity[]> {
    const open = rows.filter(({ scoredAt, verdict }) => scoredAt === null && verdict !== null);
    // a score while the truth is sealed would let anybody find it by trying
    if (open.length === 0 || !isFinal(run.state) || run.sealed) return rows;
    const score = await this.scorer(run);
    if (score === undefined) return rows;
    for (const row of open) {
      row.score = score(row);
      row.scoredAt = new Date();
      // not `save`: alerts that came meanwhile have made another verdict of it, which is scored in its turn
      await this.diagnoses.update(
        { id: row.id, updatedAt: row.updatedAt },
        { score: row.score, scoredAt: row.scoredAt },
      );
    }
    return rows;
  }

  /** @returns undefined for a run that ended without truth or evidence */
  private async scorer(run: RunEntity): Promise<((row: DiagnosisEntity) => Score) | undefined> {
    const stored = await this.dataSource.getRepository(RunTruthEntity).findOneBy({ runId: run.id });
    const kept = await storedEvidence(this.dataSource, run.id);
    if (stored?.record == null || kept === undefined) return undefined;
    const { truth, record } = stored;
    const evidence = await readStored(kept);
    const description = fabricOfRun(run);
    const course = { ...record, truth: [...truth] };
    // as for our own verdict: what truly moved is what the same seed does not show without the faults
    const simulated = run.driver === 'simulated';
    const counterfactual = simulated
      ? await runCounterfactual({
          plan: run.plan,
          record: course,
          evidence,
          description,
          open: () => openFabric(description.document, run.seed),
          signal: new AbortController().signal,
        })
      : undefined;
    return (diagnosis) =>
      scoreDiagnosis(
        {
          plan: run.plan,
          description,
          evidence,
          verdict: diagnosis.verdict!,
          record: course,
          ...(counterfactual === undefined ? {} : { counterfactual }),
        },
        timeToExplainS(run, diagnosis, record.injectedNs),
      );
  }
}

/** Seconds from injection to the diagnosis; null where the fabric's clock is not the wall's, or it came afterwards. */
function timeToExplainS(
  run: RunEntity,
  { receivedAt, beforeEnd }: DiagnosisEntity,
  injectedNs: number | null,
): number | null {
  if (run.driver === 'simulated' || run.startedAt === null || injectedNs === null || !beforeEnd) return null;
  return Math.max(0, (receivedAt.getTime() - run.startedAt.getTime()) / 1000 - injectedNs / 1e9);
}

const namesOf = (topology: Topology): string[] => [
  ...topology.links.map(({ id }) => id),
  ...topology.ports.map(({ name }) => portId(name)),
  ...topology.devices.map(({ name }) => deviceId(name)),
  ...topology.nics.map(({ name }) => nicId(name)),
];
