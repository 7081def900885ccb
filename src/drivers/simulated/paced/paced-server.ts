/**
 * The calls of a paced simulation as HTTP over its socket. One call is one POST; the answer carries the fabric's clock.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ConfigurationSnapshot, JobBoundary } from '../../../fabric-api/fabric.js';
import type { Impairment } from '../../../fabric-api/impairment.js';
import type { PacedHost } from './paced-host.js';
import { CALLS, evidenceFrames, sentError, type Call } from './protocol.js';

export interface CallBody {
  driver?: number;
  id?: string;
  impairment?: Impairment;
  saved?: ConfigurationSnapshot;
  holdNs?: number;
  toNs?: number;
  fromNs?: number;
  boundaries?: JobBoundary[];
  element?: string;
  by?: string;
}

/** What a socket may be told in one call; a snapshot of a device is a few hundred bytes. */
const MOST_BODY_BYTES = 2 ** 20;

/** @param end asked for by the driver: everything is reverted by then */
export function pacedServer(host: PacedHost, end: () => void): Server {
  return createServer((request, response) => {
    answer(host, request, response, end).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else sendJson(response, 500, { error: sentError(error) });
    });
  });
}

async function answer(
  host: PacedHost,
  request: IncomingMessage,
  response: ServerResponse,
  end: () => void,
): Promise<void> {
  const call = CALLS.find((name) => request.url === `/${name}`);
  if (call === undefined) return sendJson(response, 404, { error: sentError(new Error('no such call')) });
  const body = JSON.parse(await textOf(request)) as CallBody;
  if (call === 'observe') {
    const evidence = await host.observe({ fromNs: body.fromNs!, toNs: body.toNs! });
    response.writeHead(200, { 'content-type': 'application/octet-stream' });
    return pipeline(Readable.from(evidenceFrames(evidence)), response);
  }
  const result = await ACT[call](host, body);
  sendJson(response, 200, { result: result ?? null, nowNs: host.status().nowNs });
  if (call === 'end') response.once('close', end);
}

const ACT: Record<Exclude<Call, 'observe'>, (host: PacedHost, body: CallBody) => unknown> = {
  attach: (host, { by }) => host.attach(by!),
  renew: (host, { driver }) => host.renew(driver!),
  status: (host) => host.status(),
  readBack: (host, { impairment }) => host.readBack(impairment!),
  apply: (host, { driver, id, impairment, holdNs }) => host.apply(driver!, id!, impairment!, holdNs),
  revert: (host, { id, impairment, saved, by }) => host.revert(id!, impairment!, saved!, by!),
  startJobs: (host, { driver }) => host.startJobs(driver!),
  advance: (host, { driver, toNs }) => host.advance(driver!, toNs!),
  untilBoundary: (host, { driver, boundaries, toNs }) => host.untilBoundary(driver!, boundaries!, toNs!),
  jobsCrossing: (host, { element }) => host.jobsCrossing(element!),
  end: (host, { by }) => host.revertAll(by!),
};

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MOST_BODY_BYTES) throw new Error('the call is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
