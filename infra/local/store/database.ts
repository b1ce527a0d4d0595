import { DatabaseSync } from "node:sqlite";

/** How much of the file is kept in memory, in KiB. */
const cacheKib = 32_000;
/** How long a statement waits for another process that holds the file. */
const lockTimeoutMs = 5_000;
/** After so many pages, of 4 KiB each, the log of changes is written into the file. */
const checkpointPages = 4_000;

/**
 * One SQLite file, or memory, with group commit: all that is written in one turn of the event loop is in one commit, and
 * waits for the disk together.
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
    // Another process may hold the file for a moment.
    this.sqlite = new DatabaseSync(file ?? ":memory:", { timeout: lockTimeoutMs });
    // FULL: a commit is on the disk before it is answered.
    this.sqlite.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -${cacheKib};` +
        `PRAGMA wal_autocheckpoint = ${checkpointPages}`,
    );
  }

  /**
   * Opens the transaction of the group, unless it is open. It is committed after what has come in with it.
   * @throws Error after a write or a commit has failed: nothing is written to the file any more
   */
  beginWrite(): void {
    if (this.#failure !== undefined) throw new Error("the store has failed", { cause: this.#failure });
    if (this.#isOpen) return;
    this.sqlite.exec("BEGIN IMMEDIATE");
    this.#isOpen = true;
    this.#next = setImmediate(() => this.commit());
  }

  /** Calls back once all that was written so far is committed: at once when nothing is open, never when that fails. */
  whenCommitted(callback: () => void): void {
    if (this.#failure !== undefined) return;
    if (this.#isOpen) this.#callbacks.push(callback);
    else callback();
  }

  /** Why nothing can be written any more, if so. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Registers work that is done before each commit, as a part of it. */
  beforeCommit(flush: () => void): void {
    this.#flushes.push(flush);
  }

  /**
   * Commits the group, if one is open, and calls back those who wait for it.
   * @throws Error when the disk does not take it: none of the group is kept, and no callback runs
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
   * Does a write of several statements. Should one fail, none of the group is kept, and the store takes no more writes:
   * the result of half a write is never visible.
   */
  guard<Result>(write: () => Result): Result {
    try {
      return write();
    } catch (error) {
      this.#failure = error instanceof Error ? error : new Error(String(error));
      clearImmediate(this.#next);
      this.#isOpen = false;
      this.#callbacks = [];
      // Where the disk is full, SQLite has rolled back by itself.
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
