/** Diagnoses without a drill: of a file, of a stored run, of a fabric that is watched for a while. */
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Verdict } from '../../diagnosis/verdict.js';
import { Answers } from '../../drill/compute/answers.js';
import { examineFabric, recordedFabric, type Window } from '../../drill/examine.js';
import { refuseFiles, type FabricDocument } from '../../documents/fabric-document.js';
import { loadFabric } from '../../documents/load.js';
import { withJobsAsWritten } from '../../documents/stored.js';
import type { FabricChoice } from '../experiments/experiments.service.js';
import { FabricsService } from '../fabrics/fabrics.service.js';
import { InputError } from '../../core/problem.js';
import { FABRIC_DRIVERS } from '../../drivers/catalog.js';
import { drilledFabric, requireConfirmation, requireServed } from '../fabrics/confirmation.js';
import { EvidenceFile } from '../../evidence/evidence-file.js';
import { CONFIG, type Config } from '../../system/config/config.js';
import { RunsService } from './runs.service.js';
import { refuseSealed } from '../../store/runs/sealed-run.js';

@Injectable()
export class DiagnoseService implements OnApplicationShutdown {
  private readonly answers = new Answers();

  constructor(
    private readonly runs: RunsService,
    private readonly fabrics: FabricsService,
    @Inject(CONFIG) private readonly config: Pick<Config, 'token'>,
  ) {}

  /** @param choice the fabric it was recorded on; the one that came with the file when left out */
  async ofFile(bytes: Uint8Array, choice: FabricChoice, window: Window): Promise<Verdict> {
    const fabric = choice === undefined ? undefined : await this.resolve(choice);
    return this.answers.ask('verdictOnFile', { source: bytes, fabric, window });
  }

  async ofRun(id: string, choice: FabricChoice, window: Window): Promise<Verdict> {
    const run = await this.runs.get(id);
    refuseSealed(run, 'diagnosis by us');
    const { parts } = await this.runs.evidence(id);
    const fabric =
      choice === undefined
        ? recordedFabric(withJobsAsWritten(run.fabricDefinition, run.definition))
        : await this.resolve(choice);
    const file = await EvidenceFile.from(parts());
    try {
      return await this.answers.ask('verdictOnFile', { source: file.handle.fd, fabric, window });
    } finally {
      await file.close();
    }
  }

  /** @param confirm name of the fabric, where its jobs are started on a real one to be watched */
  async ofFabric(
    choice: FabricChoice,
    seed: number,
    window: Window,
    confirm: string | undefined,
  ): Promise<Verdict> {
    if (choice === undefined) {
      const hint = `as in { "fabric": "rail-64", "to": "30s" }; an evidence file goes in as the body`;
      throw InputError.at('', 'nothing to look at: give a fabric or a run', hint);
    }
    const { fromNs = 0, toNs } = window;
    if (toNs === undefined)
      throw InputError.at('/to', 'how long the fabric is to be watched is missing', 'as in "30s"');
    const definition = await this.definitionOf(choice);
    requireServed(definition, this.config);
    const fabric = drilledFabric(definition);
    // what is only watched starts no jobs
    const starts = FABRIC_DRIVERS.some(({ name, watchOnly }) => name === fabric.driver && watchOnly !== true);
    if (starts) requireConfirmation([fabric], confirm);
    const document = loadFabric(definition, refuseFiles).value;
    const asked = { fabric: document, seed, window: { fromNs, toNs } };
    // a real fabric takes the server's settings to open; it and a paced one take time rather than computing
    return document.spec.driver === 'simulated' && document.spec.pace === undefined
      ? this.answers.ask('verdictOnFabric', asked)
      : examineFabric(document, seed, asked.window);
  }

  onApplicationShutdown(): Promise<void> {
    return this.answers.close();
  }

  private async resolve(choice: string | Record<string, unknown>): Promise<FabricDocument> {
    return recordedFabric(await this.definitionOf(choice));
  }

  private async definitionOf(choice: string | Record<string, unknown>): Promise<unknown> {
    return typeof choice === 'object' ? choice : (await this.fabrics.require(choice, '/fabric')).definition;
  }
}
