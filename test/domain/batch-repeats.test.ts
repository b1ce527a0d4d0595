import { beforeEach, expect, it, vi } from "vitest";

import type { AcceptedBatch } from "../../shared/api/contract/batches.ts";
import { reconcileWallet } from "../../shared/messages/reconciliation/reconcile.ts";
import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { limitDestination } from "../../shared/money/prices/blocked-destinations.ts";
import { limitSendRate } from "../../shared/money/wallet/adjust.ts";
import { postToWallet } from "../../shared/money/wallet/post.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import type { Actor } from "../../shared/platform/auth/actor.ts";
import { PutCommand, TransactWriteCommand, UpdateCommand } from "../../shared/platform/aws/dynamodb.ts";
import { dayMs, hourMs, minuteMs } from "../../shared/platform/clock.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import type { Attempt } from "../../shared/platform/http/event.ts";
import { usesToday } from "../../shared/platform/limits/daily.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { updateOf } from "../../shared/platform/table/write.ts";
import { batchOf, messagesIn, rejectionsOf, sendBatch, sendOnce } from "../support/batches.ts";
import { advance } from "../support/clock.ts";
import { priceMicros } from "../support/messages.ts";
import { useOwnTable } from "../support/own-table.ts";
import { interceptTableRequests } from "../support/table-requests.ts";
import { openOrganization } from "../support/wallets.ts";

/** Three blocks, and money for two batches. */
const count = 100;
const balanceMicros = 2 * count * priceMicros;
let organizationId: string;

beforeEach(async () => {
  vi.setSystemTime("2031-03-01T12:00:00Z");
  await useOwnTable();
  organizationId = await openOrganization(balanceMicros);
});

/** Whether a request writes. */
function isWrite(command: object): boolean {
  return [PutCommand, TransactWriteCommand, UpdateCommand].some((each) => command instanceof each);
}

/** Sends the batch in a function that ends after some writes. @returns whether it got that far */
async function crashAfter(writes: number): Promise<boolean> {
  let left = writes;
  interceptTableRequests(async (command, send) => {
    if (left <= 0) throw new Error("the function has ended");
    if (isWrite(command)) left -= 1;
    const result = await send();
    if (left <= 0) throw new Error("the function has ended");
    return result;
  });
  const hasCrashed = await sendOnce(organizationId, batchOf(count)).then(
    () => false,
    () => true,
  );
  vi.restoreAllMocks();
  return hasCrashed;
}

/** Checks that each message was accepted once, and that the wallet has the rest of the money once it is settled. */
async function expectAllOnce(batch: AcceptedBatch): Promise<void> {
  expect(batch).toMatchObject({ accepted: count, rejected: 0, total: (count * priceMicros) / 1e6 });
  const messages = await messagesIn(organizationId);
  const ids = batch.results.map(({ id = "" }) => id);
  expect(messages.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  expect(new Set(messages.map(({ to }) => to)).size).toBe(count);
  expect(new Set(messages.map(({ batchId }) => batchId))).toEqual(new Set([batch.id]));
  advance(hourMs);
  await reconcileWallet(organizationId);
  expect(await readWallet(organizationId)).toMatchObject({
    balanceMicros: balanceMicros - count * priceMicros,
  });
  expect(await verifyWallet(organizationId)).toMatchObject({ findings: [], pending: [] });
}

// The key, then the debit and the transaction of each of three blocks. The response is the eighth.
it.each([1, 2, 3, 4, 5, 6, 7])(
  "a batch that crashed after write %i is continued by the same key, and nothing is sent or paid twice",
  async (writes) => {
    expect(await crashAfter(writes)).toBe(true);
    await expect(sendOnce(organizationId, batchOf(count))).rejects.toMatchObject({
      code: "IDEMPOTENCY_IN_PROGRESS",
    });
    // The lease of the first attempt ends before, or long before, the repeat.
    advance(writes % 2 === 0 ? minuteMs : 7 * dayMs);
    const batch = await sendOnce(organizationId, batchOf(count));
    await expectAllOnce(batch);
    advance(7 * dayMs);
    const other = { messages: batchOf(count - 1).messages, defaults: batchOf(0).defaults };
    await expect(sendOnce(organizationId, other)).rejects.toMatchObject({ code: "IDEMPOTENCY_KEY_REUSED" });
    expect(await sendOnce(organizationId, batchOf(count))).toEqual(batch);
  },
);

it("a crash after the last write leaves the response for the same key", async () => {
  expect(await crashAfter(8)).toBe(true);
  const batch = await sendOnce(organizationId, batchOf(count));
  await expectAllOnce(batch);
});

it("a block that arrives after the repeat is rejected, and its debit is refunded", async () => {
  let arrive: () => Promise<unknown> = async () => undefined;
  let isDead = false;
  interceptTableRequests(async (command, send) => {
    if (!isDead && command instanceof TransactWriteCommand) {
      arrive = send;
      isDead = true;
    }
    if (isDead) throw new Error("the function has ended");
    return send();
  });
  await expect(sendOnce(organizationId, batchOf(count))).rejects.toThrow("the function has ended");
  vi.restoreAllMocks();
  advance(minuteMs);
  const batch = await sendOnce(organizationId, batchOf(count));
  await expect(arrive()).rejects.toThrow("ConditionalCheckFailed");
  await expectAllOnce(batch);
});

/** An attempt that has lost its lease, so that another one runs in parallel. */
const lapsed: Attempt = {
  request: { key: "batch-1", hash: "hash" },
  complete: () => updateOf(keys.idempotency("org_1", "lapsed"), { set: { answer: "" } }, { present: ["pk"] }),
};

/** Sends a batch in a function that ends during a transaction. */
async function crashIn(transaction: number, send: () => Promise<unknown>): Promise<void> {
  let left = transaction;
  interceptTableRequests(async (command, request) => {
    if (command instanceof TransactWriteCommand) left -= 1;
    if (left <= 0) throw new Error("the function has ended");
    return request();
  });
  await expect(send()).rejects.toThrow("the function has ended");
  vi.restoreAllMocks();
}

it("a crash that leaves the money of the batch to the reconciler rejects no message for good", async () => {
  organizationId = await openOrganization(count * priceMicros);
  expect(await crashAfter(2)).toBe(true);
  advance(minuteMs);
  await expect(sendOnce(organizationId, batchOf(count))).rejects.toMatchObject({ code: "UNAVAILABLE" });
  advance(hourMs);
  await reconcileWallet(organizationId);
  expect(await sendOnce(organizationId, batchOf(count))).toMatchObject({ accepted: count });
  expect(await readWallet(organizationId)).toMatchObject({ balanceMicros: 0 });
});

it("a repeat in the same second continues the one send that the batch counts as", async () => {
  await limitSendRate(organizationId, 1);
  let transactions = 0;
  interceptTableRequests(async (command, send) => {
    if (command instanceof TransactWriteCommand && (transactions += 1) === 2) throw new Error("lost");
    return send();
  });
  await expect(sendOnce(organizationId, batchOf(count))).rejects.toMatchObject({ code: "UNAVAILABLE" });
  vi.restoreAllMocks();
  await expectAllOnce(await sendOnce(organizationId, batchOf(count)));
});

it("a batch beyond the limit of a second can be sent with the same key later", async () => {
  await limitSendRate(organizationId, 1);
  await sendBatch(organizationId, batchOf(1));
  const send = async (): Promise<AcceptedBatch> => sendOnce(organizationId, batchOf(10));
  await expect(send()).rejects.toMatchObject({ code: "SEND_RATE_EXCEEDED", facts: { retryAfterSeconds: 1 } });
  advance(minuteMs);
  expect(await send()).toMatchObject({ accepted: 10 });
});

it("a batch is not sent again once its first results have expired, although later ones have not", async () => {
  await crashIn(2, async () => sendOnce(organizationId, batchOf(60)));
  advance(29 * dayMs);
  expect(await sendOnce(organizationId, batchOf(60))).toMatchObject({ accepted: 60 });
  advance(2 * dayMs);
  await expect(sendOnce(organizationId, batchOf(60))).rejects.toMatchObject({
    code: "IDEMPOTENCY_KEY_REUSED",
  });
  expect(await messagesIn(organizationId)).toHaveLength(60);
});

/** Sends a batch with all limits, each of which covers it once, until its function ends at the first debit. */
async function limitedBatch(isDebited: boolean): Promise<() => Promise<AcceptedBatch>> {
  const micros = count * priceMicros;
  vi.stubEnv(environmentNames.oneTimeCodesPerNumber, "1");
  vi.stubEnv(environmentNames.dailySpendCap, String(micros / 1e6));
  organizationId = await openOrganization(balanceMicros);
  await limitDestination({ prefix: "1500", organizationId }, micros, "Ticket 31");
  const limits = { budgetKeyId: "key_1", dailyBudget: micros / 1e6 };
  const credential = { type: "apiKey", keyId: "key_1", limits } as const;
  const actor: Actor = { organizationId, userId: "usr_1", credential, scopes: ["send"] };
  const send = async (): Promise<AcceptedBatch> =>
    sendBatch(organizationId, batchOf(count), { attempt: lapsed, actor });
  let isDead = false;
  interceptTableRequests(async (command, sent) => {
    const isDebit =
      command instanceof UpdateCommand && JSON.stringify(command.input).includes("messageCount");
    if (isDebit && isDebited) await sent();
    isDead ||= isDebit;
    if (isDead) throw new Error("the function has ended");
    return sent();
  });
  await expect(send()).rejects.toThrow("the function has ended");
  vi.restoreAllMocks();
  return send;
}

/** The amounts that count against the budget of the key, and against the daily cap. */
async function spentMicros(): Promise<number[]> {
  const { spentTodayMicros } = await readWallet(organizationId);
  return [await usesToday("key-budget", "key_1"), spentTodayMicros];
}

it("a crash before the debit uses up no limit", async () => {
  const send = await limitedBatch(false);
  await expectAllOnce(await send());
  expect(await spentMicros()).toEqual([count * priceMicros, count * priceMicros]);
});

it("a crash after the debit uses up no limit, and while the money is away, no rejection is stored", async () => {
  const send = await limitedBatch(true);
  await expect(send()).rejects.toMatchObject({ code: "UNAVAILABLE" });
  advance(15 * minuteMs);
  await reconcileWallet(organizationId);
  await expectAllOnce(await send());
  expect(await spentMicros()).toEqual([count * priceMicros, count * priceMicros]);
});

it("test messages of two equal requests in parallel count once", async () => {
  const send = async (): Promise<AcceptedBatch> =>
    sendBatch(organizationId, { ...batchOf(count), test: true }, { attempt: lapsed });
  const [one, other] = await Promise.all([send(), send()]);
  expect(other).toEqual(one);
  expect(await usesToday("test-messages", organizationId)).toBe(count);
});

it("messages that the balance did not cover stay rejected for their key, also once it does", async () => {
  organizationId = await openOrganization(20 * priceMicros);
  const first = await sendBatch(organizationId, batchOf(count), { attempt: lapsed });
  expect(first).toMatchObject({ accepted: 20, rejected: 80 });
  await postToWallet({ organizationId, type: "top_up", amountMicros: balanceMicros });
  expect(await sendBatch(organizationId, batchOf(count), { attempt: lapsed })).toEqual(first);
});

it.each([
  ["for both", 2 * count, count],
  ["for one", count, count],
  ["for a part of one", 70, 70],
])("two equal requests in parallel with the money %s have one result", async (_name, messages, paid) => {
  organizationId = await openOrganization(messages * priceMicros);
  const send = async (): Promise<AcceptedBatch> =>
    sendBatch(organizationId, batchOf(count), { attempt: lapsed });
  const parallel = await Promise.allSettled([send(), send()]);
  const one = await send();
  // The money of a debit that is in flight may come back, so a request that finds none may have to be repeated.
  const isEither = expect.toBeOneOf([
    { status: "fulfilled", value: one },
    { status: "rejected", reason: expect.objectContaining({ code: "UNAVAILABLE" }) },
  ]);
  expect(parallel).toEqual([isEither, isEither]);
  const accepted = (await messagesIn(organizationId)).length;
  expect(one.accepted).toBe(accepted);
  // A debit that is in flight may leave the other request without money, but never without it in the end.
  expect(accepted).toBeLessThanOrEqual(paid);
  const rejected = Object.values(rejectionsOf(one)).flat().length;
  expect(accepted + rejected).toBe(count);
  const left = (messages - accepted) * priceMicros;
  expect(await readWallet(organizationId)).toMatchObject({ balanceMicros: left });
  expect(await verifyWallet(organizationId)).toMatchObject({ findings: [] });
});
