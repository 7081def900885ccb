/**
 * A plain HTTP client for end-to-end suites: what went over the wire, and nothing made prettier.
 */
import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { Json } from './definitions.js';

export interface Answer {
  status: number;
  headers: Headers;
  /** The body as sent. */
  bytes: Buffer;
  /** The body as text. */
  text: string;
  /** The parsed body where it is JSON, else an empty object. */
  body: any; // eslint-disable-line @typescript-eslint/no-explicit-any -- a test reads whatever JSON comes
}

export interface SentEvent {
  id: number;
  type: string;
  data: Json;
}

export class HttpClient {
  constructor(
    readonly url: string,
    private readonly token?: string,
  ) {}

  /** A body that is a text is sent as it is, with the Content-Type given; anything else as JSON. */
  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        ...this.authorisation(),
        ...(body === undefined || typeof body === 'string' ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    const text = bytes.toString('utf8');
    const isJson = /^application\/([\w.]+\+)?json/.test(response.headers.get('content-type') ?? '');
    return {
      status: response.status,
      headers: response.headers,
      bytes,
      text,
      body: isJson ? JSON.parse(text) : {},
    };
  }

  get(path: string, headers?: Record<string, string>): Promise<Answer> {
    return this.send('GET', path, undefined, headers);
  }

  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer> {
    return this.send('POST', path, body, headers);
  }

  yaml(method: string, path: string, text: string): Promise<Answer> {
    return this.send(method, path, text, { 'content-type': 'application/yaml' });
  }

  /** Stores both documents and starts a run; fails loudly where any step does. */
  async run(fabric: Json, experiment: Json, options: Json = {}): Promise<string> {
    const stored = await this.post('/v1/fabrics', fabric);
    if (stored.status > 201) throw new Error(`the fabric was refused: ${stored.text}`);
    const created = await this.post('/v1/experiments', experiment);
    if (created.status > 201) throw new Error(`the experiment was refused: ${created.text}`);
    const run = await this.post(`/v1/experiments/${created.body.id}/runs`, options);
    if (run.status !== 202) throw new Error(`the run was refused: ${run.text}`);
    return run.body.id as string;
  }

  /** Events of a run until the server closes the stream, or until `enough`. */
  async events(
    runId: string,
    lastEventId?: number,
    enough: (event: SentEvent) => boolean = () => false,
  ): Promise<SentEvent[]> {
    const stop = new AbortController();
    const response = await fetch(`${this.url}/v1/runs/${runId}/events`, {
      headers: {
        ...this.authorisation(),
        ...(lastEventId === undefined ? {} : { 'last-event-id': String(lastEventId) }),
      },
      signal: stop.signal,
    });
    if (response.status !== 200) throw new Error(`the events were refused: ${response.status}`);
    const events: SentEvent[] = [];
    const stream = response
      .body!.pipeThrough(new TextDecoderStream())
      .pipeThrough(new EventSourceParserStream());
    for await (const message of stream) {
      const event = {
        id: Number(message.id),
        type: message.event ?? 'message',
        data: JSON.parse(message.data) as Json,
      };
      events.push(event);
      if (enough(event)) {
        stop.abort();
        break;
      }
    }
    return events;
  }

  /** Waits for the end of a run; the run as the API shows it then. */
  async ended(runId: string): Promise<Answer['body']> {
    await this.events(runId);
    return (await this.get(`/v1/runs/${runId}`)).body;
  }

  private authorisation(): Record<string, string> {
    return this.token === undefined ? {} : { authorization: `Bearer ${this.token}` };
  }
}
