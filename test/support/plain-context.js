/**
 * jest's environment of Node with a plain global object.
 *
 * jest gives each test file a context whose global object hands every look-up of a global (`Math`, `Infinity`,
 * `Float64Array`) to a callback. A simulation spends most of its time there: it takes three to five times as long as in
 * Node itself. A context that Node leaves alone has no such callback; what isolates one file from another stays.
 *
 * A test file is over before most of what V8 would optimise has paid for itself, so it optimises later, as in a command
 * (src/cli/computing.ts), if it is a version that can be told to.
 */
import { setFlagsFromString } from 'node:v8';
import vm from 'node:vm';
import { TestEnvironment } from 'jest-environment-node';

if (Number.parseInt(process.versions.v8, 10) < 13) setFlagsFromString('--interrupt-budget=700000');

export default class PlainContext extends TestEnvironment {
  constructor(...all) {
    const { createContext } = vm;
    // the constructor of jest's environment has no option for it
    vm.createContext = () => createContext(vm.constants.DONT_CONTEXTIFY);
    try {
      super(...all);
    } finally {
      vm.createContext = createContext;
    }
  }
}
