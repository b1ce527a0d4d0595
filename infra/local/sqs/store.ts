import { existsSync, rmSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";

import type { KeptMessage, MessageStore } from "./queue.ts";

/** How long a change may wait for others that are written with it, where nobody waits for it. */
const maxWaitMs = 50;

/**
 * Keeps messages in a file. All that has changed since the last commit is written by the next one, so that many senders
 * wait for the disk together. What is received or deleted is not waited for: where the machine fails first, the message
 * is received once more, which SQS allows.
 */
export class DiskStore implements MessageStore {
  readonly #database: DatabaseSync;
  #changes = new Map<string, KeptMessage | undefined>();
  #next = Promise.withResolvers<void>();
  #timer: NodeJS.Timeout | undefined;
  #isCommitting = false;

  constructor(dataFolder: string) {
    this.#database = new DatabaseSync(path.join(dataFolder, "sqs.sqlite"));
    this.#database.exec("PRAGMA journal_mode = WAL");
    this.#database.exec("CREATE TABLE IF NOT EXISTS messages (id TEXT PRIMARY KEY, content TEXT NOT NULL)");
    this.#takeOver(path.join(dataFolder, "fauxqs.db"));
  }

  /** What was kept by the run before, in the order in which it was sent. */
  load(): KeptMessage[] {
    return this.#database
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
    const { promise } = this.#next;
    if (!this.#isCommitting) {
      this.#isCommitting = true;
      // Those whose requests have come in meanwhile are served first.
      setImmediate(() => this.#commit());
    }
    return promise;
  }

  close(): void {
    this.#commit();
    this.#database.close();
  }

  /** Takes over, once, what the embedded SQS of releases up to 0.2.0 has kept. */
  #takeOver(file: string): void {
    if (!existsSync(file)) return;
    const database = new DatabaseSync(file);
    for (const row of database.prepare("SELECT * FROM sqs_messages").all()) {
      const sentAtMs = Number(row["sent_timestamp"]);
      this.put({
        id: String(row["message_id"]),
        queueName: String(row["queue_name"]),
        body: String(row["body"]),
        attributes: JSON.parse(String(row["message_attributes"])),
        groupId: row["message_group_id"] === null ? undefined : String(row["message_group_id"]),
        sentAtMs,
        visibleAtMs: Number(row["delay_until"] ?? sentAtMs),
        receiveCount: Number(row["approximate_receive_count"]),
        firstReceivedAtMs: undefined,
      });
    }
    database.close();
    this.#commit();
    for (const each of [file, `${file}-wal`, `${file}-shm`]) rmSync(each, { force: true });
  }

  #change(id: string, message: KeptMessage | undefined): void {
    this.#changes.set(id, message);
    this.#timer ??= setTimeout(() => this.#commit(), maxWaitMs);
  }

  #commit(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isCommitting = false;
    const { resolve } = this.#next;
    this.#next = Promise.withResolvers<void>();
    const changes = this.#changes;
    this.#changes = new Map();
    if (changes.size > 0) {
      const put = this.#database.prepare("INSERT OR REPLACE INTO messages (id, content) VALUES (?, ?)");
      const remove = this.#database.prepare("DELETE FROM messages WHERE id = ?");
      this.#database.exec("BEGIN");
      for (const [id, message] of changes) {
        if (message === undefined) remove.run(id);
        else put.run(id, JSON.stringify(message));
      }
      this.#database.exec("COMMIT");
    }
    resolve();
  }
}

/** Keeps nothing: the messages are in memory. */
export const memoryStore = {
  load: (): KeptMessage[] => [],
  put: (): void => undefined,
  delete: (): void => undefined,
  saved: async (): Promise<void> => undefined,
  close: (): void => undefined,
};
