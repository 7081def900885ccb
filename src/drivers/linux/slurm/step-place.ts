/**
 * A node of Slurm as a place for a rank: its program is a step of the job that holds the node.
 *
 * Slurm starts it there, signals and ends it with the job, and carries its input and output; whoever gives the orders holds
 * the other end (srun). Where the node's host is a namespace of this machine, the step enters it first. srun, killed, would
 * leave its step behind: that ends with its input. Files and clock of the node are its host's.
 */
import { SpawningPlace, type Place } from '../transport/place.js';
import type { SlurmClient } from './slurm-client.js';

export class StepPlace extends SpawningPlace {
  override readonly endsByInput = true;
  /** Its clock is that of its host. */
  override readonly isRemote: boolean;

  /**
   * @param from where Slurm's commands run
   * @param host the node's own place, for how programs are called there
   */
  constructor(
    private readonly client: SlurmClient,
    private readonly from: Place,
    private readonly step: { job: number; node: string },
    private readonly host: Place,
  ) {
    super();
    this.isRemote = host.isRemote;
  }

  get name(): string {
    return `the node ${this.step.node}`;
  }

  argv(command: readonly string[]): string[] {
    const { job, node } = this.step;
    // A remote host is the node itself: nothing has to be entered there.
    const inside = this.host.isRemote ? command : this.host.argv(command);
    return this.from.argv(this.client.stepCommand(job, node, inside));
  }

  override programWords(path: string): string[] {
    return this.host.programWords(path);
  }
}
