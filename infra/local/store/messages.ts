import { existsSync, rmSync } from "node:fs";
import path from "node:path";
import { DatabaseSync, type SQLOutputValue } from "node:sqlite";

import type { Database } from "./database.ts";
import type { KeptMessage, MessageStore } from "./queue.ts";

/** How long a change may wait for others that are written with it, where nothing waits for it. */
const maxWaitMs = 50;

/**
 * Keeps the messages of the queues in the database. All that has changed since the last commit is written by the next
 * one, so that a message that is received and deleted meanwhile costs one write. What is received or deleted is not
 * waited for: if the machine fails first, the message is received once more, which SQS allows.
 */
export class Messages implements MessageStore {
  readonly #database: Database;
  #changes = new Map<string, KeptMessage | undefined>();
  #timer: NodeJS.Timeout | undefined;

  /** @param dataFolder where an earlier release may have left messages, if anywhere */
  constructor(database: Database, dataFolder: string | undefined) {
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
    if (dataFolder !== undefined) this.#takeOver(dataFolder);
  }

  /** What was kept by the run before, in the order in which it was sent. */
  load(): KeptMessage[] {
    return this.#database.sqlite
      .prepare("SELECT content FROM messages")
      .all()
      .map(({ content }): KeptMessage => JSON.parse(String(content)))
      .toSorted((one, other) => one.sentAtMs - other.sentAtMs);
  }

  put(message: KeptMessage): void {
    this.#change(message.id, message);
  }

  delete(id: string): void {
    this.#change(id, undefined);
  }

  /** Resolves when all changes so far are on the disk. */
  async saved(): Promise<void> {
    this.#database.beginWrite();
    return new Promise((resolve) => {
      this.#database.whenCommitted(resolve);
    });
  }

  /** Takes over, once, what releases up to 0.2.0 have kept in files of their own. */
  #takeOver(dataFolder: string): void {
    const files = ["sqs.sqlite", "fauxqs.db"].map((name) => path.join(dataFolder, name)).filter(existsSync);
    for (const file of files) {
      const earlier = new DatabaseSync(file);
      const isOwn = file.endsWith(".sqlite");
      const rows = earlier
        .prepare(isOwn ? "SELECT content FROM messages" : "SELECT * FROM sqs_messages")
        .all();
      for (const row of rows) this.put(isOwn ? JSON.parse(String(row["content"])) : ofFauxqs(row));
      earlier.close();
    }
    if (files.length === 0) return;
    this.#database.beginWrite();
    this.#database.commit();
    for (const file of files) {
      for (const each of [file, `${file}-wal`, `${file}-shm`]) rmSync(each, { force: true });
    }
  }

  #change(id: string, message: KeptMessage | undefined): void {
    this.#changes.set(id, message);
    this.#timer ??= setTimeout(() => this.#database.beginWrite(), maxWaitMs);
  }
}

/** A message as the embedded SQS of releases up to 0.1.0 kept it. */
function ofFauxqs(row: Record<string, SQLOutputValue>): KeptMessage {
  const sentAtMs = Number(row["sent_timestamp"]);
  return {
    id: String(row["message_id"]),
    queueName: String(row["queue_name"]),
    body: String(row["body"]),
    attributes: JSON.parse(String(row["message_attributes"])),
    groupId: row["message_group_id"] === null ? undefined : String(row["message_group_id"]),
    sentAtMs,
    visibleAtMs: Number(row["delay_until"] ?? sentAtMs),
    receiveCount: Number(row["approximate_receive_count"]),
    firstReceivedAtMs: undefined,
  };
}
