import { beforeEach, describe, expect, it, vi } from "vitest";

import { eraseNumber } from "../../shared/accounts/erasure/number.ts";
import { messagesOfDay, recount } from "../../shared/messages/counts/recount.ts";
import { getMessage } from "../../shared/messages/message/read.ts";
import { MessageRecord } from "../../shared/messages/message/record.ts";
import { reconcileWallet } from "../../shared/messages/reconciliation/reconcile.ts";
import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { listMessages } from "../../shared/messages/search/list.ts";
import { ledgerEntry, voidEntry } from "../../shared/money/wallet/ledger.ts";
import { postToWallet } from "../../shared/money/wallet/post.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { GetCommand, PutCommand } from "../../shared/platform/aws/dynamodb.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { findItem } from "../../shared/platform/table/read.ts";
import { ledgerKey, messageKey } from "../../shared/platform/table/shards.ts";
import { putItem, updateItem, updateOf } from "../../shared/platform/table/write.ts";
import { batchOf, sendBatch } from "../support/batches.ts";
import { acceptFor, hello, priceMicros, storedMessages } from "../support/messages.ts";
import { dayShardOf } from "../support/organization-shards.ts";
import { takeJobs } from "../support/queues.ts";
import { interceptTableRequests } from "../support/table-requests.ts";
import { ownerOf } from "../support/viewer.ts";
import { openOrganization, openWallet } from "../support/wallets.ts";

let start = 0;
beforeEach(() => {
  start = Date.now();
});

function advance(minutes: number): void {
  vi.setSystemTime(start + minutes * minuteMs);
}

/** Ends the current function at a request: neither it nor any later one is sent. */
function endFunctionAt(isLast: (command: object) => boolean): void {
  let hasEnded = false;
  interceptTableRequests(async (command, send) => {
    hasEnded ||= isLast(command);
    if (hasEnded) throw new Error("the function has ended");
    return send();
  });
}

/** Accepts a message in a function that ends after it wrote the message, and before it wrote the ledger entry. */
async function acceptWithoutEntry(organizationId: string): Promise<void> {
  endFunctionAt(
    (command) => command instanceof PutCommand && command.input.Item?.["entity"] === "ledgerEntry",
  );
  await expect(acceptFor(organizationId)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  vi.restoreAllMocks();
}

async function countStored(organizationId: string): Promise<number> {
  return (await storedMessages(organizationId)).length;
}

async function shown(organizationId: string): Promise<string[]> {
  return (await listMessages(ownerOf(organizationId), { page: 1, limit: 20 })).rows.map(({ id }) => id);
}

describe("a message whose function ended before payment", () => {
  it.each([
    ["alone", 0, 0],
    ["after a paid one", 1, 0],
    ["between paid ones", 1, 1],
  ])("is not shown from a minute on, and its money returns: %s", async (_, before, after) => {
    const organizationId = await openWallet(1_000_000);
    const paid: string[] = [];
    for (let count = 0; count < before; count += 1) paid.push((await acceptFor(organizationId)).messageId);
    await acceptWithoutEntry(organizationId);
    for (let count = 0; count < after; count += 1) paid.push((await acceptFor(organizationId)).messageId);
    const stored = await storedMessages(organizationId);
    expect(stored).toHaveLength(paid.length + 1);
    const unpaid = stored.map(({ id }) => id).find((id) => !paid.includes(id)) ?? "";
    for (const minutes of [2, 11]) {
      advance(minutes);
      expect((await shown(organizationId)).toSorted()).toEqual(paid.toSorted());
      await expect(getMessage(ownerOf(organizationId), unpaid)).rejects.toMatchObject({ code: "NOT_FOUND" });
      for (const id of paid) expect(await getMessage(ownerOf(organizationId), id)).toMatchObject({ id });
      await reconcileWallet(organizationId);
    }
    const spentMicros = (before + after) * priceMicros;
    expect((await readWallet(organizationId)).balanceMicros).toBe(1_000_000 - spentMicros);
    advance(36);
    await reconcileWallet(organizationId);
    expect(await verifyWallet(organizationId)).toMatchObject({ findings: [], pending: [] });
    expect((await shown(organizationId)).toSorted()).toEqual(paid.toSorted());
  });

  it("is not counted in its day, which ends without it", async () => {
    start = Date.parse("2031-05-01T12:00:00Z");
    advance(0);
    const organizationId = await openWallet(1_000_000);
    await acceptWithoutEntry(organizationId);
    advance(11);
    await reconcileWallet(organizationId);
    advance(24 * 60);
    expect(await recount(messagesOfDay(dayShardOf(organizationId, "2031-05-01")))).toBe("closed");
    expect(await countStored(organizationId)).toBe(1);
  });

  it("counts for the cap of its own day, also if the debit before was voided on the next one", async () => {
    start = Date.parse("2031-05-01T23:50:00Z");
    advance(0);
    const organizationId = await openWallet(1_000_000);
    await acceptWithoutEntry(organizationId);
    await acceptWithoutEntry(organizationId);
    advance(20);
    const key = ledgerKey(await readWallet(organizationId), 2);
    const amounts = { amountMicros: -priceMicros, balanceAfterMicros: 1_000_000 - priceMicros };
    await putItem(ledgerEntry(voidEntry({ ...key, organizationId, seq: 2, ...amounts, feeCount: 0 })));
    await acceptFor(organizationId);
    advance(40);
    await reconcileWallet(organizationId);
    const { balanceMicros, spentTodayMicros } = await readWallet(organizationId);
    expect([balanceMicros, spentTodayMicros]).toEqual([1_000_000 - priceMicros, priceMicros]);
  });
});

it("an erasure of the number deletes it an hour later, and a paid one that waits stays", async () => {
  const organizationId = await openWallet(1_000_000);
  const { messageId: paid } = await acceptFor(organizationId);
  await acceptWithoutEntry(organizationId);
  advance(11);
  expect(await eraseNumber(organizationId, hello.to)).toMatchObject({ messages: 0, left: 2 });
  advance(61);
  expect(await eraseNumber(organizationId, hello.to)).toMatchObject({ messages: 1, left: 1 });
  expect((await storedMessages(organizationId)).map(({ id }) => id)).toEqual([paid]);
});

it("a paid message is found while the reconciler settles its entry", async () => {
  const organizationId = await openWallet(1_000_000);
  const { messageId } = await acceptFor(organizationId);
  advance(11);
  let isSettled = false;
  interceptTableRequests(async (command, send) => {
    const isOfWallet =
      command instanceof GetCommand && String(command.input.Key?.["pk"]).startsWith("WALLET#");
    if (isOfWallet && !isSettled) {
      isSettled = true;
      await reconcileWallet(organizationId);
    }
    return send();
  });
  expect(await getMessage(ownerOf(organizationId), messageId)).toMatchObject({ id: messageId });
  expect(isSettled).toBe(true);
});

describe("a message that is written beside its debit", () => {
  it("is not written at all when its debit is rejected, but for the first after an accepted one", async () => {
    const organizationId = await openOrganization(priceMicros);
    const puts: unknown[] = [];
    interceptTableRequests(async (command, send) => {
      if (command instanceof PutCommand && command.input.Item?.["entity"] === "message") puts.push(command);
      return send();
    });
    await acceptFor(organizationId);
    for (let count = 0; count < 3; count += 1) {
      await expect(acceptFor(organizationId)).rejects.toMatchObject({ code: "INSUFFICIENT_BALANCE" });
    }
    expect(puts).toHaveLength(2);
    expect(await countStored(organizationId)).toBe(1);
    // A batch debits the same message again when the balance has grown.
    await postToWallet({ organizationId, type: "top_up", amountMicros: priceMicros });
    await acceptFor(organizationId);
    expect(await sendBatch(organizationId, batchOf(1))).toMatchObject({ accepted: 0, rejected: 1 });
    expect(puts).toHaveLength(3);
  });
});

it("a paid message that its sender left unconfirmed is kept, whatever its status", async () => {
  const organizationId = await openWallet(1_000_000);
  const { messageId } = await acceptFor(organizationId);
  const key = messageKey({ organizationId, id: messageId });
  // A sender without knowledge of unconfirmed messages.
  const sent = { status: "sent", sentAt: new Date().toISOString(), attempts: 1 } as const;
  await updateItem(MessageRecord, updateOf(key, { set: sent }));
  expect((await findItem(MessageRecord, key))?.expiresAt).toBeDefined();
  advance(11);
  await reconcileWallet(organizationId);
  expect((await findItem(MessageRecord, key, { consistent: true }))?.expiresAt).toBeUndefined();
  expect(await takeJobs("transactionalSends")).toHaveLength(1);
});
