/**
 * jest's environment of Node with a plain global object, and with a memory of what was compiled.
 *
 * jest gives each test file a context whose global object hands every look-up of a global (`Math`, `Infinity`,
 * `Float64Array`) to a callback. A simulation spends most of its time there: it takes three to five times as long as in
 * Node itself. A context that Node leaves alone has no such callback; what isolates one file from another stays.
 *
 * A test file is over before most of what V8 would optimise has paid for itself, so it optimises later, as in a command
 * (src/cli/computing.ts), if it is a version that can be told to.
 *
 * Each test file compiles the modules that it imports, jest's own among them, most of which this worker has compiled for
 * the files before; for a small file that is a third of its time. So what V8 made of a source is kept for the next file.
 */
import { setFlagsFromString } from 'node:v8';
import vm from 'node:vm';
import { TestEnvironment } from 'jest-environment-node';

if (Number.parseInt(process.versions.v8, 10) < 13) setFlagsFromString('--interrupt-budget=700000');

const { SourceTextModule, compileFunction } = vm;

/** V8's code cache by source; null for a source that was met once, as many are. */
const compiled = new Map();

/** @param make gives the code cache of a source that is met again */
function remember(source, make) {
  // import() does not find its module any more in code from a cache
  if (compiled.get(source) || source.includes('import(')) return;
  compiled.set(source, compiled.has(source) ? make() : null);
}

vm.SourceTextModule = class extends SourceTextModule {
  constructor(source, options) {
    try {
      super(source, { ...options, cachedData: compiled.get(source) ?? undefined });
    } catch (error) {
      // V8 takes nothing that it made with other flags, which a spec may have set
      if (error.code !== 'ERR_VM_MODULE_CACHED_DATA_REJECTED') throw error;
      super(source, options);
    }
    remember(source, () => this.createCachedData());
  }
};

vm.compileFunction = (source, parameters, options) => {
  const cachedData = compiled.get(source) ?? undefined;
  const produceCachedData = cachedData === undefined && compiled.has(source);
  const result = compileFunction(source, parameters, { ...options, cachedData, produceCachedData });
  remember(source, () => result.cachedData);
  return result;
};

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
