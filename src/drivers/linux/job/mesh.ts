/**
 * A worker's connections: one TCP flow per ring edge, from the ports that were planned for it.
 *
 * The dialling side sends; a short greeting says which rank it is and of which life of the job, so that a late
 * connection of workers that are gone is refused. Losing any connection ends the worker, as it ends an NCCL
 * communicator. Not modelled: several flows an edge, encryption.
 */
import { createServer, connect as dial, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { EdgeMeter } from './edge-meter.js';
import { Inbox } from './inbox.js';
import type { EdgeCounters, SendingEdge, WorkerConfiguration } from './protocol.js';

const GREETING_BYTES = 12;
const MAGIC = 0xfab71c01;
const PIECE_BYTES = 64 * 1024;
/** A receiver says how much it has: a number of so many bytes, at most this often. */
const RECEIPT_BYTES = 6;
const RECEIPT_MS = 20;
const MOST_EARLY_BYTES = 1 << 20;
const REDIAL_MS = 50;

type Addressing = Pick<
  WorkerConfiguration,
  'address' | 'port' | 'rank' | 'generation' | 'sends' | 'receivesFrom'
>;

export class Mesh {
  private readonly inboxes = new Map<number, Inbox>();
  private readonly outgoing = new Map<number, Socket>();
  private readonly sockets = new Set<Socket>();
  private readonly meter = new EdgeMeter();
  private server: Server | undefined;
  private closed = false;
  private allReceive: () => void = () => undefined;

  /** @param onLost called once, when a neighbour is gone */
  constructor(
    private readonly addressing: Addressing,
    private readonly onLost: (reason: string) => void,
  ) {}

  async listen(): Promise<void> {
    const { address, port } = this.addressing;
    const server = createServer((socket) => this.greet(socket));
    this.server = server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ port, host: address }, resolve);
    });
    server.on('error', (error) => this.lost(`the listening socket failed: ${error.message}`));
  }

  /** Resolves when every neighbour is connected, both ways. */
  async connect(): Promise<void> {
    const received = new Promise<void>((resolve) => {
      this.allReceive = resolve;
    });
    this.checkReceivers();
    await Promise.all([...this.addressing.sends.map((edge) => this.dialUntilAnswered(edge)), received]);
  }

  inbox(fromRank: number): Inbox {
    const inbox = this.inboxes.get(fromRank);
    if (inbox === undefined) throw new Error(`rank ${fromRank} does not send to this one`);
    return inbox;
  }

  /** Resolves when the kernel has taken all of it; until then the memory must stay as it is. */
  async send(toRank: number, data: Uint8Array): Promise<void> {
    const socket = this.outgoing.get(toRank);
    if (socket === undefined) throw new Error(`there is no connection to rank ${toRank}`);
    for (let from = 0; from < data.length; from += PIECE_BYTES) {
      const piece = data.subarray(from, from + PIECE_BYTES);
      this.meter.sent(toRank, piece.length);
      await new Promise<void>((resolve, reject) => {
        socket.write(piece, (error) => (error ? reject(error) : resolve()));
      });
    }
  }

  /** Looks at all connections; gives up on one that has stood still for longer than `giveUpNs`. */
  look(nowNs: number, giveUpNs: number): void {
    this.meter.look(nowNs);
    const stuck = this.meter.stuckLongerThan(giveUpNs, nowNs);
    if (stuck === undefined) return;
    const seconds = (stuck.stillNs / 1e9).toFixed(1);
    this.lost(`rank ${stuck.toRank} has acknowledged nothing for ${seconds} s`);
  }

  counters(): EdgeCounters[] {
    return this.meter.counters();
  }

  close(): void {
    this.closed = true;
    this.server?.close();
    for (const socket of this.sockets) socket.destroy();
  }

  private lost(reason: string): void {
    if (this.closed) return;
    this.close();
    for (const inbox of this.inboxes.values()) inbox.fail(new Error(reason));
    this.onLost(reason);
  }

  private watch(socket: Socket, rank: () => number | undefined): void {
    this.sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.sockets.delete(socket);
      const peer = rank();
      if (peer !== undefined) this.lost(`the connection with rank ${peer} was closed`);
    });
  }

  private greet(socket: Socket): void {
    const { generation, receivesFrom } = this.addressing;
    let from: number | undefined;
    let head: Buffer = Buffer.alloc(0);
    const receipts = receiptsOn(socket, () => this.inboxes.get(from ?? -1)?.receivedBytes ?? 0);
    this.watch(socket, () => from);
    socket.on('data', (data: Buffer) => {
      if (from !== undefined) {
        this.inboxes.get(from)?.feed(data);
        receipts();
        return;
      }
      head = Buffer.concat([head, data]);
      if (head.length < GREETING_BYTES) return;
      const rank = head.readUInt32BE(8);
      const known = receivesFrom.includes(rank) && !this.inboxes.has(rank);
      if (head.readUInt32BE(0) !== MAGIC || head.readUInt32BE(4) !== generation || !known) {
        socket.destroy();
        return;
      }
      from = rank;
      const inbox = new Inbox(socket, MOST_EARLY_BYTES);
      this.inboxes.set(rank, inbox);
      if (head.length > GREETING_BYTES) inbox.feed(head.subarray(GREETING_BYTES));
      receipts();
      this.checkReceivers();
    });
  }

  private checkReceivers(): void {
    if (this.addressing.receivesFrom.every((rank) => this.inboxes.has(rank))) this.allReceive();
  }

  private async dialUntilAnswered(edge: SendingEdge): Promise<void> {
    while (!this.closed) {
      const socket = await this.tryDial(edge);
      if (socket === undefined) {
        await sleep(REDIAL_MS);
        continue;
      }
      const greeting = Buffer.alloc(GREETING_BYTES);
      greeting.writeUInt32BE(MAGIC, 0);
      greeting.writeUInt32BE(this.addressing.generation, 4);
      greeting.writeUInt32BE(this.addressing.rank, 8);
      socket.write(greeting);
      this.outgoing.set(edge.toRank, socket);
      this.meter.open(edge.toRank);
      readReceipts(socket, (bytes) => this.meter.arrived(edge.toRank, bytes));
      return;
    }
  }

  private tryDial(edge: SendingEdge): Promise<Socket | undefined> {
    return new Promise((resolve) => {
      let connected = false;
      const socket = dial({
        host: edge.address,
        port: edge.port,
        localAddress: this.addressing.address,
        localPort: edge.sourcePort,
      });
      this.watch(socket, () => (connected ? edge.toRank : undefined));
      socket.once('connect', () => {
        connected = true;
        resolve(socket);
      });
      socket.once('close', () => resolve(undefined));
    });
  }
}

/** @returns what is to be called when data has come */
function receiptsOn(socket: Socket, receivedBytes: () => number): () => void {
  let due: NodeJS.Timeout | undefined;
  return () => {
    due ??= setTimeout(() => {
      due = undefined;
      if (socket.destroyed) return;
      const receipt = Buffer.alloc(RECEIPT_BYTES);
      receipt.writeUIntBE(receivedBytes(), 0, RECEIPT_BYTES);
      socket.write(receipt);
    }, RECEIPT_MS);
  };
}

function readReceipts(socket: Socket, take: (bytes: number) => void): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on('data', (data: Buffer) => {
    rest = rest.length === 0 ? data : Buffer.concat([rest, data]);
    for (; rest.length >= RECEIPT_BYTES; rest = rest.subarray(RECEIPT_BYTES)) {
      take(rest.readUIntBE(0, RECEIPT_BYTES));
    }
  });
}
