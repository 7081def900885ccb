/**
 * Where a program of its own lies that a fabric or a drill is handed to: beside the module that starts it, or in `dist` when that runs from its source.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { EnvironmentError } from '../core/problem.js';

/** @param module `import.meta.url` of a module in the program's folder. @throws EnvironmentError when it is not built */
export function programPath(name: string, module: string): string {
  const beside = fileURLToPath(new URL(`./${name}.js`, module));
  if (existsSync(beside)) return beside;
  const built = beside.replace(/\/src\/(?!.*\/src\/)/, '/dist/src/');
  if (existsSync(built)) return built;
  throw new EnvironmentError(`the program ${name} is not built`, 'run npm run build');
}
