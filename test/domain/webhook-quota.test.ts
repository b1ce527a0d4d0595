import { randomUUID } from "node:crypto";

import { expect, it, vi } from "vitest";

import { adjustWallet } from "../../shared/money/wallet/adjust.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { createWebhook } from "../../shared/webhooks/create.ts";
import { deleteWebhook } from "../../shared/webhooks/webhooks.ts";
import { acceptFor } from "../support/messages.ts";
import { ownerOf } from "../support/viewer.ts";
import { openWallet } from "../support/wallets.ts";
import { openWebhook } from "../support/webhooks.ts";

const request = { url: "https://example.com/sms", events: ["message.sent" as const] };

/** Lets the operator move money. */
async function adjust(organizationId: string, amountMicros: number): Promise<void> {
  const reference = randomUUID();
  await adjustWallet({ organizationId, type: "correction", amountMicros, reason: "test", reference });
}

it("a stage may allow fewer endpoints until money has arrived, also if it has been spent since", async () => {
  vi.stubEnv(environmentNames.webhooksBeforePayment, "2");
  const organizationId = await openWallet(0);
  const first = await openWebhook(request.url, organizationId);
  await createWebhook(ownerOf(organizationId), request);
  await expect(createWebhook(ownerOf(organizationId), request)).rejects.toMatchObject({
    code: "PAYMENT_REQUIRED",
  });
  await deleteWebhook(ownerOf(organizationId), first.id);
  await createWebhook(ownerOf(organizationId), request);
  await expect(createWebhook(ownerOf(organizationId), request)).rejects.toMatchObject({
    code: "PAYMENT_REQUIRED",
  });

  await adjust(organizationId, 7_900);
  await createWebhook(ownerOf(organizationId), request);
  await acceptFor(organizationId);
  await createWebhook(ownerOf(organizationId), request);
});

it("money that was taken back before any of it was spent does not count as received", async () => {
  vi.stubEnv(environmentNames.webhooksBeforePayment, "1");
  const organizationId = await openWallet(0);
  await adjust(organizationId, 7_900);
  await adjust(organizationId, -7_900);
  await openWebhook(request.url, organizationId);
  await expect(createWebhook(ownerOf(organizationId), request)).rejects.toMatchObject({
    code: "PAYMENT_REQUIRED",
  });
});

it("without the setting the limit is the gateway's", async () => {
  const organizationId = await openWallet(0);
  await openWebhook(request.url, organizationId);
  for (let count = 1; count < 100; count += 1) await createWebhook(ownerOf(organizationId), request);
  await expect(createWebhook(ownerOf(organizationId), request)).rejects.toMatchObject({ code: "CONFLICT" });
});
