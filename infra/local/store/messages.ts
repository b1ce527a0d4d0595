import type { Database } from "./database.ts";
import type { StoredMessage, MessageStore } from "./queue.ts";

/** How long a change waits for other writes, if no caller waits for the change. */
const maxWaitMs = 50;

/**
 * Stores the messages of the queues in the database. Each commit writes all changes since the last one, so a message that
 * is received and deleted in between costs one write. Receipts and deletions do not wait for the commit. If the machine
 * fails before it, the message is received once more, which SQS allows.
 */
export class Messages implements MessageStore {
  readonly #database: Database;
  #changes = new Map<string, StoredMessage | undefined>();
  #timer: NodeJS.Timeout | undefined;

  constructor(database: Database) {
    this.#database = database;
    database.sqlite.exec(
      "CREATE TABLE IF NOT EXISTS messages (id TEXT PRIMARY KEY, content TEXT NOT NULL) WITHOUT ROWID",
    );
    const put = database.sqlite.prepare("INSERT OR REPLACE INTO messages (id, content) VALUES (?, ?)");
    const remove = database.sqlite.prepare("DELETE FROM messages WHERE id = ?");
    database.beforeCommit(() => {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      for (const [id, message] of this.#changes) {
        if (message === undefined) remove.run(id);
        else put.run(id, JSON.stringify(message));
      }
      this.#changes.clear();
    });
  }

  /** Loads the messages of the previous run in the order in which they were sent. */
  load(): StoredMessage[] {
    return this.#database.sqlite
      .prepare("SELECT content FROM messages")
      .all()
      .map(({ content }): StoredMessage => JSON.parse(String(content)))
      .toSorted((one, other) => one.sentAtMs - other.sentAtMs);
  }

  put(message: StoredMessage): void {
    this.#change(message.id, message);
  }

  delete(id: string): void {
    this.#change(id, undefined);
  }

  /** Makes the next changes a part of the open group of writes. */
  beginWrite(): void {
    this.#database.beginWrite();
  }

  #change(id: string, message: StoredMessage | undefined): void {
    this.#changes.set(id, message);
    this.#timer ??= setTimeout(() => this.#database.beginWrite(), maxWaitMs);
  }
}
