/** Stored fabrics: create, list, replace, delete, describe. */
import { Inject, Injectable } from '@nestjs/common';
import { DataSource, type Repository } from 'typeorm';
import type { FabricDocument } from '../../documents/fabric-document.js';
import type { Loaded } from '../../documents/load.js';
import { requireSettings } from '../../drivers/catalog.js';
import { CONFIG, type Config } from '../../system/config/config.js';
import { requireServed } from './confirmation.js';
import { listChoices, nearestHint } from '../../core/nearest.js';
import { InputError, withPointer } from '../../core/problem.js';
import { contentDigest } from '../../system/digest.js';
import type { Cursor } from '../platform/http/page.js';
import { ConflictError, NotFoundError } from '../../system/errors.js';
import { summarise } from '../../model/topology/describe.js';
import { buildTopology } from '../../model/topology/topology-spec.js';
import { buildJobs } from '../../model/workload/build-jobs.js';
import { FabricEntity } from '../../store/documents/fabric.entity.js';

@Injectable()
export class FabricsService {
  private readonly fabrics: Repository<FabricEntity>;

  constructor(
    dataSource: DataSource,
    @Inject(CONFIG) private readonly config: Pick<Config, 'token'>,
  ) {
    this.fabrics = dataSource.getRepository(FabricEntity);
  }

  /**
   * Storing the same content again gives the row that is there; other content under a taken name is a conflict
   * unless `replace`.
   * @throws InputError when topology or jobs can't be built from the document; nothing is stored then
   */
  async store(
    loaded: Loaded<FabricDocument>,
    replace: boolean,
  ): Promise<{ fabric: FabricEntity; created: boolean }> {
    const { name } = loaded.value.metadata;
    requireServed(loaded.source, this.config);
    const row = describeDocument(loaded);
    const now = new Date();
    const result = await this.fabrics
      .createQueryBuilder()
      .insert()
      .values({ name, ...row, createdAt: now, updatedAt: now } as never)
      .orIgnore()
      .returning('name')
      .execute();
    if ((result.raw as unknown[]).length > 0) {
      return { fabric: await this.fabrics.findOneByOrFail({ name }), created: true };
    }
    const fabric = await this.get(name);
    if (fabric.digest === row.digest) return { fabric, created: false };
    if (!replace) {
      throw new ConflictError(
        `a fabric named "${name}" is stored already, with other content`,
        `PUT /v1/fabrics/${name} replaces it (on the command line: --replace)`,
      );
    }
    Object.assign(fabric, row, { updatedAt: now });
    return { fabric: await this.fabrics.save(fabric), created: false };
  }

  async get(name: string): Promise<FabricEntity> {
    const fabric = await this.fabrics.findOneBy({ name });
    if (fabric === null)
      throw new NotFoundError(`there is no fabric "${name}"`, 'GET /v1/fabrics lists them');
    return fabric;
  }

  /** As `get`, for a name that stands in an input. @throws InputError naming the nearest stored fabric */
  async require(name: string, pointer: string): Promise<FabricEntity> {
    const fabric = await this.fabrics.findOneBy({ name });
    if (fabric !== null) return fabric;
    const names = (await this.fabrics.find({ select: { name: true }, order: { name: 'ASC' } })).map(
      (row) => row.name,
    );
    const stored = names.length === 0 ? 'none is stored' : `stored are ${listChoices(names)}`;
    throw InputError.at(pointer, `there is no fabric "${name}"; ${stored}`, nearestHint(name, names));
  }

  /** Newest first, one row more than asked for when there are more. */
  list(limit: number, after?: Cursor): Promise<FabricEntity[]> {
    const query = this.fabrics
      .createQueryBuilder('fabric')
      .orderBy('fabric.createdAt', 'DESC')
      .addOrderBy('fabric.name', 'DESC')
      .limit(limit + 1);
    if (after !== undefined)
      query.andWhere('(fabric.createdAt, fabric.name) < (:createdAt, :id)', { ...after });
    return query.getMany();
  }

  async remove(name: string): Promise<void> {
    await this.fabrics.remove(await this.get(name));
  }
}

function describeDocument(
  loaded: Loaded<FabricDocument>,
): Pick<FabricEntity, 'definition' | 'digest' | 'driver' | 'summary'> {
  const { spec } = loaded.value;
  try {
    const topology = withPointer('/spec/topology', () => buildTopology(spec.topology));
    const jobs = buildJobs(spec.jobs, topology, '/spec/jobs');
    requireSettings(spec);
    return {
      definition: loaded.source,
      digest: contentDigest(loaded.source),
      driver: spec.driver,
      summary: { ...summarise(topology), jobs: jobs.map((job) => job.name) },
    };
  } catch (error) {
    if (error instanceof InputError) throw new InputError(loaded.locate(error.issues));
    throw error;
  }
}
