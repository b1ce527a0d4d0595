import { expect, it } from "vitest";

import type { Payment } from "../../shared/api/contract/payments.ts";
import { cancelPayment } from "../../shared/money/payments/cancel.ts";
import { createPayment } from "../../shared/money/payments/create.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { hourMs } from "../../shared/platform/clock.ts";
import { advance } from "../support/clock.ts";
import { setPayments } from "../support/stored-payments.ts";
import { openOrganization } from "../support/wallets.ts";

it("an organization has at most ten transfers that wait for the money, however many it announces at the same time", async () => {
  setPayments({ bankTransfer: "Pay to our account." });
  const organizationId = await openOrganization(0);
  const announce = async (): Promise<Payment> =>
    createPayment(organizationId, { method: "bank_transfer", amount: 20, saveCard: false });
  const results = await Promise.allSettled(Array.from({ length: 15 }, announce));
  const announced = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  expect(announced).toHaveLength(10);
  advance(hourMs + 1);
  await expect(announce()).rejects.toMatchObject({ code: "CONFLICT" });
  await cancelPayment({ organizationId, paymentId: announced[0]?.id ?? "" });
  expect(await announce()).toMatchObject({ status: "pending" });
  await expect(announce()).rejects.toMatchObject({ code: "CONFLICT" });
  expect(await readWallet(organizationId)).toMatchObject({ balanceMicros: 0 });
});
