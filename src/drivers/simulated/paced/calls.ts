/** Calls to a paced simulation over its socket. */
import { Agent, request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { EnvironmentError } from '../../../core/problem.js';
import type { CallBody } from './paced-server.js';
import { receivedError, type Call, type SentError } from './protocol.js';

/** A simulation that gives no answer for so long beyond the wait that was asked for is taken for stuck. */
const PATIENCE_MS = 60_000;

export interface Answered {
  result: unknown;
  nowNs: number;
}

export class PacedCalls {
  private readonly agent = new Agent({ keepAlive: true });

  constructor(private readonly socket: string) {}

  /** @param waitMs how long the answer may take by itself */
  async ask(call: Call, body: CallBody = {}, waitMs = 0): Promise<Answered> {
    const response = await this.send(call, body, waitMs);
    return JSON.parse(await text(response)) as Answered;
  }

  /** The answer as it comes. @throws what the simulation threw, or EnvironmentError when it can't be reached */
  async send(call: Call, body: CallBody, waitMs = 0): Promise<IncomingMessage> {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = request({
        socketPath: this.socket,
        path: `/${call}`,
        method: 'POST',
        agent: this.agent,
        timeout: waitMs + PATIENCE_MS,
      });
      sent.once('response', resolve);
      sent.once('timeout', () => sent.destroy(new Error('it gave no answer in time')));
      sent.once('error', (error) =>
        reject(
          new EnvironmentError(`the paced simulation can't be reached: ${error.message}`, undefined, {
            cause: error,
          }),
        ),
      );
      sent.end(JSON.stringify(body));
    });
    if (response.statusCode === 200) return response;
    const { error } = JSON.parse(await text(response)) as { error: SentError };
    throw receivedError(error);
  }

  close(): void {
    this.agent.destroy();
  }
}
