/** Makes runs of gates one after another, as often as it is asked, and says when it is done. */
import process from 'node:process';
import type { SideInput } from '../../src/drill/gate/pool.js';
import { runSide } from '../../src/drill/gate/side-run.js';

process.on('message', (inputs: SideInput[]) => {
  void (async () => {
    for (const { experiment, fabric, seed, needs } of inputs) await runSide(experiment, fabric, seed, needs);
    process.send?.('done');
  })();
});
process.once('disconnect', () => process.exit());
