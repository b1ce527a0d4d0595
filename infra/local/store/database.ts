import { closeSync, existsSync, fdatasync, fdatasyncSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

/** The page cache of the file, in KiB. */
const cacheKib = 8_000;
/** How long a statement waits for a lock of another process. */
const lockTimeoutMs = 5_000;
/** The size of the log of changes, in pages of 4 KiB, at which it is written into the file. */
const checkpointPages = 4_000;
/** How long a group stays open while no one waits for it. */
const maxOpenMs = 20;

/** A callback that waits until a group of writes is on the disk. */
interface Waiter {
  readonly group: number;
  readonly callback: () => void;
}

/**
 * An SQLite database, in a file or in memory, with group commit. Writes form numbered groups. A group is committed when
 * someone waits for it and the disk has the group before it. While the disk writes one group, the next one grows.
 */
export class Database {
  readonly sqlite: DatabaseSync;
  readonly #file: string | undefined;
  readonly #flushes: (() => void)[] = [];
  /** SQLite's log of changes. */
  #log: number | undefined;
  #isOpen = false;
  #isSyncing = false;
  #isClosed = false;
  /** The latest group, the latest one that is committed, and the latest one that the disk has. */
  #group = 0;
  #committedGroup = 0;
  #keptGroup = 0;
  #waiters: Waiter[] = [];
  #next: NodeJS.Immediate | undefined;
  #timer: NodeJS.Timeout | undefined;
  #failure: Error | undefined;

  /**
   * @param file undefined keeps everything in memory
   * @throws Error with the file's path when it is not a database
   */
  constructor(file: string | undefined) {
    this.#file = file;
    this.sqlite = openDatabase(file);
    // The last run may have been killed after a commit, before the disk had it. This run shows what is committed.
    if (file !== undefined && existsSync(this.#logFile)) fdatasyncSync(this.#openLog());
  }

  /**
   * Opens a group, unless one is open.
   * @throws Error after a write or a commit has failed: the file stays as it is
   */
  beginWrite(): void {
    if (this.#failure !== undefined) throw new Error("the store has failed", { cause: this.#failure });
    if (this.#isOpen) return;
    this.sqlite.exec("BEGIN IMMEDIATE");
    this.#isOpen = true;
    this.#group += 1;
    this.#timer = setTimeout(() => this.commit(), maxOpenMs);
  }

  /** The latest group that the disk has. */
  get keptGroup(): number {
    return this.#keptGroup;
  }

  /** The group of the latest write; undefined when the disk has all writes. */
  get unkeptGroup(): number | undefined {
    return this.#keptGroup < this.#group ? this.#group : undefined;
  }

  /**
   * Calls back when the disk has a group and all earlier ones, immediately if it has them. Never calls back if a write fails
   * or the file is closed first.
   */
  whenKept(group: number, callback: () => void): void {
    if (group <= this.#keptGroup) {
      callback();
      return;
    }
    this.#waiters.push({ group, callback });
    this.#commitSoon();
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
   * Commits the open group, if any, and has the disk write it.
   * @throws Error when the file rejects it: no write of the group is kept, and no callback runs
   */
  commit(): void {
    if (!this.#isOpen || this.#failure !== undefined) return;
    this.#unschedule();
    this.guard(() => {
      for (const flush of this.#flushes) flush();
      this.sqlite.exec("COMMIT");
    });
    this.#isOpen = false;
    this.#committedGroup = this.#group;
    this.#sync();
  }

  /**
   * Runs a write of several statements. If one fails, no write of the group is kept, and the
   * store rejects all later writes. The result of half a write is never visible.
   */
  guard<Result>(write: () => Result): Result {
    try {
      return write();
    } catch (error) {
      this.#fail(error);
      this.#isOpen = false;
      // If the disk is full, SQLite has rolled back itself.
      if (this.sqlite.isTransaction) this.sqlite.exec("ROLLBACK");
      throw error;
    }
  }

  /** Commits what is open, and closes the file, which then has all changes. */
  close(): void {
    this.commit();
    if (this.#log !== undefined && this.#failure === undefined) fdatasyncSync(this.#log);
    this.sqlite.close();
    if (this.#log !== undefined && !this.#isSyncing) closeSync(this.#log);
    this.#isClosed = true;
  }

  /** Commits the open group at the end of this iteration of the event loop, or once the disk has the group before it. */
  #commitSoon(): void {
    if (this.#isOpen && !this.#isSyncing) this.#next ??= setImmediate(() => this.commit());
  }

  /** Has the disk write the committed groups, once it has the earlier ones. */
  #sync(): void {
    const group = this.#committedGroup;
    if (this.#isSyncing || group === this.#keptGroup) return;
    if (this.#file === undefined) {
      this.#keep(group);
      return;
    }
    const log = this.#openLog();
    this.#isSyncing = true;
    fdatasync(log, (error) => {
      this.#isSyncing = false;
      if (this.#isClosed) {
        closeSync(log);
        return;
      }
      // This ends the thread, and the gateway with it.
      if (error !== null) throw this.#fail(error);
      this.#keep(group);
      this.#sync();
      if (this.#waiters.length > 0) this.#commitSoon();
    });
  }

  get #logFile(): string {
    return `${this.#file}-wal`;
  }

  #openLog(): number {
    return (this.#log ??= openSync(this.#logFile, "r+"));
  }

  #keep(group: number): void {
    this.#keptGroup = group;
    const ready = this.#waiters.filter((waiter) => waiter.group <= group);
    this.#waiters = this.#waiters.filter((waiter) => waiter.group > group);
    for (const { callback } of ready) callback();
  }

  #fail(error: unknown): Error {
    this.#failure = error instanceof Error ? error : new Error(String(error));
    this.#unschedule();
    this.#waiters = [];
    return this.#failure;
  }

  #unschedule(): void {
    clearImmediate(this.#next);
    clearTimeout(this.#timer);
    this.#next = undefined;
  }
}

function openDatabase(file: string | undefined): DatabaseSync {
  try {
    const database = new DatabaseSync(file ?? ":memory:", { timeout: lockTimeoutMs });
    // NORMAL: a commit does not wait for the disk. The class has the log written to it in another thread, and waits for that.
    database.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -${cacheKib};` +
        `PRAGMA wal_autocheckpoint = ${checkpointPages}`,
    );
    return database;
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    const remedy = "Move it away, or delete all data: npm start -- --fresh";
    throw new Error(`The data in ${file} cannot be opened: ${cause}. ${remedy}`, { cause: error });
  }
}
