/** Stored experiments: create, list, change, delete, plan. */
import { Inject, Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { DataSource, type Repository } from 'typeorm';
import type { Plan } from '../../drill/plan/plan.js';
import type { DrilledFabric } from '../../drill/confirmation.js';
import { formatPace } from '../../fabric-api/pace.js';
import { FabricsService } from '../fabrics/fabrics.service.js';
import { listChoices, nearestHint } from '../../core/nearest.js';
import { InputError } from '../../core/problem.js';
import { CONFIG, type Config } from '../../system/config/config.js';
import { contentDigest } from '../../system/digest.js';
import { ConflictError, NotFoundError } from '../../system/errors.js';
import type { Cursor } from '../platform/http/page.js';
import { isUuid } from '../../system/uuid.js';
import type { Experiment } from '../../documents/experiment.js';
import { refuseFiles, type FabricDocument } from '../../documents/fabric-document.js';
import { loadExperiment, loadFabric, type Loaded } from '../../documents/load.js';
import { evidenceRoom, type EvidenceRoom } from '../../drill/plan/evidence-room.js';
import { ExperimentEntity } from '../../store/documents/experiment.entity.js';
import { drilledFabric, requireServed } from '../fabrics/confirmation.js';
import { Planning } from './planning.js';

/** A run's or plan's choice of fabric: a stored one by name, or a document sent along. */
export type FabricChoice = string | Record<string, unknown> | undefined;

export interface ResolvedFabric {
  document: FabricDocument;
  /** As stored or sent, for the snapshot. */
  source: unknown;
}

@Injectable()
export class ExperimentsService {
  private readonly experiments: Repository<ExperimentEntity>;

  constructor(
    dataSource: DataSource,
    private readonly fabrics: FabricsService,
    private readonly planning: Planning,
    @Inject(CONFIG)
    private readonly config: Pick<Config, 'home' | 'databaseUrl' | 'evidenceMaxBytes' | 'token'>,
  ) {
    this.experiments = dataSource.getRepository(ExperimentEntity);
  }

  /** Storing the same content under the same name again gives the row that is there. */
  async create(loaded: Loaded<Experiment>): Promise<{ experiment: ExperimentEntity; created: boolean }> {
    const { name } = loaded.value.metadata;
    const digest = contentDigest(loaded.source);
    const now = new Date();
    const result = await this.experiments
      .createQueryBuilder()
      .insert()
      .values({
        id: randomUUID(),
        name,
        definition: loaded.source as never,
        digest,
        createdAt: now,
        updatedAt: now,
      })
      .orIgnore()
      .returning('id')
      .execute();
    const created = (result.raw as unknown[]).length > 0;
    return { experiment: await this.experiments.findOneByOrFail({ name, digest }), created };
  }

  async get(id: string): Promise<ExperimentEntity> {
    const experiment = isUuid(id) ? await this.experiments.findOneBy({ id }) : null;
    if (experiment === null)
      throw new NotFoundError(`there is no experiment ${id}`, 'GET /v1/experiments lists them');
    return experiment;
  }

  /**
   * The experiment with this id, or the newest of this name.
   * @throws InputError at the pointer, with the nearest name
   */
  async require(reference: string, pointer: string): Promise<ExperimentEntity> {
    const where = isUuid(reference) ? { id: reference } : { name: reference };
    const [found] = await this.experiments.find({ where, order: { createdAt: 'DESC', id: 'DESC' }, take: 1 });
    if (found !== undefined) return found;
    const rows = await this.experiments
      .createQueryBuilder('e')
      .select('e.name', 'name')
      .distinct(true)
      .getRawMany();
    const names = (rows as { name: string }[]).map(({ name }) => name).sort();
    const stored = names.length === 0 ? 'none is stored' : `stored are ${listChoices(names)}`;
    throw InputError.at(
      pointer,
      `there is no stored experiment "${reference}"; ${stored}`,
      nearestHint(reference, names) ?? 'POST /v1/experiments stores one',
    );
  }

  /** Newest first, one row more than asked for when there are more. */
  list(filter: { name?: string }, limit: number, after?: Cursor): Promise<ExperimentEntity[]> {
    const query = this.experiments
      .createQueryBuilder('experiment')
      .orderBy('experiment.createdAt', 'DESC')
      .addOrderBy('experiment.id', 'DESC')
      .limit(limit + 1);
    if (filter.name !== undefined) query.andWhere('experiment.name = :name', filter);
    if (after !== undefined) {
      query.andWhere('(experiment.createdAt, experiment.id) < (:createdAt, CAST(:id AS uuid))', { ...after });
    }
    return query.getMany();
  }

  async replace(id: string, loaded: Loaded<Experiment>): Promise<ExperimentEntity> {
    const experiment = await this.get(id);
    const digest = contentDigest(loaded.source);
    const same = await this.experiments.findOneBy({ name: loaded.value.metadata.name, digest });
    if (same !== null && same.id !== id) {
      throw new ConflictError(`experiment ${same.id} has this name and content already`, `use ${same.id}`);
    }
    Object.assign(experiment, {
      name: loaded.value.metadata.name,
      definition: loaded.source,
      digest,
      updatedAt: new Date(),
    });
    return this.experiments.save(experiment);
  }

  /** Runs of the experiment stay; they carry a copy of what they ran. */
  async remove(id: string): Promise<void> {
    await this.experiments.remove(await this.get(id));
  }

  async plan(id: string, choice: FabricChoice, seed?: number): Promise<Plan> {
    const experiment = loadExperiment((await this.get(id)).definition, refuseFiles).value;
    const { document } = await this.resolveFabric(experiment, choice);
    return this.planning.plan({
      experiment,
      fabric: document,
      room: this.evidenceRoom,
      ...(seed === undefined ? {} : { seed }),
    });
  }

  /** Where the evidence of a run ends up. */
  get evidenceRoom(): EvidenceRoom {
    return evidenceRoom(this.config);
  }

  /**
   * The fabric that an experiment, as it was written, would go to.
   * @throws InputError when no stored fabric has the name; ForbiddenError for one that this server does not serve
   */
  async drilledFabric(experiment: unknown, choice: FabricChoice): Promise<DrilledFabric> {
    const own = (experiment as { spec: { fabric: string } }).spec.fabric;
    return drilledFabric(await this.definitionOf(choice, own));
  }

  private async definitionOf(choice: FabricChoice, own: string): Promise<unknown> {
    const pointer = choice === undefined ? '/spec/fabric' : '/fabric';
    const definition =
      typeof choice === 'object' ? choice : (await this.fabrics.require(choice ?? own, pointer)).definition;
    requireServed(definition, this.config);
    return definition;
  }

  /**
   * @param pace another one than its document says, where it is a simulated one
   * @throws InputError when no stored fabric has the name, or the document sent is invalid
   */
  async resolveFabric(experiment: Experiment, choice: FabricChoice, pace?: number): Promise<ResolvedFabric> {
    const definition = await this.definitionOf(choice, experiment.spec.fabric);
    return atPace(loadFabric(definition, refuseFiles), pace);
  }
}

function atPace({ value, source }: Loaded<FabricDocument>, pace: number | undefined): ResolvedFabric {
  if (pace === undefined || value.spec.driver !== 'simulated') return { document: value, source };
  const written = source as { spec: object };
  return {
    document: { ...value, spec: { ...value.spec, pace } },
    source: { ...written, spec: { ...written.spec, pace: formatPace(pace) } },
  };
}
