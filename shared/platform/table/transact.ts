import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";

import type { CancellationReason } from "@aws-sdk/client-dynamodb";
import type { TransactWriteCommandInput } from "@aws-sdk/lib-dynamodb";

import { ApiError } from "../../api/contract/errors.ts";
import { TransactWriteCommand } from "../aws/dynamodb.ts";
import { isAwsError } from "../aws/errors.ts";
import { client } from "./client.ts";
import { toStored } from "./stored-names.ts";
import { oldItem, parametersOf, type Write } from "./write.ts";

/** The writes of a transaction by name. A name may have several writes, or none. */
export type NamedWrites<Name extends string> = Readonly<Record<Name, Write | readonly Write[]>>;

/** How often a transaction is tried when it meets another one on the same items. */
const transactionAttempts = 6;
const maxTransactionDelayMs = 1_000;

/** The reason why a transaction was rejected: the condition of a write failed on this item, or because there was none. */
interface Rejection {
  readonly found: Record<string, unknown> | undefined;
}

interface Committed {
  readonly outcome: "committed";
}

/** Nothing was written, because conditions failed: the first failure of each name. */
interface Rejected<Name extends string> {
  readonly outcome: "rejected";
  readonly rejections: Readonly<Partial<Record<Name, Rejection>>>;
}

/** Nothing was written: it met other transactions, or a full partition, in each attempt. None of its conditions failed. */
interface Contended {
  readonly outcome: "contended";
}

/**
 * Writes all or nothing. A rejection has the names of the writes that caused it.
 * @example const written = await transact({ charge: updateOf(wallet, charge), messages: messages.map(messagePut) });
 *   if (written.outcome === "rejected" && written.rejections.charge !== undefined) throw new ApiError("INSUFFICIENT_BALANCE");
 * @throws ApiError UNAVAILABLE when it only met other transactions: nothing was written, and a retry may succeed
 */
export async function transact<Name extends string>(
  writes: NamedWrites<Name>,
): Promise<Committed | Rejected<Name>> {
  const result = await tryTransact(writes);
  if (result.outcome === "contended") throw new ApiError("UNAVAILABLE");
  return result;
}

/** Writes all or nothing, and returns `contended` when it only met other transactions. */
export async function tryTransact<Name extends string>(
  writes: NamedWrites<Name>,
  attempts = transactionAttempts,
): Promise<Committed | Contended | Rejected<Name>> {
  const named = listOf(writes);
  const command: TransactWriteCommandInput = {
    // The client repeats an attempt whose response was lost. With the token DynamoDB applies it once.
    ClientRequestToken: randomUUID(),
    TransactItems: named.map(({ write }) => transactItem(write)),
  };
  for (let attempt = 1; ; attempt += 1) {
    try {
      await client.send(new TransactWriteCommand(command));
      return { outcome: "committed" };
    } catch (error) {
      if (!isAwsError(error, "TransactionCanceledException")) throw error;
      const reasons = error.CancellationReasons ?? [];
      if (reasons.some(({ Code }) => Code === "ConditionalCheckFailed")) {
        return { outcome: "rejected", rejections: rejectionsOf(named, reasons) };
      }
      if (!reasons.some(isPassing)) throw error;
      if (attempt >= attempts) return { outcome: "contended" };
      await delay(Math.random() * Math.min(maxTransactionDelayMs, 20 * 2 ** attempt));
    }
  }
}

/** How often a decision is repeated when another write changes the state that it is based on. */
const decisionAttempts = 5;

/** The outcome of a step: `applied`, also if nothing was to be done, or `disturbed` by another write in between. */
export type Step = "applied" | "disturbed";

export function stepOf(isApplied: boolean): Step {
  return isApplied ? "applied" : "disturbed";
}

/**
 * Reads, decides and writes, and repeats this after another write in between.
 * @param decide returns `disturbed` or undefined when another write in between caused the rejection of its own
 * @throws ApiError UNAVAILABLE when that happened every time
 */
export async function untilUndisturbed<Result>(
  decide: () => Promise<Result | "disturbed" | undefined>,
): Promise<Result> {
  for (let attempt = 1; attempt <= decisionAttempts; attempt += 1) {
    const result = await decide();
    if (result !== undefined && result !== "disturbed") return result;
  }
  throw new ApiError("UNAVAILABLE");
}

interface NamedWrite<Name extends string> {
  readonly name: Name;
  readonly write: Write;
}

function listOf<Name extends string>(writes: NamedWrites<Name>): NamedWrite<Name>[] {
  const named: NamedWrite<Name>[] = [];
  for (const name in writes) {
    for (const write of [writes[name]].flat()) named.push({ name, write });
  }
  return named;
}

function rejectionsOf<Name extends string>(
  named: readonly NamedWrite<Name>[],
  reasons: readonly CancellationReason[],
): Rejected<Name>["rejections"] {
  const rejections: Partial<Record<Name, Rejection>> = {};
  for (const [index, { name }] of named.entries()) {
    const reason = reasons[index];
    if (reason?.Code === "ConditionalCheckFailed") rejections[name] ??= { found: oldItem(reason) };
  }
  return rejections;
}

/** Whether a reason is temporary: nothing was written, and a later attempt may succeed. */
function isPassing({ Code }: CancellationReason): boolean {
  return (
    Code === "TransactionConflict" || Code === "ThrottlingError" || Code === "ProvisionedThroughputExceeded"
  );
}

function transactItem(write: Write): NonNullable<TransactWriteCommandInput["TransactItems"]>[number] {
  const parameters = parametersOf(write);
  if ("put" in write) return { Put: { Item: toStored(write.put), ...parameters } };
  if ("delete" in write) return { Delete: { Key: { ...write.delete }, ...parameters } };
  if ("check" in write) return { ConditionCheck: { Key: { ...write.check }, ...parameters } };
  return { Update: { Key: { ...write.key }, ...parameters } };
}
