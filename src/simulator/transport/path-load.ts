/**
 * Which source port a queue pair takes where the job looks at the paths: the one that keeps off the busiest link.
 *
 * A few ports are tried in thought, queue pair after queue pair, and the path whose busiest link carries fewest others is
 * taken; then the one with fewer others in all; then the first. It is what libraries do that probe equal-cost paths (HPN,
 * SIGCOMM 2024, section 6: RePaC), and what the jobs of a lab of Linux network stacks do. Not modelled: paths that are
 * chosen anew when routes change; queue pairs of different rates.
 */
const CANDIDATES = 16;

export class PathLoad {
  /** By direction of a link: chosen paths over it. */
  private readonly paths = new Map<number, number>();
  private readonly chosen = new Map<number, number[]>();

  /**
   * @param way whose port is chosen, for its release
   * @param pathOf directions that a candidate's packets would cross; empty where there is no path. Read before the next call
   * @returns the candidate, from 0
   */
  choose(way: number, pathOf: (candidate: number) => Int32Array): number {
    let best = 0;
    let bestPath: number[] = [];
    let [bestMost, bestSum] = [Infinity, Infinity];
    for (let candidate = 0; candidate < CANDIDATES; candidate++) {
      const path = Array.from(pathOf(candidate));
      if (path.length === 0) continue;
      const loads = path.map((direction) => this.paths.get(direction) ?? 0);
      const most = Math.max(...loads);
      const sum = loads.reduce((total, load) => total + load, 0);
      if (most > bestMost || (most === bestMost && sum >= bestSum)) continue;
      [best, bestPath, bestMost, bestSum] = [candidate, path, most, sum];
    }
    for (const direction of bestPath) this.paths.set(direction, (this.paths.get(direction) ?? 0) + 1);
    this.chosen.set(way, bestPath);
    return best;
  }

  /** The path of an earlier choice is given up. */
  release(way: number): void {
    for (const direction of this.chosen.get(way) ?? []) {
      this.paths.set(direction, this.paths.get(direction)! - 1);
    }
    this.chosen.delete(way);
  }
}
