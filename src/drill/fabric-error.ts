import { InputError } from '../core/problem.js';

/** What is wrong is in the Fabric document, not in the experiment that runs on it. */
export class FabricError extends InputError {}
