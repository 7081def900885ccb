/** The zstd codec for Arrow buffers: WebAssembly, loaded once per process. */
import { compress, decompress, init } from '@bokuweb/zstd-wasm';
import { compressionRegistry, CompressionType } from 'apache-arrow';

const ZSTD_LEVEL = 6;

let codec: Promise<void> | undefined;

export function codecReady(): Promise<void> {
  codec ??= init().then(() => {
    compressionRegistry.set(CompressionType.ZSTD, {
      encode: (data: Uint8Array) => compress(data, ZSTD_LEVEL),
      decode: (data: Uint8Array) => decompress(data),
    });
  });
  return codec;
}
