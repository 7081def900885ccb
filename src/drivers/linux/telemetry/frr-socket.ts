/**
 * Questions to an FRR daemon over its own socket, as vtysh asks them, without starting vtysh for each.
 *
 * A question ends with a zero byte; an answer ends with three zero bytes and one that says how it went (vtysh.c and
 * lib/vty.c of FRR 8.4; 0 is success). A session begins with `enable`, without which daemons know few commands. One question
 * at a time. A daemon that is gone or does not answer in time is an error, and the next question connects anew. Not
 * modelled: daemons on other machines; these are asked through vtysh.
 */
import { connect, type Socket } from 'node:net';

const END_BYTES = 4;

interface Pending {
  resolve: (text: string) => void;
  reject: (error: Error) => void;
}

export class FrrSocket {
  private socket: Socket | undefined;
  private pieces: Buffer[] = [];
  private pending: Pending | undefined;
  private queue: Promise<unknown> = Promise.resolve();

  /** @param path of the daemon's socket, such as `FOLDER/bgpd.vty` */
  constructor(private readonly path: string) {}

  /** @throws Error when the daemon is not there, does not answer in time, or refuses */
  ask(command: string, timeoutMs: number): Promise<string> {
    const answer = this.queue.then(async () => {
      if (this.socket === undefined) {
        this.socket = this.open();
        await this.exchange('enable', timeoutMs);
      }
      return this.exchange(command, timeoutMs);
    });
    this.queue = answer.catch(() => undefined);
    return answer;
  }

  close(): void {
    this.fail(new Error(`${this.path} is closed`));
  }

  private exchange(command: string, timeoutMs: number): Promise<string> {
    return new Promise((resolve, reject) => {
      const late = new Error(`${this.path}: no answer within ${timeoutMs} ms`);
      const timer = setTimeout(() => this.fail(late), timeoutMs);
      this.pending = {
        resolve: (text) => {
          clearTimeout(timer);
          resolve(text);
        },
        reject: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      };
      this.socket?.write(`${command}\0`);
    });
  }

  private open(): Socket {
    const socket = connect(this.path);
    const fail = (error: Error): void => {
      if (socket === this.socket) this.fail(error);
    };
    socket.on('data', (data) => {
      if (socket !== this.socket) return;
      this.pieces.push(data);
      this.answer();
    });
    socket.on('error', fail);
    socket.on('close', () => fail(new Error(`${this.path}: the daemon closed the connection`)));
    return socket;
  }

  private answer(): void {
    const all = Buffer.concat(this.pieces);
    this.pieces = [all];
    if (all.length < END_BYTES) return;
    const end = all.subarray(-END_BYTES);
    if (end[0] !== 0 || end[1] !== 0 || end[2] !== 0) return;
    const { pending } = this;
    this.pending = undefined;
    this.pieces = [];
    const text = all.subarray(0, -END_BYTES).toString('utf8');
    if (end[3] === 0) pending?.resolve(text);
    else pending?.reject(new Error(`${this.path} refused: ${text.trim() || `code ${end[3]}`}`));
  }

  private fail(error: Error): void {
    const { socket, pending } = this;
    this.socket = undefined;
    this.pending = undefined;
    this.pieces = [];
    socket?.destroy();
    pending?.reject(error);
  }
}
