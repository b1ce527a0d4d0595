import { setTimeout as delay } from "node:timers/promises";

import { debitWallet } from "../../shared/money/wallet/debit.ts";
import { postToWallet } from "../../shared/money/wallet/post.ts";
import { newWallet, readWallet } from "../../shared/money/wallet/record.ts";
import {
  DynamoDb,
  GetCommand,
  QueryCommand,
  TransactWriteCommand,
} from "../../shared/platform/aws/dynamodb.ts";
import { AwsError, isAwsError } from "../../shared/platform/aws/errors.ts";
import { secondMs } from "../../shared/platform/clock.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { newId } from "../../shared/platform/ids.ts";
import { transact } from "../../shared/platform/table/transact.ts";
import { MemoryTable } from "../model/memory-table.ts";
import { print } from "./gateway.ts";

// `npm run bench -- busy-wallet`: whether refunds succeed on a wallet with some hundreds of debits a second. No
// emulator is quick enough, so the project's own code runs on a table in memory. It has DynamoDB's latency, and
// rejects requests that conflict with a transaction.

const ratesPerSecond = [100, 200, 500, 1_000];
const refundCount = 10;

/** The debits begin this much before the refunds, and end with them. */
const warmUpMs = secondMs;

/** The latency of DynamoDB for a request, and for a transaction, during which other requests cannot write its items. */
const requestMs = 4;
const transactionMs = 12;

/** How the client repeats requests that conflict with a transaction. */
const attempts = 8;
const maxRetryDelayMs = 1_000;

/** @returns whether all refunds succeeded at each rate, and the ledger is exact */
export async function benchmarkBusyWallet(): Promise<boolean> {
  process.env[environmentNames.tableName] = "memory";
  print("debits a second  refunds through  slowest refund ms  debits rejected  median ms  p99 ms");
  let holds = true;
  for (const rate of ratesPerSecond) holds = (await measure(rate)) && holds;
  return holds;
}

async function measure(rate: number): Promise<boolean> {
  const table = new SlowTable();
  Object.defineProperty(DynamoDb.prototype, "send", {
    configurable: true,
    value: async (command: object) => table.request(command),
  });
  const organizationId = newId("org");
  await transact({ wallet: newWallet(organizationId, new Date()) });
  await postToWallet({ organizationId, type: "top_up", amountMicros: 1_000_000_000 });

  const debits = new Debits(organizationId, rate);
  await delay(warmUpMs);
  const startedAt = performance.now();
  const refunds = await Promise.allSettled(
    Array.from({ length: refundCount }, async () =>
      postToWallet({ organizationId, type: "refund", amountMicros: 1_000 }).then(() => performance.now()),
    ),
  );
  await debits.stop();
  const through = refunds.flatMap((refund) => (refund.status === "fulfilled" ? [refund.value] : []));
  const slowestMs = Math.max(0, ...through.map((at) => at - startedAt));
  const { balanceMicros, seq } = await readWallet(organizationId);
  const tookMs = debits.tookMs.toSorted((a, b) => a - b);
  const columns = [
    rate,
    `${through.length} of ${refundCount}`,
    Math.round(slowestMs),
    tookMs.length,
    debits.rejected,
    Math.round(tookMs[Math.floor(tookMs.length / 2)] ?? 0),
    Math.round(tookMs[Math.floor(tookMs.length * 0.99)] ?? 0),
  ];
  print(columns.map((column, index) => String(column).padStart(index === 0 ? 15 : 10)).join("  "));
  const isExact =
    balanceMicros === 1_000_000_000 + through.length * 1_000 - tookMs.length &&
    seq === 1 + through.length + tookMs.length;
  return isExact && through.length === refundCount;
}

/** Makes debits of one micro-unit at a rate, without waiting for the earlier ones. */
class Debits {
  readonly tookMs: number[] = [];
  rejected = 0;
  readonly #underWay = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;

  constructor(organizationId: string, rate: number) {
    const startedAt = performance.now();
    let begun = 0;
    this.#timer = setInterval(() => {
      for (const due = ((performance.now() - startedAt) / secondMs) * rate; begun < due; begun += 1) {
        const debit = this.#debit(organizationId).finally(() => this.#underWay.delete(debit));
        this.#underWay.add(debit);
      }
    }, 1);
  }

  async #debit(organizationId: string): Promise<void> {
    const startedAt = performance.now();
    const charges = [{ amountMicros: 1 }];
    try {
      await debitWallet({ organizationId, charges, at: new Date(), keepAccepted: async () => undefined });
      this.tookMs.push(performance.now() - startedAt);
    } catch {
      this.rejected += 1;
    }
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#underWay);
  }
}

/** A table whose requests take time, and whose transactions hold their items for it. */
class SlowTable {
  readonly #table = new MemoryTable();
  readonly #held = new Set<string>();

  async request(command: object): Promise<unknown> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#carryOut(command);
      } catch (error) {
        if (!isAwsError(error, "TransactionConflictException") || attempt === attempts) throw error;
        await delay(Math.random() * Math.min(maxRetryDelayMs, 25 * 2 ** attempt));
      }
    }
  }

  async #carryOut(command: object): Promise<unknown> {
    await delay(requestMs / 2);
    const keys = keysOf(command);
    if (keys.some((key) => this.#held.has(key))) {
      await delay(requestMs / 2);
      throw rejection(command);
    }
    if (!(command instanceof TransactWriteCommand)) {
      const result = this.#table.carryOut(command);
      await delay(requestMs / 2);
      return result;
    }
    for (const key of keys) this.#held.add(key);
    try {
      const result = this.#table.carryOut(command);
      await delay(transactionMs);
      return result;
    } finally {
      for (const key of keys) this.#held.delete(key);
    }
  }
}

/** The items that a command writes. */
function keysOf(command: object): string[] {
  if (command instanceof GetCommand || command instanceof QueryCommand || !("input" in command)) return [];
  const writes =
    command instanceof TransactWriteCommand
      ? (command.input.TransactItems ?? []).map(({ Put, Update, Delete }) => ({
          ...Put,
          ...Update,
          ...Delete,
        }))
      : [Object(command.input)];
  return writes.map(({ Key, Item }) => `${(Key ?? Item).pk} ${(Key ?? Item).sk}`);
}

function rejection(command: object): Error {
  if (!(command instanceof TransactWriteCommand))
    return new AwsError({ name: "TransactionConflictException" });
  const CancellationReasons = [{ Code: "TransactionConflict" }];
  return new AwsError({ name: "TransactionCanceledException", CancellationReasons });
}
