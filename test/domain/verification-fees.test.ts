import { beforeEach, expect, it, vi } from "vitest";

import { eraseOrganization } from "../../shared/accounts/erasure/organization.ts";
import { sumOfLedger } from "../../shared/figures/books/movements.ts";
import { listTransactions } from "../../shared/figures/statements/transactions.ts";
import { getUsage } from "../../shared/figures/statements/usage.ts";
import { reconcileWallet } from "../../shared/messages/reconciliation/reconcile.ts";
import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { listMessages } from "../../shared/messages/search/list.ts";
import { closeWallet } from "../../shared/money/wallet/adjust.ts";
import { debitWallet } from "../../shared/money/wallet/debit.ts";
import { postToWallet } from "../../shared/money/wallet/post.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { PutCommand, TransactWriteCommand, UpdateCommand } from "../../shared/platform/aws/dynamodb.ts";
import { minuteMs, secondMs } from "../../shared/platform/clock.ts";
import { once } from "../../shared/platform/http/idempotency.ts";
import { newId } from "../../shared/platform/ids.ts";
import { usesToday } from "../../shared/platform/limits/daily.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { completeEnding } from "../../shared/verifications/end.ts";
import { eraseVerificationsOf } from "../../shared/verifications/erase.ts";
import { getVerification } from "../../shared/verifications/list.ts";
import { startVerification } from "../../shared/verifications/start.ts";
import { advance } from "../support/clock.ts";
import { damage } from "../support/items.ts";
import { recordLog } from "../support/log.ts";
import { interceptTableRequests } from "../support/table-requests.ts";
import { apiKeyOf, number, priceMicros, setFee, startFor } from "../support/verifications.ts";
import { ownerOf } from "../support/viewer.ts";
import { openOrganization, organizationOf } from "../support/wallets.ts";

const initialMicros = 1_000_000;
const feeMicros = 50_000;
const page = { page: 1, limit: 20 };

let organizationId: string;

beforeEach(async () => {
  vi.setSystemTime(new Date("2030-06-01T12:00:00Z"));
  await setFee(feeMicros);
  organizationId = await openOrganization(initialMicros);
});

it("the ledger, the usage, the list of messages and the books have the fee, and count one message", async () => {
  const { id, messageIds, expiresAt: validUntil } = await startFor(organizationId);
  const [messageId] = messageIds;
  const { rows } = await listTransactions(organizationId, page);
  expect(rows.slice(0, 2)).toMatchObject([
    { type: "verification_fee", amount: -0.05, verificationId: id, country: "US" },
    { type: "message", amount: -0.0079, messageId, segments: 1 },
  ]);
  expect((await listMessages(ownerOf(organizationId), page)).meta.total).toBe(1);
  expect((await getUsage(organizationId, { by: "day" })).total).toMatchObject({
    messages: 1,
    amount: 0.0079,
  });
  advance(30 * minuteMs);
  expect(await reconcileWallet(organizationId)).toMatchObject({ voided: 0, inconsistencies: 0 });
  const period = { start: "2030-06-01T00:00:00.000Z", end: "2030-07-01T00:00:00.000Z" };
  const sumNow = async () => {
    const run = { continued: undefined, isTimeLeft: () => true };
    return sumOfLedger(await readWallet(organizationId), period, undefined, new Set(), run);
  };
  const country = { country: "US", messages: 1, segments: 1, revenueMicros: priceMicros + feeMicros };
  const movements = { message: -priceMicros, verification_fee: -feeMicros };
  const kept = Object(await sumNow()).all;
  expect(kept).toMatchObject({ movements, closingMicros: initialMicros - priceMicros - feeMicros });
  expect([...kept.countries.values()]).toMatchObject([country]);
  await completeEnding({ organizationId, verificationId: id, validUntil });
  advance(30 * minuteMs);
  await reconcileWallet(organizationId);
  const returned = Object(await sumNow()).all;
  expect(returned).toMatchObject({ movements: { ...movements, refund: feeMicros } });
  expect([...returned.countries.values()]).toMatchObject([{ ...country, revenueMicros: priceMicros }]);
});

it("a fee that returns after the erasure of its number still has the country", async () => {
  const { id, expiresAt: validUntil } = await startFor(organizationId);
  await eraseVerificationsOf(organizationId, number);
  advance(30 * minuteMs);
  await completeEnding({ organizationId, verificationId: id, validUntil });
  const { rows } = await listTransactions(organizationId, page);
  expect(rows[0]).toMatchObject({ type: "refund", verificationId: id, country: "US" });
});

function isWrite(command: object): boolean {
  return [PutCommand, TransactWriteCommand, UpdateCommand].some((each) => command instanceof each);
}

/** Returns the number of messages that the list states, and the wallet's balance, once the wallet is settled. */
async function settled(): Promise<{ total: number; balanceMicros: number }> {
  advance(30 * minuteMs);
  await reconcileWallet(organizationId);
  advance(30 * minuteMs);
  await reconcileWallet(organizationId);
  const { findings, balanceMicros } = await verifyWallet(organizationId);
  expect(findings).toEqual([]);
  const { rows, meta } = await listMessages(ownerOf(organizationId), page);
  expect(meta.total).toBe(rows.length);
  return { total: rows.length, balanceMicros };
}

const message = { amountMicros: priceMicros };
const fee = { amountMicros: feeMicros, isFee: true as const };
const refund = { organizationId: "", type: "refund", amountMicros: 1 } as const;

it.each([
  ["alone", async () => undefined],
  ["before a start", async () => startFor(organizationId)],
  ["before another movement", async () => postToWallet({ ...refund, organizationId })],
])(
  "lost debits of messages and their fees are returned as a whole, and no longer count (%s)",
  async (_, later) => {
    await startFor(organizationId, { to: "15005550008" });
    await settled();
    // The functions end between their debits and the records.
    for (const charges of [[message, fee], [message], [message, fee]]) {
      await debitWallet({ organizationId, charges, at: new Date(), keepAccepted: async () => undefined });
    }
    await later();
    const { balanceMicros } = await readWallet(organizationId);
    const returnedMicros = (await settled()).balanceMicros - balanceMicros;
    expect(returnedMicros).toBe(3 * priceMicros + 2 * feeMicros);
  },
);

it("starts at the same time count one message, also those whose debit was returned", async () => {
  await Promise.allSettled(Array.from({ length: 6 }, async () => startFor(organizationId)));
  // The daily cap gets each fee back with its message.
  expect((await readWallet(organizationId)).spentTodayMicros).toBe(priceMicros + feeMicros);
  expect(await settled()).toEqual({ total: 1, balanceMicros: initialMicros - priceMicros - feeMicros });
});

it.each([1, 2, 3, 4, 5, 6, 7, 8])(
  "a start that dies after write %i, and its repeat, charge one fee",
  async (writes) => {
    let left = writes;
    recordLog();
    interceptTableRequests(async (command, send) => {
      if (left <= 0) throw new Error("the function has ended");
      if (isWrite(command)) left -= 1;
      const result = await send();
      if (left <= 0) throw new Error("the function has ended");
      return result;
    });
    const organization = await organizationOf(organizationId);
    const request = { to: number, profile: "default", channel: "sms", senderId: "ACME" } as const;
    const start = async () =>
      once({ organizationId, key: "start", content: request }, async (attempt) =>
        startVerification(organization, request, { actor: apiKeyOf(organizationId), attempt }),
      );
    await start().catch(() => undefined);
    vi.restoreAllMocks();
    recordLog();
    advance(31 * secondMs);
    const { id } = Object((await start()).answer);
    const { messageIds } = await getVerification(ownerOf(organizationId), id);
    const { total, balanceMicros } = await settled();
    expect(balanceMicros).toBe(initialMicros - messageIds.length * priceMicros - feeMicros);
    expect(total).toBe(messageIds.length);
  },
);

it("the total of the list is not negative where an older release lost count of fees", async () => {
  await damage(keys.wallet(organizationId), { feeCount: 3 });
  expect((await listMessages(ownerOf(organizationId), page)).meta.total).toBe(0);
});

it("an organization is not erased before its fee returns", async () => {
  const { id } = await startFor(organizationId);
  await closeWallet(organizationId, "x");
  const { balanceMicros } = await readWallet(organizationId);
  await postToWallet({ organizationId, type: "correction", amountMicros: -balanceMicros });
  await settled();
  expect((await eraseOrganization(organizationId)).messagesLeft).toBeGreaterThanOrEqual(1);
  expect((await getVerification(ownerOf(organizationId), id)).pricing.fee).toBe(0.05);
});

it("a fee counts for the approval and the daily budget of a key", async () => {
  const held = apiKeyOf(organizationId, { limits: { budgetKeyId: "key_held", holdAbove: 0.01 } });
  await expect(startFor(organizationId, {}, held)).rejects.toMatchObject({ code: "INSUFFICIENT_SCOPE" });
  const limits = { budgetKeyId: newId("key"), dailyBudget: 1 };
  await startFor(organizationId, {}, apiKeyOf(organizationId, { limits }));
  expect(await usesToday("key-budget", limits.budgetKeyId)).toBe(priceMicros + feeMicros);
});

it("nothing is charged beyond the balance or the cap, the fee included", async () => {
  const poor = await openOrganization(feeMicros);
  await expect(startFor(poor)).rejects.toMatchObject({ code: "INSUFFICIENT_BALANCE" });
  expect(await readWallet(poor)).toMatchObject({ balanceMicros: feeMicros, seq: 1 });
});
