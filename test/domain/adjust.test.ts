import { randomUUID } from "node:crypto";

import { expect, it } from "vitest";

import { listTransactions } from "../../shared/figures/statements/transactions.ts";
import { refundMessage } from "../../shared/messages/outcome/refund.ts";
import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import {
  adjustWallet,
  type Adjustment,
  closeWallet,
  reopenWallet,
} from "../../shared/money/wallet/adjust.ts";
import { postToWallet } from "../../shared/money/wallet/post.ts";
import { toApiWallet, readWallet } from "../../shared/money/wallet/record.ts";
import { topUpWallet } from "../../shared/money/wallet/top-up.ts";
import { only, ScriptedCarrier, reject } from "../support/carriers.ts";
import { acceptFor } from "../support/messages.ts";
import { openWallet } from "../support/wallets.ts";

/** A movement with a reference that no other test uses: references are permanent and shared by all organizations. */
function movement(
  given: Partial<Adjustment> & Pick<Adjustment, "amountMicros" | "organizationId">,
): Adjustment {
  return { type: "correction", reason: "a mistake", reference: randomUUID(), ...given };
}

it("a movement is in the ledger with its type, reason and reference, and moves the balance exactly", async () => {
  const organizationId = await openWallet(1_000_000);
  const payment = { organizationId, type: "payment", amountMicros: 250_001, reason: "transfer 7" } as const;
  expect(await adjustWallet(movement({ ...payment, reference: `${organizationId} a` }))).toEqual({
    balanceMicros: 1_250_001,
    wasDoneBefore: false,
  });
  const charge = movement({ organizationId, type: "payment_refund", amountMicros: -1_000_000 });
  expect(await adjustWallet(charge)).toEqual({ balanceMicros: 250_001, wasDoneBefore: false });
  const { rows } = await listTransactions(organizationId, { page: 1, limit: 10 });
  expect(rows).toEqual([
    expect.objectContaining({ type: "payment_refund", amount: -1, reference: charge.reference }),
    expect.objectContaining({
      type: "payment",
      amount: 0.250001,
      reason: "transfer 7",
      reference: `${organizationId} a`,
    }),
    expect.objectContaining({ type: "top_up" }),
  ]);
  expect((await verifyWallet(organizationId)).findings).toEqual([]);
});

it.each(["correction", "payment_refund"] as const)("a %s never makes a balance negative", async (type) => {
  const organizationId = await openWallet(1_000_000);
  const charges = Array.from({ length: 3 }, () => movement({ organizationId, type, amountMicros: -600_000 }));
  const results = await Promise.allSettled(charges.map(async (charge) => adjustWallet(charge)));
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  const rejected = results.flatMap((result) => (result.status === "rejected" ? [result.reason.code] : []));
  expect(rejected).toEqual(["INSUFFICIENT_BALANCE", "INSUFFICIENT_BALANCE"]);
  expect((await readWallet(organizationId)).balanceMicros).toBe(400_000);
});

it("a chargeback takes money that is already spent, and nothing is sent until that is paid", async () => {
  const organizationId = await openWallet(0);
  await adjustWallet(movement({ organizationId, type: "payment", amountMicros: 10_000 }));
  const job = await acceptFor(organizationId);
  const chargeback = movement({ organizationId, type: "chargeback", amountMicros: -10_000 });
  expect(await adjustWallet(chargeback)).toEqual({ balanceMicros: -7_900, wasDoneBefore: false });
  await expect(acceptFor(organizationId)).rejects.toMatchObject({ code: "BALANCE_NEGATIVE" });
  const debit = movement({ organizationId, amountMicros: -1 });
  await expect(adjustWallet(debit)).rejects.toMatchObject({ code: "INSUFFICIENT_BALANCE" });
  expect(toApiWallet(await readWallet(organizationId)).balance).toBe(-0.0079);
  // A credit counts, also where it is less than the debt.
  expect(await adjustWallet(movement({ organizationId, amountMicros: 900 }))).toMatchObject({
    balanceMicros: -7_000,
  });
  await submitMessage(job, only(new ScriptedCarrier(reject)));
  await refundMessage(job);
  expect((await readWallet(organizationId)).balanceMicros).toBe(900);
  expect((await verifyWallet(organizationId)).findings).toEqual([]);
});

it("a closed wallet accepts no sends and no top-ups, but refunds and the operator's movements arrive", async () => {
  const organizationId = await openWallet(1_000_000);
  const { closedAt } = await closeWallet(organizationId, "Fraud");
  expect(closedAt).toBeDefined();
  expect((await closeWallet(organizationId, "Fraud")).closedAt).toBe(closedAt);
  const missing = { code: "WALLET_MISSING" };
  await expect(acceptFor(organizationId)).rejects.toMatchObject(missing);
  await expect(topUpWallet(organizationId, { amount: 1 })).rejects.toMatchObject(missing);
  await postToWallet({ organizationId, type: "refund", amountMicros: 1 });
  const charge = movement({ organizationId, amountMicros: -1 });
  expect(await adjustWallet(charge)).toEqual({ balanceMicros: 1_000_000, wasDoneBefore: false });

  expect((await reopenWallet(organizationId)).closedAt).toBeUndefined();
  await acceptFor(organizationId);
  expect((await readWallet(organizationId)).balanceMicros).toBe(992_100);
});

it("a wallet that does not exist cannot be adjusted, closed or opened", async () => {
  const missing = { code: "WALLET_MISSING" };
  const organizationId = "org_01J00000000000000000000000";
  await expect(closeWallet(organizationId, "Fraud")).rejects.toMatchObject(missing);
  await expect(reopenWallet(organizationId)).rejects.toMatchObject(missing);
  await expect(adjustWallet(movement({ organizationId, amountMicros: 1 }))).rejects.toMatchObject(missing);
});
