/** Plans beside the thread that answers: a large fabric takes seconds to route, and others ask meanwhile. */
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Answers } from '../../drill/compute/answers.js';
import type { GateInput } from '../../drill/gate/gate-input.js';
import type { Plan } from '../../drill/plan/plan.js';
import { planExperiment, type PlanRequest } from '../../drill/plan/planning.js';

@Injectable()
export class Planning implements OnApplicationShutdown {
  private readonly answers = new Answers();

  /** As `planExperiment`. A real fabric is asked from here, with the server's own settings, and takes little computing. */
  plan(request: PlanRequest): Promise<Plan> {
    return request.fabric.spec.driver === 'simulated'
      ? this.answers.ask('plan', request)
      : planExperiment(request);
  }

  /** Of two simulated fabrics. @throws InputError for a gate that could compare nothing */
  refuseIncomparable({ suite, experiments, baseline, candidate }: GateInput): Promise<void> {
    return this.answers.ask('refuseIncomparable', { suite, experiments, baseline, candidate });
  }

  onApplicationShutdown(): Promise<void> {
    return this.answers.close();
  }
}
