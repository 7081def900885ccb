/** What is wrong is in the Fabric document, not in the experiment that runs on it. */
import { InputError } from '../../core/problem.js';

export class FabricError extends InputError {}
