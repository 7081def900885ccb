/** jest's environment of test files for mutants: one failed test is enough, where jest would run the file to its end. */
import PlainContext from '../support/plain-context.js';

export default class FirstFailureEnds extends PlainContext {
  handleTestEvent({ name }) {
    if (name === 'test_fn_failure' || name === 'hook_failure') process.exit(1);
  }
}
