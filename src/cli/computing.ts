/** The thread that a command computes in; it loads beside the command when that is known early to need it. */
import { setFlagsFromString } from 'node:v8';
import { Computing } from '../drill/compute/host.js';
import type { Answered, Asked, QuestionName } from '../drill/compute/questions.js';
import { EXIT } from '../scoring/exit-codes.js';
import type { CommandContext } from './context.js';
import { InterruptedError } from './terminal/failure.js';
import { Interrupts } from './terminal/interrupts.js';
import { sameKeyMs } from './terminal/invocation.js';

/**
 * How much code a function runs before V8 optimises it: ten times the default. A drill of a few seconds is over before most
 * of what would be optimised has paid for itself; a server, which lives longer, keeps the default. V8 has counted calls
 * instead since version 13 (Node 24), and complains on stderr of a flag that it does not know.
 */
const INTERRUPT_BUDGET = 700_000;

let loading: Computing | undefined;

function begin(): Computing {
  if (Number.parseInt(process.versions.v8, 10) < 13)
    setFlagsFromString(`--interrupt-budget=${INTERRUPT_BUDGET}`);
  return Computing.thread();
}

export const loadComputing = (): void => void (loading ??= begin());

/** For one caller, who closes it. */
export function takeComputing(): Computing {
  const taken = loading ?? begin();
  loading = undefined;
  return taken;
}

/** Ends one that was loaded in vain. */
export async function dropComputing(): Promise<void> {
  await loading?.close();
  loading = undefined;
}

export type Ask = <Name extends QuestionName>(name: Name, asked: Asked<Name>) => Promise<Answered<Name>>;

/**
 * Does work with answers that the thread computes; nothing is in place meanwhile, so that Ctrl-C ends it at once.
 * Work that asks nothing has no thread, and is ended by Ctrl-C as ever.
 * @throws InterruptedError after Ctrl-C
 */
export async function withAnswers<T>(
  { config }: Pick<CommandContext, 'config'>,
  work: (ask: Ask) => Promise<T>,
): Promise<T> {
  let answering: Answering | undefined;
  try {
    return await work((name, asked) => {
      const { thread, stopped } = (answering ??= new Answering(sameKeyMs(config)));
      return Promise.race([thread.ask(name, asked), stopped]);
    });
  } finally {
    await answering?.close();
  }
}

class Answering {
  readonly thread = takeComputing();
  /** Rejects after Ctrl-C. */
  readonly stopped: Promise<never>;
  private readonly interrupts: Interrupts;

  constructor(sameKeyMs: number) {
    let stop = (): void => undefined;
    this.stopped = new Promise<never>((_, reject) => {
      stop = () => reject(new InterruptedError(EXIT.aborted));
    });
    // it may come between two questions
    this.stopped.catch(() => undefined);
    this.interrupts = new Interrupts({ first: stop, second: () => process.exit(EXIT.aborted) }, sameKeyMs);
  }

  async close(): Promise<void> {
    this.interrupts.close();
    await this.thread.close();
  }
}
