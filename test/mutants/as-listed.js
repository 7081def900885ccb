/** jest's order of test files for mutants: as listed in FABRICDRILL_SPECS. */
import { createRequire } from 'node:module';

const { default: Sequencer } = createRequire(import.meta.url)('@jest/test-sequencer');

export default class AsListed extends Sequencer {
  sort(tests) {
    const order = JSON.parse(process.env.FABRICDRILL_SPECS);
    const place = ({ path }) => order.findIndex((spec) => path.endsWith(`/${spec}`));
    return [...tests].sort((one, other) => place(one) - place(other));
  }
}
