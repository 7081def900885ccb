/**
 * The service of the old build in a process of its own, with fabrics on which something goes wrong.
 *
 *   node service.js CHECKOUT (settings from the environment)
 *
 * Says its address in a line, and serves until it is killed.
 */
import { join } from 'node:path';
import { leftBefore } from './definitions.js';

const dist = join(process.argv[2], 'dist/src');
const { startApp } = await import(join(dist, 'app.module.js'));
const { loadConfig } = await import(join(dist, 'platform/config/config.js'));
const { openFabric } = await import(join(dist, 'fabrics/catalog.js'));

/** Drills on some fabrics get no further than this, ns: what they injected is in place then. */
const HELD_FROM_NS = 4.5e9;

const never = () => new Promise(() => undefined);

/** @param instance given when it is to be drilled, and not for its twin */
async function open(document, seed, instance) {
  const fabric = await openFabric(document, seed, instance);
  const { name } = document.metadata;
  if (instance === undefined) return fabric;
  const isHeld = ['held', 'bent', 'bent-tree'].includes(name);
  const instead = {
    ...(isHeld ? { advance: (toNs) => (toNs > HELD_FROM_NS ? never() : fabric.advance(toNs)) } : {}),
    ...(name === 'stuck' ? { revert: () => Promise.reject(new Error('the switch answers no more')) } : {}),
    ...(name.startsWith('bent') ? { readBack: bent(fabric) } : {}),
  };
  return new Proxy(fabric, {
    get: (target, key) => {
      if (key in instead) return instead[key];
      const value = Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** Reads a setting; what it finds there was put there before the drill. */
function bent(fabric) {
  const bentAlready = new Set();
  return async (impairment) => {
    const [[element, settings]] = Object.entries(await fabric.readBack(impairment));
    const key = `${element} ${Object.keys(settings).join(' ')}`;
    const left = bentAlready.has(key) ? undefined : leftBefore(impairment);
    bentAlready.add(key);
    if (left !== undefined) await fabric.apply(`by-hand/${key}`, left);
    return fabric.readBack(impairment);
  };
}

const app = await startApp(loadConfig(), {
  api: true,
  worker: { leaseMs: 3000, heartbeatMs: 200, sweepMs: 500, openFabric: open },
});
process.stdout.write(`${app.url}\n`);
