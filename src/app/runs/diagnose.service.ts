/** Diagnoses without a drill: of a file, of a stored run, of a fabric that is watched for a while. */
import { Inject, Injectable } from '@nestjs/common';
import type { Verdict } from '../../diagnosis/verdict.js';
import { examineEvidence, examineFabric, type Window } from '../../drill/examine.js';
import { refuseFiles, type FabricDocument } from '../../documents/fabric-document.js';
import { loadFabric } from '../../documents/load.js';
import { fabricAsRecorded, withJobsAsWritten } from '../../documents/stored.js';
import type { FabricChoice } from '../experiments/experiments.service.js';
import { FabricsService } from '../fabrics/fabrics.service.js';
import { InputError } from '../../core/problem.js';
import { FABRIC_DRIVERS } from '../../drivers/catalog.js';
import { drilledFabric, requireConfirmation, requireServed } from '../fabrics/confirmation.js';
import { decodeEvidenceFile } from '../../evidence/arrow.js';
import { readStored } from '../../store/evidence/stored-evidence.js';
import { CONFIG, type Config } from '../../system/config/config.js';
import { RunsService } from './runs.service.js';
import { refuseSealed } from '../../store/runs/sealed-run.js';

@Injectable()
export class DiagnoseService {
  constructor(
    private readonly runs: RunsService,
    private readonly fabrics: FabricsService,
    @Inject(CONFIG) private readonly config: Pick<Config, 'token'>,
  ) {}

  /** @param choice the fabric it was recorded on; the one that came with the file when left out */
  async ofFile(bytes: Uint8Array, choice: FabricChoice, window: Window): Promise<Verdict> {
    const { evidence, fabric } = await decodeEvidenceFile(bytes);
    const document = choice === undefined ? documentOf(fabric) : await this.resolve(choice);
    return examineEvidence(document, evidence, window);
  }

  async ofRun(id: string, choice: FabricChoice, window: Window): Promise<Verdict> {
    const run = await this.runs.get(id);
    refuseSealed(run, 'diagnosis by us');
    const evidence = await readStored(await this.runs.evidence(id));
    const document =
      choice === undefined
        ? documentOf(withJobsAsWritten(run.fabricDefinition, run.definition))
        : await this.resolve(choice);
    return examineEvidence(document, evidence, window);
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
    return examineFabric(loadFabric(definition, refuseFiles).value, seed, { fromNs, toNs });
  }

  private async resolve(choice: string | Record<string, unknown>): Promise<FabricDocument> {
    return documentOf(await this.definitionOf(choice));
  }

  private async definitionOf(choice: string | Record<string, unknown>): Promise<unknown> {
    return typeof choice === 'object' ? choice : (await this.fabrics.require(choice, '/fabric')).definition;
  }
}

function documentOf(document: unknown): FabricDocument {
  if (document === undefined) {
    const hint = 'name a stored fabric in the parameter fabric';
    throw InputError.at('/fabric', 'the evidence does not say which fabric it is of', hint);
  }
  return fabricAsRecorded(document);
}
