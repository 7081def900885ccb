/** Makes runs of gates one after another, as often as it is asked, and says when it is done. */
import process from 'node:process';
import type { SideInput } from '../../src/drill/gate/side-run.js';
import { runSide } from '../../src/drill/gate/side-run.js';

process.on('message', (inputs: SideInput[]) => {
  void (async () => {
    for (const input of inputs) await runSide(input);
    process.send?.('done');
  })();
});
process.once('disconnect', () => process.exit());
