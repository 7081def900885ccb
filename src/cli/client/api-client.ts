/**
 * The command line's side of REST: requests, problems, live events.
 */
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { EnvironmentError } from '../../core/problem.js';
import { atConfirm } from './confirmation.js';
import { ProblemError } from '../terminal/failure.js';

export interface RunEventMessage {
  id: number;
  type: string;
  data: Record<string, unknown>;
}

export interface RunView {
  id: string;
  experiment: string;
  fabric: string;
  /** Null while it is sealed. */
  seed: number | null;
  gameDayId: string | null;
  sealed: boolean;
  state: string;
  final: boolean;
  reason: string | null;
  exitCode: number | null;
  createdAt: string;
  startedAt: string | null;
  endedAt: string | null;
}

/** How often a broken event stream is picked up again before giving up. */
const RECONNECTS = 5;
const RECONNECT_PAUSE_MS = 500;

export class ApiClient {
  constructor(
    private readonly url: string,
    private readonly token?: string,
  ) {}

  /**
   * @param body a text is sent as YAML, anything else as JSON
   * @throws ProblemError for an answer that is an error; EnvironmentError when nobody answers
   */
  async request(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const init: RequestInit = { method, headers: { ...this.authorisation(), ...headers } };
    if (body !== undefined) {
      const isText = typeof body === 'string';
      init.body = isText ? body : JSON.stringify(body);
      init.headers = { ...init.headers, 'content-type': isText ? 'application/yaml' : 'application/json' };
    }
    let response: Response;
    try {
      response = await fetch(`${this.url}${path}`, init);
    } catch (error) {
      const cause = (error as { cause?: { code?: string; message?: string } }).cause;
      throw new EnvironmentError(
        `no answer from ${this.url}: ${cause?.code ?? cause?.message ?? (error as Error).message}`,
        'is the server running? FABRICDRILL_URL names it; unset it to use an embedded one',
      );
    }
    if (!response.ok) throw await problemOf(response);
    return response;
  }

  async json<Answer>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer> {
    const response = await this.request(method, path, body, headers);
    try {
      return (await response.json()) as Answer;
    } catch (error) {
      throw new EnvironmentError(
        `${this.url} answers, but not as fabricdrill does: ${(error as Error).message}`,
        'FABRICDRILL_URL must name a running fabricdrill server',
      );
    }
  }

  /** All rows of a list, page by page. */
  async *pages<Row>(path: string): AsyncGenerator<Row> {
    for (let next: string | undefined = path; next !== undefined;) {
      const response: Response = await this.request('GET', next);
      yield* ((await response.json()) as { data: Row[] }).data;
      next = /^<([^>]+)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1];
    }
  }

  /** A run's events from the first to `end`, picked up again where a connection broke. */
  async *events(runId: string): AsyncGenerator<RunEventMessage> {
    let seen = 0;
    for (let failures = 0; ; failures++) {
      try {
        const response = await this.request(
          'GET',
          `/v1/runs/${encodeURIComponent(runId)}/events`,
          undefined,
          {
            accept: 'text/event-stream',
            'last-event-id': String(seen),
          },
        );
        for await (const message of eventsOf(response)) {
          seen = message.id;
          failures = 0;
          yield message;
          if (message.type === 'end') return;
        }
      } catch (error) {
        if (error instanceof ProblemError || failures >= RECONNECTS) throw error;
      }
      if (failures >= RECONNECTS)
        throw new EnvironmentError(`the event stream of run ${runId} keeps breaking`);
      await new Promise((resolve) => setTimeout(resolve, RECONNECT_PAUSE_MS));
    }
  }

  private authorisation(): Record<string, string> {
    return this.token === undefined ? {} : { authorization: `Bearer ${this.token}` };
  }
}

async function* eventsOf(response: Response): AsyncGenerator<RunEventMessage> {
  if (response.body === null) return;
  const stream = response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  for await (const { id, event, data } of stream) {
    yield {
      id: Number(id ?? 0),
      type: event ?? 'message',
      data: JSON.parse(data) as Record<string, unknown>,
    };
  }
}

async function problemOf(response: Response): Promise<Error> {
  const text = await response.text();
  try {
    return atConfirm(new ProblemError(response.status, JSON.parse(text) as ProblemError['problem']));
  } catch {
    return new ProblemError(response.status, {
      detail: `the server answered ${response.status}: ${text.slice(0, 200)}`,
      hint: 'is this a fabricdrill server?',
    });
  }
}
