/**
 * Labs of the machine on which the drills of this server run: built and removed behind the request, which is answered at once.
 *
 * A build takes seconds to a minute; whoever asked looks at its state. What is there survives this process in the lab's own
 * record, so a state that is kept here alone is lost with it and nothing else.
 */
import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { EnvironmentError, InputError, messageOf } from '../../core/problem.js';
import { refuseFiles } from '../../documents/fabric-document.js';
import { loadFabric } from '../../documents/load.js';
import { fabricDriver, fabricProcesses, labBuilders } from '../../drivers/catalog.js';
import type { LabRemoval, LabSummary } from '../../fabric-api/lab-builder.js';
import { ConflictError, NotFoundError } from '../../system/errors.js';
import { FabricsService } from './fabrics.service.js';

/** Injection token: whether drills of this server run in this process. */
export const DRILLS_HERE = Symbol('fabricdrill drills in this process');

export interface LabView {
  name: string;
  state: 'building' | 'up' | 'removing' | 'down' | 'failed';
  /** What it is at, or was at last. */
  step: string | null;
  /** Why it failed, and what to do next. */
  reason: string | null;
  hint: string | null;
  lab: LabSummary | null;
  removed: LabRemoval | null;
}

const fresh = (name: string, state: LabView['state']): LabView => ({
  ...{ name, state, step: null, reason: null, hint: null, lab: null, removed: null },
});
const isBusy = ({ state }: LabView): boolean => state === 'building' || state === 'removing';

@Injectable()
export class LabsService implements BeforeApplicationShutdown {
  private readonly labs = new Map<string, LabView>();
  private readonly working = new Set<Promise<void>>();

  constructor(
    private readonly fabrics: FabricsService,
    @Inject(DRILLS_HERE) private readonly drillsHere: boolean,
  ) {}

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.allSettled(this.working);
  }

  /** @throws ConflictError for a fabric that is no lab, or while something is done to it */
  async up(name: string): Promise<LabView> {
    this.requireHere();
    const { definition } = await this.fabrics.get(name);
    const { spec } = loadFabric(definition, refuseFiles).value;
    const { labs } = fabricDriver(spec.driver);
    if (labs === undefined || spec.transport !== undefined) {
      const builders = labBuilders().map(({ driver }) => driver);
      throw new ConflictError(
        `"${name}" is no lab: nothing is built for it`,
        `labs are fabrics of the driver ${builders.join(', ')} without transport`,
        'not-a-lab',
        { fabric: name },
      );
    }
    return this.begin(name, 'building', async (view) => {
      view.lab = await labs.up({ name, spec }, (step) => (view.step = step));
      view.state = 'up';
    });
  }

  /** Removes a lab, or ends a paced simulation of this name. @throws NotFoundError where there is neither */
  async down(name: string): Promise<LabView> {
    this.requireHere();
    const builder = labBuilders().find(({ labs }) => labs.names().includes(name));
    if (builder === undefined) {
      for (const processes of fabricProcesses()) {
        if (await processes.end(name)) return fresh(name, 'down');
      }
      throw new NotFoundError(
        `there is no lab "${name}" on the machine of this server`,
        'POST …/up builds one',
      );
    }
    return this.begin(name, 'removing', async (view) => {
      view.removed = (await builder.labs.down(name)) ?? null;
      view.state = 'down';
    });
  }

  state(name: string): LabView {
    this.requireHere();
    const isThere = labBuilders().some(({ labs }) => labs.names().includes(name));
    const known = this.labs.get(name);
    // somebody else may have built or removed it since
    const holds =
      known !== undefined &&
      (isBusy(known) || known.state === 'failed' || (known.state === 'up') === isThere);
    return holds ? known : fresh(name, isThere ? 'up' : 'down');
  }

  private begin(
    name: string,
    state: 'building' | 'removing',
    work: (view: LabView) => Promise<void>,
  ): LabView {
    const present = this.labs.get(name);
    if (present !== undefined && isBusy(present)) {
      throw new ConflictError(
        `the lab "${name}" is ${present.state}`,
        `GET /v1/fabrics/${name}/lab follows it`,
      );
    }
    const view = fresh(name, state);
    this.labs.set(name, view);
    const done: Promise<void> = work(view)
      .catch((error: unknown) => {
        const hint = error instanceof EnvironmentError ? error.hint : undefined;
        const told = error instanceof InputError ? error.issues[0].hint : hint;
        Object.assign(view, { state: 'failed', reason: messageOf(error), hint: told ?? null });
      })
      .finally(() => this.working.delete(done));
    this.working.add(done);
    return view;
  }

  /** A lab is of one machine: one that is built where no drill runs would be found by none. */
  private requireHere(): void {
    if (this.drillsHere) return;
    throw new ConflictError(
      'drills of this server run in worker processes, and a lab is built where they run',
      'fabricdrill fabrics up on the machine of the worker, without FABRICDRILL_URL',
      'drills-elsewhere',
    );
  }
}
