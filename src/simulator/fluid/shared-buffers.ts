/**
 * Ingress accounting of shared-buffer switches: what each port holds, and when it pauses its sender.
 *
 * Every ingress port has a reserve of its own, then takes from the shared part up to a threshold that is a share of
 * what is still free (dynamic threshold, Choudhury and Hahne 1998, as switches apply it to PFC), then its headroom,
 * which holds what is under way while the pause travels. A pause ends once the headroom is empty and the use is an
 * offset below the threshold. Without PFC there is no headroom: what is over the threshold is dropped.
 * Not modelled: egress limits, pools per priority.
 */
import type { CongestionNetwork, IngressSettings, SwitchBuffer } from './network.js';

// A module constant is read faster than a global where tests run in a sandbox.
const { max, min } = Math;

export class SharedBuffers {
  /** Bytes held for what came over a link, apart from its headroom, and in its headroom. */
  readonly ingressBytes: Float64Array;
  readonly headroomBytes: Float64Array;
  /** Bytes dropped on arrival, per link. */
  readonly droppedBytes: Float64Array;
  /** 1 while the far end of the link has asked for a pause. */
  readonly pausing: Uint8Array;
  private readonly sharedUsed: Float64Array;
  private readonly sharedSize: Float64Array;
  /** Switch at the far end of each link, -1 for none, and what its settings say of the link. */
  private readonly switchOf: Int32Array;
  private readonly reserveBytes: Float64Array;
  private readonly resumeOffsetBytes: Float64Array;
  private readonly headroomSize: Float64Array;
  private readonly freeShare: Float64Array;
  private readonly lossless: Uint8Array;

  constructor({ links, switches }: CongestionNetwork) {
    this.ingressBytes = new Float64Array(links.length);
    this.headroomBytes = new Float64Array(links.length);
    this.droppedBytes = new Float64Array(links.length);
    this.pausing = new Uint8Array(links.length);
    this.switchOf = Int32Array.from(links, ({ to, ingress }) => (ingress && switches[to] ? to : -1));
    this.sharedUsed = new Float64Array(switches.length);
    this.sharedSize = Float64Array.from(switches, (buffer) => buffer?.bufferBytes ?? 0);
    const settings = <T>(read: (buffer: SwitchBuffer, ingress: IngressSettings) => T, none: T): T[] =>
      links.map(({ to, ingress }) => {
        const buffer = switches[to];
        return ingress && buffer ? read(buffer, ingress) : none;
      });
    this.reserveBytes = Float64Array.from(settings((buffer) => buffer.reserveBytes, 0));
    this.resumeOffsetBytes = Float64Array.from(settings((buffer) => buffer.resumeOffsetBytes, 0));
    this.lossless = Uint8Array.from(settings((buffer) => Number(buffer.lossless), 0));
    // Without pauses nothing is under way that would need room.
    this.headroomSize = Float64Array.from(
      settings((buffer, ingress) => (buffer.lossless ? ingress.headroomBytes : 0), 0),
    );
    this.freeShare = Float64Array.from(settings((_, ingress) => ingress.freeShare, 0));
    for (let link = 0; link < links.length; link++) {
      const node = this.switchOf[link];
      if (node >= 0) this.sharedSize[node] -= this.reserveBytes[link] + this.headroomSize[link];
    }
  }

  /** Bytes a switch holds beyond the reserves of its ports. */
  sharedUse(node: number): number {
    return this.sharedUsed[node];
  }

  /** Bytes that arrive over a link; returns how many of them find room. */
  admit(link: number, bytes: number): number {
    const node = this.switchOf[link];
    if (node < 0) return bytes;
    const reserveBytes = this.reserveBytes[link];
    const held = this.ingressBytes[link] + bytes;
    if (held > reserveBytes && held - reserveBytes > this.threshold(link, node)) {
      const room = this.headroomSize[link] - this.headroomBytes[link];
      const admitted = min(bytes, max(0, room));
      this.headroomBytes[link] += admitted;
      this.droppedBytes[link] += bytes - admitted;
      return admitted;
    }
    this.ingressBytes[link] = held;
    if (held > reserveBytes) this.sharedUsed[node] += min(bytes, held - reserveBytes);
    return bytes;
  }

  /** Bytes that came over a link and have left the switch. */
  release(link: number, bytes: number): void {
    const node = this.switchOf[link];
    if (node < 0) return;
    const fromHeadroom = min(this.headroomBytes[link], bytes);
    const rest = bytes - fromHeadroom;
    const shared = max(0, this.ingressBytes[link] - this.reserveBytes[link]);
    this.headroomBytes[link] -= fromHeadroom;
    this.ingressBytes[link] = max(0, this.ingressBytes[link] - rest);
    this.sharedUsed[node] = max(0, this.sharedUsed[node] - min(rest, shared));
  }

  /** Whether the far end of a link changes its mind: 1 it pauses now, -1 it resumes now, 0 neither. */
  decide(link: number): -1 | 0 | 1 {
    const node = this.switchOf[link];
    if (node < 0 || this.lossless[link] === 0) return 0;
    const use = max(0, this.ingressBytes[link] - this.reserveBytes[link]);
    if (use === 0 && this.pausing[link] === 0) return 0;
    const inHeadroom = this.headroomBytes[link] > NOTHING_BYTES;
    const threshold = this.threshold(link, node);
    if (this.pausing[link] === 0) {
      if (!inHeadroom && use < threshold) return 0;
      this.pausing[link] = 1;
      return 1;
    }
    if (inHeadroom || (use > 0 && use + this.resumeOffsetBytes[link] > threshold)) return 0;
    this.pausing[link] = 0;
    return -1;
  }

  private threshold(link: number, node: number): number {
    const free = this.sharedSize[node] - this.sharedUsed[node];
    return free * this.freeShare[link];
  }
}

/** Rounding leaves crumbs; a thousandth of a byte is none. */
const NOTHING_BYTES = 1e-3;
