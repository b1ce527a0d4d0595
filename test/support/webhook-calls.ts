import { afterEach, expect, vi } from "vitest";

import { CreatedWebhook, WebhookDelivery } from "../../shared/api/contract/webhooks.ts";
import { dataOf, pageOf, type Customer } from "./api.ts";
import { patience } from "./patience.ts";
import { startWebhookReceiver, type WebhookReceiver } from "./webhook-receiver.ts";

/** Returns a function that starts receivers for the calling test file. They stop after each test. */
export function receiversOfFile(): typeof startWebhookReceiver {
  const receivers: WebhookReceiver[] = [];
  afterEach(async () => {
    await Promise.all(receivers.splice(0).map(async (started) => started.stop()));
  });
  return async (...answer) => {
    const started = await startWebhookReceiver(...answer);
    receivers.push(started);
    return started;
  };
}

/** Registers a webhook, which must be accepted. */
export async function registerWebhook(
  customer: Customer,
  json: Record<string, unknown>,
): Promise<CreatedWebhook> {
  const response = await customer.call("/v1/webhooks", { json });
  expect(response.status).toBe(201);
  return dataOf(response, CreatedWebhook);
}

/** Requests a ping, which must be accepted. */
export async function ping(customer: Customer, { id }: { id: string }): Promise<WebhookDelivery> {
  const response = await customer.call(`/v1/webhooks/${id}/test`, { method: "POST" });
  expect(response.status).toBe(202);
  return dataOf(response, WebhookDelivery);
}

export async function deliveriesOf(
  customer: Customer,
  { id }: { id: string },
  query = "",
): Promise<ReturnType<typeof pageOf<WebhookDelivery>>> {
  return pageOf(await customer.call(`/v1/webhooks/${id}/deliveries${query}`), WebhookDelivery);
}

/** Waits until an endpoint's newest deliveries are in these states. */
export async function waitForStates(
  customer: Customer,
  webhook: { id: string },
  states: string[],
  within = patience,
): Promise<void> {
  await vi.waitFor(
    async () =>
      expect((await deliveriesOf(customer, webhook)).rows.map(({ state }) => state)).toEqual(states),
    within,
  );
}
