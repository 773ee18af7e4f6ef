import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** The data directory cannot be used: another process has it, or the file system refuses. */
export class DataDirError extends Error {
  override name = 'DataDirError';
}

/**
 * A folder that one process at a time may hold. It keeps the embedded database and the small
 * secrets that were made for it.
 */
export interface DataDir {
  /** The text kept under a name, or undefined. */
  readSecret(name: string): string | undefined;
  /** Keeps a text under a name, whole or not at all, readable by its owner only (mode 0600). */
  writeSecret(name: string, text: string): void;
  /**
   * The text kept under a name; made of 256 random bits in hex and kept when there is none yet.
   * Throws DataDirError when what is there is too short or not printable.
   */
  ensureSecret(name: string): string;
  /** Gives the folder up for the next process. */
  release(): void;
}

/**
 * Takes the data directory for this process, making it where it is missing.
 *
 * The lock is the operating system's own lock on a file, held through SQLite, which is what Node
 * offers for that: it ends with the process, however the process ends, and no process id is
 * compared. PGlite has no lock of its own, and two processes on one folder lose written rows.
 *
 * @throws {DataDirError} at once, when another process holds it.
 */
export function openDataDir(path: string): DataDir {
  const lock = lockDirectory(path);
  const fileOf = (name: string) => join(path, name);

  const readSecret = (name: string) =>
    existsSync(fileOf(name)) ? readFileSync(fileOf(name), 'utf8').trim() || undefined : undefined;

  const writeSecret = (name: string, text: string) => {
    writeFileSync(fileOf(`${name}.new`), `${text}\n`, { mode: 0o600, flush: true });
    renameSync(fileOf(`${name}.new`), fileOf(name));
  };

  const ensureSecret = (name: string) => {
    const kept = readSecret(name);
    if (kept !== undefined && !/^[\x21-\x7e]{32,256}$/.test(kept)) {
      throw new DataDirError(
        `${fileOf(name)} must hold 32 to 256 printable characters; remove it to have a new one made.`,
      );
    }
    if (kept !== undefined) return kept;
    const made = randomBytes(32).toString('hex');
    writeSecret(name, made);
    return made;
  };

  const release = () => {
    held.delete(lock);
    lock.close();
  };

  return { readSecret, writeSecret, ensureSecret, release };
}

/** The locks that this process holds: one that nothing refers to would be collected, and free. */
const held = new Set<DatabaseSync>();

function lockDirectory(path: string): DatabaseSync {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const lockFile = join(path, 'lock');
    const lock = new DatabaseSync(lockFile, { timeout: 0 });
    chmodSync(lockFile, 0o600);
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    held.add(lock);
    return lock;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (reason.includes('database is locked')) {
      throw new DataDirError(
        `DATA_DIR ${path} is in use by another process. Stop that one, give this one a DATA_DIR ` +
          'of its own, or set DATABASE_URL to run several on one PostgreSQL.',
      );
    }
    throw new DataDirError(`DATA_DIR ${path} cannot be used: ${reason}`);
  }
}
