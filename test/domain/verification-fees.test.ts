import { beforeEach, expect, it, vi } from "vitest";

import { sumOfLedger } from "../../shared/figures/books/movements.ts";
import { listTransactions } from "../../shared/figures/statements/transactions.ts";
import { getUsage } from "../../shared/figures/statements/usage.ts";
import { reconcileWallet } from "../../shared/messages/reconciliation/reconcile.ts";
import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { listMessages } from "../../shared/messages/search/list.ts";
import { debitWallet } from "../../shared/money/wallet/debit.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { completeEnding } from "../../shared/verifications/end.ts";
import { eraseVerificationsOf } from "../../shared/verifications/erase.ts";
import { advance } from "../support/clock.ts";
import { number, priceMicros, setFee, startFor } from "../support/verifications.ts";
import { ownerOf } from "../support/viewer.ts";
import { openOrganization } from "../support/wallets.ts";

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

it("a lost debit of a message and its fee is returned as a whole", async () => {
  const charges = [{ amountMicros: priceMicros }, { amountMicros: feeMicros, isFee: true as const }];
  // The function ends between the debit and its record.
  await debitWallet({ organizationId, charges, at: new Date(), keepAccepted: async () => undefined });
  advance(30 * minuteMs);
  expect(await reconcileWallet(organizationId)).toMatchObject({
    voided: 2,
    refundedMicros: priceMicros + feeMicros,
  });
  expect(await verifyWallet(organizationId)).toMatchObject({ findings: [], balanceMicros: initialMicros });
  expect((await readWallet(organizationId)).messageCount).toBe(0);
});

it("nothing is charged beyond the balance or the cap, the fee included", async () => {
  const poor = await openOrganization(feeMicros);
  await expect(startFor(poor)).rejects.toMatchObject({ code: "INSUFFICIENT_BALANCE" });
  expect(await readWallet(poor)).toMatchObject({ balanceMicros: feeMicros, seq: 1 });
});
