import { hash } from "node:crypto";

import type * as z from "zod/mini";

import { CapacityMeter } from "./capacity.ts";
import type { ItemStore } from "./catalog.ts";
import type { Database } from "./database.ts";
import { placeKey } from "./places.ts";
import {
  planCheck,
  planDelete,
  planPut,
  planUpdate,
  itemOfFailure,
  type Change,
  type PlannedWrite,
} from "./planned-writes.ts";
import { readInput, TransactWriteItems, type TransactWrite } from "./requests.ts";
import type { StoredItem } from "./rows.ts";
import { ServiceError, validationError } from "./service-error.ts";

/** How long a token makes a transaction idempotent. */
const tokenLifeMs = 10 * 60 * 1_000;
/** How many expired tokens each new token removes. */
const tokensDeletedAtOnce = 2;
/** The largest total size of the items of a transaction. */
const maxBytes = 4_194_304;

interface CancellationReason {
  readonly Code: string;
  readonly Message?: string;
  readonly Item?: object;
}

interface Step {
  readonly plan: PlannedWrite;
  readonly old: StoredItem | undefined;
  readonly change: Change;
}

const nothing: CancellationReason = { Code: "None" };

/** Writes of many items, all or nothing. */
export class Transactions {
  readonly #database: Database;
  readonly #store: ItemStore;
  readonly #now: () => number;

  /** @param now in milliseconds since the epoch */
  constructor(database: Database, store: ItemStore, now: () => number) {
    this.#database = database;
    this.#store = store;
    this.#now = now;
    database.sqlite.exec(
      `CREATE TABLE IF NOT EXISTS tokens (token TEXT PRIMARY KEY, digest TEXT NOT NULL, at_ms INTEGER NOT NULL) WITHOUT ROWID;
       CREATE INDEX IF NOT EXISTS tokens_by_age ON tokens (at_ms)`,
    );
  }

  write(input: object): object {
    const request = readInput(TransactWriteItems, input);
    const { ClientRequestToken: token, ReturnConsumedCapacity } = request;
    const plans = request.TransactItems.map((write) => this.#plan(write));
    checkDistinct(plans);
    const digest = token === undefined ? "" : hash("sha256", canonicalText(request.TransactItems));
    if (token !== undefined && this.#wasApplied(token, digest)) {
      return this.#capacityOfRepeat(plans, ReturnConsumedCapacity);
    }
    const steps = this.#steps(plans);
    if (steps.reduce((bytes, { change }) => bytes + change.size, 0) > maxBytes) {
      throw validationError("Transaction exceeds the maximum size of 4 MB");
    }
    const meter = new CapacityMeter("write", { isTransaction: true });
    this.#database.beginWrite();
    this.#database.guard(() => {
      for (const { plan, old, change } of steps) {
        const { table, place } = plan;
        if (change.isCheck === true) {
          const size = old?.size ?? 0;
          meter.write(table, { oldSize: size, newSize: size, indexUnits: 0 });
          continue;
        }
        meter.write(table, this.#store.rows.write(table, place, old, change));
      }
      if (token !== undefined) this.#remember(token, digest);
    });
    return meter.consumedByTable(ReturnConsumedCapacity);
  }

  #plan(write: TransactWrite): PlannedWrite {
    const { ConditionCheck, Put, Delete, Update } = write;
    if (Put !== undefined) return planPut(this.#store.catalog.table(Put.TableName), Put);
    if (Update !== undefined) return planUpdate(this.#store.catalog.table(Update.TableName), Update);
    if (Delete !== undefined) return planDelete(this.#store.catalog.table(Delete.TableName), Delete);
    if (ConditionCheck === undefined) throw validationError("a write of the transaction has no operation");
    return planCheck(this.#store.catalog.table(ConditionCheck.TableName), ConditionCheck);
  }

  /** Applies each write to its stored item. @throws ServiceError with all reasons when one write fails */
  #steps(plans: readonly PlannedWrite[]): Step[] {
    const steps: Step[] = [];
    const reasons = plans.map((plan): CancellationReason => {
      const old = this.#store.rows.find(plan.table, plan.place);
      if (!plan.isAllowed(old?.item)) {
        return {
          Code: "ConditionalCheckFailed",
          Message: "The conditional request failed",
          ...itemOfFailure(plan, old),
        };
      }
      try {
        steps.push({ plan, old, change: plan.apply(old?.item) });
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        return { Code: "ValidationError", Message: error.message };
      }
      return nothing;
    });
    if (steps.length === plans.length) return steps;
    const codes = reasons.map(({ Code }) => Code).join(", ");
    throw new ServiceError(
      "TransactionCanceledException",
      `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
      { CancellationReasons: reasons },
    );
  }

  /** @throws ServiceError for a token of another transaction */
  #wasApplied(token: string, digest: string): boolean {
    const row = this.#store.rows
      .statement("SELECT digest FROM tokens WHERE token = ? AND at_ms > ?")
      .get(token, this.#now() - tokenLifeMs);
    if (row === undefined) return false;
    if (row["digest"] === digest) return true;
    throw new ServiceError(
      "IdempotentParameterMismatchException",
      "An error occurred (IdempotentParameterMismatchException): the token was used with other parameters",
    );
  }

  #remember(token: string, digest: string): void {
    const nowMs = this.#now();
    this.#store.rows
      .statement(
        "DELETE FROM tokens WHERE token IN (SELECT token FROM tokens WHERE at_ms <= ? ORDER BY at_ms LIMIT ?)",
      )
      .run(nowMs - tokenLifeMs, tokensDeletedAtOnce);
    this.#store.rows.statement("INSERT OR REPLACE INTO tokens VALUES (?, ?, ?)").run(token, digest, nowMs);
  }

  /** Returns the capacity of a repeated request, which reads its items. */
  #capacityOfRepeat(
    plans: readonly PlannedWrite[],
    detail: z.infer<typeof TransactWriteItems>["ReturnConsumedCapacity"],
  ): object {
    const meter = new CapacityMeter("read", { isTransaction: true });
    for (const { table, place } of plans) meter.read(table, this.#store.rows.find(table, place)?.size ?? 0);
    return meter.consumedByTable(detail);
  }
}

/** @throws ServiceError for two operations on one item */
function checkDistinct(each: readonly Pick<PlannedWrite, "place" | "table">[]): void {
  const keys = new Set(each.map(({ table, place }) => placeKey(table, place)));
  if (keys.size === each.length) return;
  throw validationError("Transaction request cannot include multiple operations on one item");
}

/** Returns the same text for equal values, in any order of their fields. */
function canonicalText(content: unknown): string {
  return JSON.stringify(content, (_, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  );
}
