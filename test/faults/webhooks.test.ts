import { randomUUID } from "node:crypto";

import { afterEach, beforeEach, expect, it, vi } from "vitest";

import type { AwsRequest } from "../../infra/local/local-aws.ts";
import { CreatedWebhook, Webhook, WebhookDelivery } from "../../shared/api/contract/webhooks.ts";
import { standardSignature } from "../../shared/webhooks/signature.ts";
import { Customer, dataOf, pageOf } from "../support/api.ts";
import { dropAnswer, isBy } from "../support/faults.ts";
import { functionNamed, runSchedule, killing } from "../support/functions.ts";
import { gatewayOfFile } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../support/webhook-receiver.ts";
import { attemptOf } from "../support/webhooks.ts";

const { gateway, faults } = await gatewayOfFile();
const receivers: WebhookReceiver[] = [];
let customer: Customer;

beforeEach(async () => {
  customer = await Customer.register({ balance: 1, baseUrl: gateway.url });
});
afterEach(async () => {
  await Promise.all(receivers.splice(0).map(async (started) => started.stop()));
});

async function endpointThat(...answer: Parameters<typeof startWebhookReceiver>) {
  const hook = await startWebhookReceiver(...answer);
  receivers.push(hook);
  const created = await customer.call("/v1/webhooks", { json: { url: hook.url } });
  const { id, secret } = dataOf(created, CreatedWebhook);
  return { hook, id, secret, organizationId: customer.organizationId };
}

async function ping({ id }: { id: string }): Promise<WebhookDelivery> {
  return dataOf(await customer.call(`/v1/webhooks/${id}/test`, { method: "POST" }), WebhookDelivery);
}

async function deliveryTo({ id }: { id: string }): Promise<WebhookDelivery | undefined> {
  return pageOf(await customer.call(`/v1/webhooks/${id}/deliveries`), WebhookDelivery).rows[0];
}

function isClaim({ operation, body }: AwsRequest): boolean {
  return operation === "dynamodb:UpdateItem" && body.includes('":attempts":{"N":"1"}');
}

function isSettlement({ operation, body }: AwsRequest): boolean {
  return (
    operation === "dynamodb:UpdateItem" &&
    body.includes("#leaseToken = :leaseToken") &&
    body.includes("#lastStatus")
  );
}

/** Delivers a job again, as the queue does with a job that its function did not delete. */
async function bringAgain(job: unknown): Promise<void> {
  gateway.advanceClock(180_000);
  await functionNamed(gateway, "DispatchWebhook").invoke({
    Records: [{ messageId: randomUUID(), body: JSON.stringify(job), attributes: {} }],
  });
}

it.each([
  ["after it acquired its lease", isClaim, "after", 204, 1],
  ["after the endpoint accepted the call", isSettlement, "before", 204, 2],
  ["after the endpoint rejected the call", isSettlement, "before", 500, 2],
] as const)(
  "an event survives a dispatcher that is killed %s",
  async (_name, matches, when, firstStatus, calls) => {
    const endpoint = await endpointThat((count) => (count === 1 && calls === 2 ? firstStatus : 204));
    const killed = vi.fn<() => void>();
    faults.next(matches, killing(gateway, "DispatchWebhook", when, killed));
    // It waits for the end of the delivery, which comes with the repeated job.
    const ponged = ping(endpoint);
    await vi.waitFor(() => expect(killed).toHaveBeenCalledOnce(), patience);
    const pending = await deliveryTo(endpoint);
    await bringAgain(attemptOf(endpoint, pending ?? { eventId: "none" }, 1));
    await vi.waitFor(
      async () => expect(await deliveryTo(endpoint)).toMatchObject({ state: "succeeded" }),
      patience,
    );
    const { eventId } = await ponged;
    expect(endpoint.hook.calls).toHaveLength(calls);
    const ids = endpoint.hook.calls.map(({ headers }) => headers["webhook-id"]);
    expect(new Set(ids)).toEqual(new Set([eventId]));
  },
);

it("an attempt that is due later than a queue can delay it is made in its minute", async () => {
  const endpoint = await endpointThat((count) =>
    count === 1 ? (response) => response.writeHead(503, { "retry-after": "1800" }).end() : 204,
  );
  await ping(endpoint);
  await vi.waitFor(
    async () => expect(await deliveryTo(endpoint)).toMatchObject({ lastStatus: 503 }),
    patience,
  );
  await runSchedule(gateway, "ReleaseScheduledJobs");
  expect(endpoint.hook.calls).toHaveLength(1);
  gateway.advanceClock(31 * 60_000);
  await runSchedule(gateway, "ReleaseScheduledJobs");
  await endpoint.hook.waitForCalls(2);
  await vi.waitFor(
    async () => expect(await deliveryTo(endpoint)).toMatchObject({ state: "succeeded", attempts: 2 }),
    patience,
  );
});

it("an endpoint that hangs has at most 20 calls in flight, and does not delay another customer's calls", async () => {
  let open = 0;
  let mostOpen = 0;
  const hanging = await endpointThat(() => (response) => {
    open += 1;
    mostOpen = Math.max(mostOpen, open);
    response.once("close", () => {
      open -= 1;
    });
  });
  await Promise.all(Array.from({ length: 30 }, async () => customer.send()));
  await hanging.hook.waitForCalls(20);
  customer = await Customer.register({ balance: 1, baseUrl: gateway.url });
  const healthy = await endpointThat();
  await Promise.all(Array.from({ length: 10 }, async () => customer.send()));
  await healthy.hook.waitForCalls(10);
  expect(mostOpen).toBe(20);
});

it("a customer's dead endpoint fails no job, so the operator's alarm does not fire", async () => {
  const endpoint = await endpointThat(() => 500);
  await ping(endpoint);
  await vi.waitFor(
    async () => expect(await deliveryTo(endpoint)).toMatchObject({ lastStatus: 500 }),
    patience,
  );
  const result = await functionNamed(gateway, "DispatchWebhook").invoke({
    Records: [
      {
        messageId: "again",
        body: JSON.stringify(attemptOf(endpoint, await ping(endpoint), 1)),
        attributes: {},
      },
    ],
  });
  expect(result).toEqual({ batchItemFailures: [] });
});

it("an existing endpoint has its secret, even if its function is killed right after the write", async () => {
  const hook = await startWebhookReceiver();
  receivers.push(hook);
  // Excludes the entry that the audit log gets before the action.
  const isWrite = ({ operation, body }: AwsRequest): boolean =>
    /:(Put|Update|Delete|TransactWrite)/.test(operation) && !body.includes("AUDIT#");
  const killed = vi.fn<() => void>();
  faults.next(
    (request) => isBy("ApiCreateWebhook")(request) && isWrite(request),
    killing(gateway, "ApiCreateWebhook", "after", killed),
  );
  const created = await customer.call("/v1/webhooks", { json: { url: hook.url } });
  await vi.waitFor(() => expect(killed).toHaveBeenCalledOnce(), patience);
  expect(created.status).toBe(500);
  const { rows } = pageOf(await customer.call("/v1/webhooks"), Webhook);
  expect(rows).toHaveLength(1);
  await ping(rows[0] ?? { id: "none" });
  await hook.waitForCalls(1);
});

it("a rotation whose response was lost signs with both the shown secret and the previous one", async () => {
  const endpoint = await endpointThat();
  faults.next(isBy("RotateWebhookSecret", "dynamodb:UpdateItem"), dropAnswer);
  const rotated = await customer.call(`/v1/webhooks/${endpoint.id}/rotate-secret`, { method: "POST" });
  const { secret } = dataOf(rotated, CreatedWebhook);
  expect(secret).not.toBe(endpoint.secret);
  await ping(endpoint);
  await endpoint.hook.waitForCalls(1);
  const [received] = endpoint.hook.calls;
  const message = {
    id: String(received?.headers["webhook-id"]),
    timestampSeconds: Number(received?.headers["webhook-timestamp"]),
    body: received?.body ?? "",
  };
  const signatures = [secret, endpoint.secret].map((each) => standardSignature(each, message));
  expect(received?.headers["webhook-signature"]).toBe(signatures.join(" "));
});

it("a manual redelivery is made although the response to its record was lost", async () => {
  const endpoint = await endpointThat();
  const { id } = await ping(endpoint);
  await vi.waitFor(
    async () => expect(await deliveryTo(endpoint)).toMatchObject({ state: "succeeded" }),
    patience,
  );
  faults.next(
    (request) =>
      isBy("RetryWebhookDelivery", "dynamodb:UpdateItem")(request) && request.body.includes("DELIVERIES#"),
    dropAnswer,
  );
  const path = `/v1/webhooks/${endpoint.id}/deliveries/${id}/retry`;
  expect((await customer.call(path, { method: "POST" })).status).toBe(202);
  await endpoint.hook.waitForCalls(2);
});
