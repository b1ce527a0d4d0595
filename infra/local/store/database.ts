import { DatabaseSync } from "node:sqlite";

/** The page cache of the file, in KiB. */
const cacheKib = 32_000;
/** How long a statement waits for a lock of another process. */
const lockTimeoutMs = 5_000;
/** The size of the log of changes, in pages of 4 KiB, at which it is written into the file. */
const checkpointPages = 4_000;

/**
 * An SQLite database, in a file or in memory, with group commit. All writes in one iteration of the event loop are
 * committed together, so they wait for the disk only once.
 */
export class Database {
  readonly sqlite: DatabaseSync;
  readonly #flushes: (() => void)[] = [];
  #isOpen = false;
  #callbacks: (() => void)[] = [];
  #next: NodeJS.Immediate | undefined;
  #failure: Error | undefined;

  /** @param file undefined keeps everything in memory */
  constructor(file: string | undefined) {
    this.sqlite = new DatabaseSync(file ?? ":memory:", { timeout: lockTimeoutMs });
    // FULL: a commit is on the disk before its response.
    this.sqlite.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -${cacheKib};` +
        `PRAGMA wal_autocheckpoint = ${checkpointPages}`,
    );
  }

  /**
   * Opens the group's transaction, unless it is open. It is committed at the end of this iteration of the event loop.
   * @throws Error after a write or a commit has failed: the file stays as it is
   */
  beginWrite(): void {
    if (this.#failure !== undefined) throw new Error("the store has failed", { cause: this.#failure });
    if (this.#isOpen) return;
    this.sqlite.exec("BEGIN IMMEDIATE");
    this.#isOpen = true;
    this.#next = setImmediate(() => this.commit());
  }

  /** Calls back after the commit of all writes so far: immediately without an open group, never if the commit fails. */
  whenCommitted(callback: () => void): void {
    if (this.#failure !== undefined) return;
    if (this.#isOpen) this.#callbacks.push(callback);
    else callback();
  }

  /** The error after which the store rejects all writes, if any. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Registers a function that adds its writes to each commit. */
  beforeCommit(flush: () => void): void {
    this.#flushes.push(flush);
  }

  /**
   * Commits the open group, if any, and runs the callbacks that wait for it.
   * @throws Error when the disk rejects it: no write of the group is kept, and no callback runs
   */
  commit(): void {
    if (!this.#isOpen) return;
    clearImmediate(this.#next);
    this.guard(() => {
      for (const flush of this.#flushes) flush();
      this.sqlite.exec("COMMIT");
    });
    this.#isOpen = false;
    const callbacks = this.#callbacks;
    this.#callbacks = [];
    for (const callback of callbacks) callback();
  }

  /**
   * Runs a write of several statements. If one fails, no write of the group is kept, and the
   * store rejects all later writes. The result of half a write is never visible.
   */
  guard<Result>(write: () => Result): Result {
    try {
      return write();
    } catch (error) {
      this.#failure = error instanceof Error ? error : new Error(String(error));
      clearImmediate(this.#next);
      this.#isOpen = false;
      this.#callbacks = [];
      // If the disk is full, SQLite has rolled back itself.
      if (this.sqlite.isTransaction) this.sqlite.exec("ROLLBACK");
      throw error;
    }
  }

  /** Commits what is open and closes the file. */
  close(): void {
    this.commit();
    this.sqlite.close();
  }
}
