/** Gates as REST sees them: ask for one, list, look, stop. */
import { Inject, Injectable, Logger } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { DataSource, type Repository } from 'typeorm';
import { drilledFabric, requireConfirmation } from '../fabrics/confirmation.js';
import { ExperimentsService } from '../experiments/experiments.service.js';
import { Planning } from '../experiments/planning.js';
import { refuseFiles } from '../../documents/fabric-document.js';
import { loadExperiment, loadSuite } from '../../documents/load.js';
import { FabricsService } from '../fabrics/fabrics.service.js';
import { listChoices, nearestHint } from '../../core/nearest.js';
import { EnvironmentError, InputError, withPointer, type InputIssue } from '../../core/problem.js';
import { contentDigest } from '../../system/digest.js';
import { checkIdempotencyKey, madeEarlier } from '../platform/http/idempotency-key.js';
import type { Cursor } from '../platform/http/page.js';
import { isUuid } from '../../system/uuid.js';
import { ConflictError, NotFoundError } from '../../system/errors.js';
import { GATE_QUEUE, type GateQueue } from '../platform/queue/gate-queue.js';
import { VERSION } from '../../system/version.js';
import { EXIT } from '../../scoring/exit-codes.js';
import { SIDES, type CheckedGate, type Side } from '../../drill/gate/gate-input.js';
import { gateOfSources, inRequest, type GateRequest } from './gate-request.js';
import { GateEntity, OPEN_GATE_STATES, type GateSources, type GateState } from './gate.entity.js';

export interface GateFilter {
  state?: GateState;
  suite?: string;
  baseline?: string;
  candidate?: string;
}

@Injectable()
export class GatesService {
  private readonly logger = new Logger('GatesService');
  private readonly gates: Repository<GateEntity>;

  constructor(
    private readonly dataSource: DataSource,
    private readonly experiments: ExperimentsService,
    private readonly planning: Planning,
    private readonly fabrics: FabricsService,
    @Inject(GATE_QUEUE) private readonly queue: GateQueue,
  ) {
    this.gates = dataSource.getRepository(GateEntity);
  }

  /**
   * Checks all of it first, so that nothing is stored for a gate that could not decide; then stores and queues it.
   * @returns the gate, and whether the idempotency key gave back an earlier one
   */
  async create(
    request: GateRequest,
    idempotencyKey?: string,
  ): Promise<{ gate: GateEntity; replayed: boolean }> {
    checkIdempotencyKey(idempotencyKey);
    const requestHash = contentDigest(request);
    const earlier = await madeEarlier(this.gates, idempotencyKey, requestHash);
    if (earlier !== undefined) return { gate: earlier, replayed: true };
    const definition = await this.sourcesOf(request);
    const checked = gateOfSources(definition);
    await this.planning.refuseIncomparable(checked).catch((error: unknown) => {
      throw error instanceof InputError ? inRequest(error) : error;
    });
    const gate = newGate(definition, checked, { idempotencyKey: idempotencyKey ?? null, requestHash });
    const first = { gateId: gate.id, round: gate.round };
    // asked before anything is stored, so that a gate which is refused for want of a queue leaves nothing behind
    await this.queue.expects(first);
    const inserted = await this.gates
      .createQueryBuilder()
      .insert()
      .values(gate as never)
      .orIgnore()
      .returning('id')
      .execute();
    if ((inserted.raw as unknown[]).length === 0) {
      const raced = await madeEarlier(this.gates, idempotencyKey, requestHash);
      if (raced !== undefined) return { gate: raced, replayed: true };
      throw new ConflictError('a request with this Idempotency-Key is under way', 'try again in a moment');
    }
    await this.queue.add(first, []).catch((error: unknown) => {
      if (!(error instanceof EnvironmentError)) throw error;
      this.logger.warn(`gate ${gate.id} is stored but not queued yet: ${error.message}`);
    });
    return { gate, replayed: false };
  }

  /** Everything that is named becomes a document, as it is now. */
  private async sourcesOf(request: GateRequest): Promise<GateSources> {
    const { suite, seeds } = request;
    const { spec } = withPointer('/suite', () => loadSuite(suite, refuseFiles).value);
    const sides = {} as Record<Side, unknown>;
    for (const side of SIDES) {
      sides[side] = await this.fabricOf(request, side, spec[side]);
      requireConfirmation([drilledFabric(sides[side])], request.confirm?.[side], `/confirm/${side}`);
    }
    const sent = sentExperiments(request.experiments);
    const experiments: unknown[] = [];
    for (const [at, name] of spec.experiments.entries()) {
      const pointer = `/suite/spec/experiments/${at}`;
      experiments.push(sent.get(name) ?? (await this.experiments.require(name, pointer)).definition);
    }
    refuseUnnamed([...sent.keys()], spec.experiments);
    return { suite, experiments, ...sides, ...(seeds === undefined ? {} : { seeds }) };
  }

  private async fabricOf(request: GateRequest, side: Side, own: string | undefined): Promise<unknown> {
    const choice = request[side] ?? own;
    if (choice === undefined) {
      const hint = `add "${side}" with the name of a stored fabric or a Fabric document`;
      throw InputError.at(`/${side}`, `neither the request nor the suite names a ${side}`, hint);
    }
    if (typeof choice === 'object') return choice;
    const pointer = request[side] === undefined ? `/suite/spec/${side}` : `/${side}`;
    return (await this.fabrics.require(choice, pointer)).definition;
  }

  async get(id: string): Promise<GateEntity> {
    const gate = isUuid(id) ? await this.gates.findOneBy({ id }) : null;
    if (gate === null) throw new NotFoundError(`there is no gate ${id}`, 'GET /v1/gates lists them');
    return gate;
  }

  /** Newest first, one row more than asked for when there are more. */
  list(filter: GateFilter, limit: number, after?: Cursor): Promise<GateEntity[]> {
    const query = this.gates
      .createQueryBuilder('gate')
      .orderBy('gate.createdAt', 'DESC')
      .addOrderBy('gate.id', 'DESC')
      .limit(limit + 1);
    const { state, suite, baseline, candidate } = filter;
    if (state !== undefined) query.andWhere('gate.state = :state', { state });
    if (suite !== undefined) query.andWhere('gate.suiteName = :suite', { suite });
    if (baseline !== undefined) query.andWhere('gate.baselineName = :baseline', { baseline });
    if (candidate !== undefined) query.andWhere('gate.candidateName = :candidate', { candidate });
    if (after !== undefined) {
      query.andWhere('(gate.createdAt, gate.id) < (:createdAt, CAST(:id AS uuid))', { ...after });
    }
    return query.getMany();
  }

  /** Batches under way end after their present run; those that wait are not made. Asking again changes nothing. */
  async abort(id: string, reason: string): Promise<GateEntity> {
    await this.get(id);
    await this.dataSource.query(
      `UPDATE gates SET state = 'aborted', reason = $2, exit_code = $3, ended_at = now(), touched_at = now()
        WHERE id = $1 AND state = ANY($4)`,
      [id, reason, EXIT.aborted, OPEN_GATE_STATES],
    );
    const gate = await this.get(id);
    if (gate.state === 'aborted') return gate;
    throw new ConflictError(`the gate has ended as ${gate.state}`, 'a gate that has ended can’t be aborted');
  }
}

/** Experiments that came along, by name, in their order. */
function sentExperiments(documents: readonly unknown[]): Map<string, unknown> {
  const sent = new Map<string, unknown>();
  for (const [at, document] of documents.entries()) {
    const { value } = withPointer(`/experiments/${at}`, () => loadExperiment(document, refuseFiles));
    const { name } = value.metadata;
    if (sent.has(name)) {
      throw InputError.at(`/experiments/${at}/metadata/name`, `there are two experiments named "${name}"`);
    }
    sent.set(name, document);
  }
  return sent;
}

/** What came along and is not named was meant to be: a stored one might be run in its place. */
function refuseUnnamed(sent: readonly string[], named: readonly string[]): void {
  const issues = sent.flatMap((name, at): InputIssue[] => {
    if (named.includes(name)) return [];
    const hint = nearestHint(name, named);
    const message = `the suite names no experiment "${name}"; it names ${listChoices(named, 30)}`;
    const pointer = `/experiments/${at}/metadata/name`;
    return [{ pointer, message, ...(hint === undefined ? {} : { hint }) }];
  });
  if (issues.length > 0) throw new InputError(issues);
}

function newGate(
  definition: GateSources,
  { suite, baseline, candidate }: CheckedGate,
  asked: Pick<GateEntity, 'idempotencyKey' | 'requestHash'>,
): GateEntity {
  const now = new Date();
  return Object.assign(new GateEntity(), {
    id: randomUUID(),
    suiteName: suite.metadata.name,
    baselineName: baseline.metadata.name,
    candidateName: candidate.metadata.name,
    definition,
    state: 'pending' as const,
    reason: null,
    exitCode: null,
    round: 0,
    ...{ runsPlanned: 0, runsDone: 0, runsMade: 0 },
    result: null,
    version: VERSION,
    ...asked,
    createdAt: now,
    startedAt: null,
    endedAt: null,
    touchedAt: now,
  });
}
