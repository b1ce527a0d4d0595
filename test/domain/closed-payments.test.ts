import { beforeEach, expect, it, vi } from "vitest";

import { eraseOrganization } from "../../shared/accounts/erasure/organization.ts";
import { saveBillingDetails } from "../../shared/money/payments/billing-details.ts";
import { createPayment } from "../../shared/money/payments/create.ts";
import { setAutoRecharge, startRecharge } from "../../shared/money/payments/recharge.ts";
import { stripeProvider } from "../../shared/money/payments/stripe.ts";
import { recordTransfer } from "../../shared/money/payments/transfer.ts";
import { closeWallet } from "../../shared/money/wallet/adjust.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { haveSavedCards, paymentJobs, paymentsIn, setPayments } from "../support/stored-payments.ts";
import { interceptTableRequests } from "../support/table-requests.ts";
import { openOrganization } from "../support/wallets.ts";

/* Payments of organizations that are closed and erased, before or while the payment begins. */

let organizationId: string;

beforeEach(async () => {
  setPayments({ cards: "sandbox", bankTransfer: "Pay to our account." });
  haveSavedCards();
  organizationId = await openOrganization(0);
});

async function closeAndErase(): Promise<void> {
  await closeWallet(organizationId, "left");
  await eraseOrganization(organizationId);
}

/** Runs something before the next transaction that writes an item of this kind. */
function before(entity: string, work: () => Promise<void>): () => boolean {
  let hasRun = false;
  interceptTableRequests(async (command, send) => {
    const request = JSON.stringify(command);
    if (!hasRun && request.includes("TransactItems") && request.includes(`"entity":"${entity}"`)) {
      hasRun = true;
      await work();
    }
    return send();
  });
  return () => hasRun;
}

const transfer = { amountMicros: 50_000_000, reason: "Bank transfer" };
const erased = { code: "CONFLICT", message: expect.stringMatching(/was erased\. Return the money/) };

it("an erasure ends an announced transfer, and no transfer is recorded after it", async () => {
  await saveBillingDetails(organizationId, { name: "Ada" });
  const request = { method: "bank_transfer", saveCard: false, amount: 50 } as const;
  const { id: paymentId } = await createPayment(organizationId, request);
  await closeAndErase();
  const [payment] = await paymentsIn(organizationId);
  expect(payment).toMatchObject({ id: paymentId, status: "expired", version: 2 });
  expect(payment).not.toHaveProperty("pendingWork");
  expect(payment).not.toHaveProperty("buyer");
  for (const announced of [{ paymentId }, {}]) {
    const recorded = recordTransfer({ organizationId, ...transfer, reference: "bank-1", ...announced });
    await expect(recorded).rejects.toMatchObject(erased);
  }
  expect((await readWallet(organizationId)).balanceMicros).toBe(0);
});

it("a transfer that is recorded while its organization is erased is rejected", async () => {
  before("ledgerEntry", closeAndErase);
  const recorded = recordTransfer({ organizationId, ...transfer, reference: `bank-${organizationId}` });
  await expect(recorded).rejects.toMatchObject(erased);
  expect((await readWallet(organizationId)).balanceMicros).toBe(0);
  expect(await paymentsIn(organizationId)).toEqual([]);
});

it.each(["card", "bank_transfer"] as const)(
  "a payment by %s that begins while its organization is erased is not recorded",
  async (method) => {
    const page = { sessionId: "cs_1", url: "https://example.com", expiresAt: "2040-01-01T00:00:00Z" };
    const session = { ...page, account: "acct_1 test" };
    vi.spyOn(stripeProvider, "createCheckout").mockResolvedValue(session);
    before("payment", closeAndErase);
    const begun = createPayment(organizationId, { method, saveCard: false, amount: 50 });
    await expect(begun).rejects.toMatchObject({ code: "WALLET_MISSING" });
    expect(await paymentsIn(organizationId)).toEqual([]);
  },
);

it("a recharge that starts while its wallet is closed is not recorded, and the wallet is free", async () => {
  await setAutoRecharge(organizationId, { isEnabled: true, threshold: 5, amount: 20, monthlyCap: 100 });
  const [job] = await paymentJobs();
  if (job?.kind !== "recharge") throw new Error("no recharge was requested");
  const isClosed = before("payment", async () => void (await closeWallet(organizationId, "left")));
  await startRecharge(job);
  expect(isClosed()).toBe(true);
  expect(await paymentsIn(organizationId)).toEqual([]);
  expect((await readWallet(organizationId)).rechargeId).toBeUndefined();
});
