/** Entry of the process of a paced simulation: `program.js FOLDER`. */
import { simulate } from './simulation.js';

const [folder] = process.argv.slice(2);
await simulate(folder);
process.exit(0);
