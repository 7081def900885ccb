/**
 * A program in a host's namespace that sends bulk data, or takes it and throws it away: load that is no job's.
 *
 * It works as long as its permit, a file, is there, and for its lease at most; whoever wants it ended takes the file away.
 * Senders wait until another file, their gate, is there: all begin within a look of each other, however slowly they started.
 * So an undo timer ends it with one command, and nobody has to know which processes there are. TCP, since a kernel has no
 * RoCE: a sender that finds a full queue slows down, others with it. Started as `load.js receive|send PERMIT GATE LEASE_S ...`.
 */
import { existsSync } from 'node:fs';
import { createServer, connect, type Socket } from 'node:net';
import { raisePriority } from '../job/raise-priority.js';

const LOOK_MS = 150;
const GATE_LOOK_MS = 10;
const PIECE = Buffer.alloc(64 * 1024, 0x5a);
const RETRY_MS = 100;

interface Sending {
  to: string;
  port: number;
  connections: number;
  /** 0: as fast as it goes. */
  bytesPerS: number;
  /** 0: without end. */
  bytes: number;
}

// whoever started us stops reading once we are ready
process.stdout.on('error', () => undefined);

function main([, , mode, permit, gate, leaseS, ...rest]: readonly string[]): void {
  raisePriority();
  const end = (): never => process.exit(0);
  setTimeout(end, Number(leaseS) * 1000);
  setInterval(() => {
    if (!existsSync(permit)) end();
  }, LOOK_MS);
  if (mode === 'receive') receive(rest[0], Number(rest[1]));
  else {
    const [port, connections, bytesPerS, bytes] = rest.slice(1).map(Number);
    behind(gate, () => send({ to: rest[0], port, connections, bytesPerS, bytes }));
  }
}

const sayReady = (): void => void process.stdout.write('armed\n');

/** Goes on when the gate is opened. */
function behind(gate: string, begin: () => void): void {
  const timer = setInterval(() => {
    if (!existsSync(gate)) return;
    clearInterval(timer);
    begin();
  }, GATE_LOOK_MS);
  sayReady();
}

function receive(address: string, port: number): void {
  createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.resume();
  }).listen(port, address, sayReady);
}

function send(sending: Sending): void {
  const share = { ...sending, bytesPerS: sending.bytesPerS / sending.connections };
  const bytes = Math.ceil(sending.bytes / sending.connections);
  for (let index = 0; index < sending.connections; index++) open(share, bytes);
}

/** A connection that comes back until all is sent; the receiver may start after us. */
function open(sending: Sending, left: number): void {
  const socket = connect({ host: sending.to, port: sending.port });
  let toSend = sending.bytes === 0 ? Infinity : left;
  socket.on('connect', () =>
    pump(
      socket,
      sending.bytesPerS,
      () => toSend,
      (sent) => (toSend -= sent),
    ),
  );
  socket.on('error', () => undefined);
  socket.on('close', () => {
    if (toSend > 0) setTimeout(() => open(sending, toSend), RETRY_MS);
  });
}

function pump(socket: Socket, bytesPerS: number, left: () => number, sent: (bytes: number) => void): void {
  const begunMs = performance.now();
  let total = 0;
  const next = (): void => {
    if (socket.destroyed) return;
    const size = Math.min(PIECE.length, left());
    if (size <= 0) return void socket.end();
    const aheadMs = bytesPerS === 0 ? 0 : (1000 * total) / bytesPerS - (performance.now() - begunMs);
    if (aheadMs > 1) return void setTimeout(next, aheadMs);
    total += size;
    sent(size);
    socket.write(PIECE.subarray(0, size), (error) => {
      if (error === undefined || error === null) next();
    });
  };
  next();
}

main(process.argv);
