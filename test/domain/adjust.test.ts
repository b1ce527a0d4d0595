import { expect, it } from "vitest";

import { acceptMessage } from "../../shared/messages/accept-one.ts";
import { auditWallet } from "../../shared/reconciliation/audit.ts";
import { adjustWallet, closeWallet, reopenWallet } from "../../shared/wallet/adjust.ts";
import { postToWallet } from "../../shared/wallet/post.ts";
import { readWallet } from "../../shared/wallet/record.ts";
import { topUpWallet } from "../../shared/wallet/top-up.ts";
import { openWallet } from "../support/wallets.ts";

const request = { to: "15005550000", message: "hello", senderId: "ACME", language: "English" } as const;

it("an adjustment is in the ledger with its reason, and moves the balance exactly", async () => {
  const organizationId = await openWallet(1_000_000);
  const credit = { organizationId, amountMicros: 250_001, reason: "bank transfer 7", reference: "a" };
  expect(await adjustWallet(credit)).toEqual({ balance: 1.250001, replayed: false });
  const charge = { organizationId, amountMicros: -1_000_000, reason: "charged back", reference: "b" };
  expect(await adjustWallet(charge)).toEqual({ balance: 0.250001, replayed: false });
  expect((await auditWallet(organizationId)).findings).toEqual([]);
});

it("an adjustment with a reference that was used before changes nothing", async () => {
  const organizationId = await openWallet(0);
  const credit = { organizationId, amountMicros: 5_000_000, reason: "invoice 1", reference: "invoice-1" };
  const results = await Promise.allSettled(Array.from({ length: 5 }, async () => adjustWallet(credit)));
  expect(results.filter(({ status }) => status === "fulfilled").length).toBeGreaterThan(0);
  expect(await adjustWallet(credit)).toEqual({ balance: 5, replayed: true });
  await expect(adjustWallet({ ...credit, amountMicros: 6_000_000 })).rejects.toMatchObject({
    code: "IDEMPOTENCY_KEY_REUSED",
  });
  expect(await readWallet(organizationId)).toMatchObject({ balanceMicros: 5_000_000, seq: 1 });
});

it("a charge never makes a balance negative", async () => {
  const organizationId = await openWallet(1_000_000);
  const charge = { organizationId, amountMicros: -600_000, reason: "charged back" };
  const results = await Promise.allSettled(
    ["a", "b", "c"].map(async (reference) => adjustWallet({ ...charge, reference })),
  );
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  const refused = results.flatMap((result) => (result.status === "rejected" ? [result.reason.code] : []));
  expect(refused).toEqual(["INSUFFICIENT_BALANCE", "INSUFFICIENT_BALANCE"]);
  expect((await readWallet(organizationId)).balanceMicros).toBe(400_000);
});

it("a closed wallet takes no sends and no top-ups, but refunds and adjustments arrive", async () => {
  const organizationId = await openWallet(1_000_000);
  const { closedAt } = await closeWallet(organizationId, "Fraud");
  expect(closedAt).toBeDefined();
  expect((await closeWallet(organizationId, "Fraud")).closedAt).toBe(closedAt);
  const missing = { code: "WALLET_MISSING" };
  await expect(acceptMessage(organizationId, request)).rejects.toMatchObject(missing);
  await expect(topUpWallet(organizationId, { amount: 1 })).rejects.toMatchObject(missing);
  await postToWallet({ organizationId, type: "refund", amountMicros: 1 });
  const charge = { organizationId, amountMicros: -1, reason: "paid out", reference: "a" };
  expect(await adjustWallet(charge)).toEqual({ balance: 1, replayed: false });

  expect((await reopenWallet(organizationId)).closedAt).toBeUndefined();
  await acceptMessage(organizationId, request);
  expect((await readWallet(organizationId)).balanceMicros).toBe(992_100);
});

it("a wallet that does not exist is neither adjusted, closed nor opened", async () => {
  const missing = { code: "WALLET_MISSING" };
  const organizationId = "org_01J00000000000000000000000";
  await expect(closeWallet(organizationId, "Fraud")).rejects.toMatchObject(missing);
  await expect(reopenWallet(organizationId)).rejects.toMatchObject(missing);
  await expect(
    adjustWallet({ organizationId, amountMicros: 1, reason: "x", reference: "x" }),
  ).rejects.toMatchObject(missing);
});
