/**
 * The receiving end of a connection: bytes as they come, handed out in the pieces that are asked for.
 *
 * What was asked for is copied straight into place. What comes early waits here, up to a limit beyond which the socket is
 * told to pause, so that a slow reader is felt by its sender through TCP's own window and by nothing else.
 */
export interface Flow {
  pause(): unknown;
  resume(): unknown;
}

interface Request {
  target: Uint8Array;
  filled: number;
  resolve: () => void;
  reject: (error: Error) => void;
}

export class Inbox {
  private readonly early: Uint8Array[] = [];
  private earlyBytes = 0;
  private request: Request | undefined;
  private failure: Error | undefined;
  private paused = false;
  /** Bytes that have arrived. */
  receivedBytes = 0;

  constructor(
    private readonly flow: Flow,
    private readonly mostEarlyBytes: number,
  ) {}

  /** Takes what arrived. */
  feed(data: Uint8Array): void {
    this.receivedBytes += data.length;
    const left = this.request === undefined ? data : this.fill(this.request, data);
    if (left.length === 0) return;
    this.early.push(left);
    this.earlyBytes += left.length;
    if (this.earlyBytes >= this.mostEarlyBytes && !this.paused) {
      this.paused = true;
      this.flow.pause();
    }
  }

  /** Resolves when the target is full. One request at a time. */
  receive(target: Uint8Array): Promise<void> {
    if (this.request !== undefined) throw new Error('an inbox takes one request at a time');
    return new Promise((resolve, reject) => {
      const request: Request = { target, filled: 0, resolve, reject };
      this.request = request;
      while (this.early.length > 0 && this.request === request) {
        const piece = this.early.shift()!;
        this.earlyBytes -= piece.length;
        const left = this.fill(request, piece);
        if (left.length > 0) {
          this.early.unshift(left);
          this.earlyBytes += left.length;
        }
      }
      if (this.request === request && this.failure !== undefined) this.fail(this.failure);
      if (this.paused && this.earlyBytes < this.mostEarlyBytes) {
        this.paused = false;
        this.flow.resume();
      }
    });
  }

  /** Nothing more will come: what waits for more is told so. */
  fail(error: Error): void {
    this.failure ??= error;
    const { request } = this;
    this.request = undefined;
    request?.reject(this.failure);
  }

  /** @returns what was not needed */
  private fill(request: Request, data: Uint8Array): Uint8Array {
    const wanted = Math.min(data.length, request.target.length - request.filled);
    request.target.set(data.subarray(0, wanted), request.filled);
    request.filled += wanted;
    if (request.filled === request.target.length) {
      this.request = undefined;
      request.resolve();
    }
    return data.subarray(wanted);
  }
}
