import { createHmac } from "node:crypto";

import { describe, expect, it } from "vitest";

import { WebhookEvent } from "../../shared/api/contract/events.ts";
import { webhookHeaders } from "../../shared/api/contract/webhooks.ts";
import { Customer, errorOf } from "../support/api.ts";
import { longPatience } from "../support/patience.ts";
import {
  deliveriesOf,
  ping,
  receiversOfFile,
  registerWebhook,
  waitForStates,
} from "../support/webhook-calls.ts";
import { type WebhookReceiver } from "../support/webhook-receiver.ts";

const receiver = receiversOfFile();

describe("webhook deliveries", () => {
  it("are retried automatically, with the same id", async () => {
    const customer = await Customer.register({ balance: 1 });
    const hook = await receiver((count) => (count === 1 ? 500 : 204));
    const webhook = await registerWebhook(customer, { url: hook.url });
    await customer.send();
    await waitForStates(customer, webhook, ["succeeded"], longPatience);
    expect((await deliveriesOf(customer, webhook)).rows).toMatchObject([{ attempts: 2 }]);
    const [first, second, ...more] = hook.calls.map(({ headers }) => headers["webhook-id"]);
    expect(first).toBe(second);
    expect(more).toEqual([]);
  });

  it("are redelivered on request, also successful ones, but not two at the same time", async () => {
    const customer = await Customer.register();
    const goOn = Promise.withResolvers<void>();
    const hook = await receiver((count) =>
      count === 1 ? 204 : (response) => void goOn.promise.then(() => response.writeHead(204).end()),
    );
    const webhook = await registerWebhook(customer, { url: hook.url });
    const { id } = await ping(customer, webhook);
    await waitForStates(customer, webhook, ["succeeded"]);
    const retry = async (deliveryId = id) =>
      customer.call(`/v1/webhooks/${webhook.id}/deliveries/${deliveryId}/retry`, { method: "POST" });

    const answers = await Promise.all([retry(), retry(), retry()]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([202, 409, 409]);
    await hook.waitForCalls(2);
    expect(errorOf(await retry())).toEqual({ status: 409, code: "CONFLICT" });
    goOn.resolve();
    await waitForStates(customer, webhook, ["succeeded"]);
    expect((await deliveriesOf(customer, webhook)).rows).toMatchObject([{ id, attempts: 2 }]);
    expect(hook.calls).toHaveLength(2);
    expect(hook.calls[0]?.headers["webhook-id"]).toBe(hook.calls[1]?.headers["webhook-id"]);
    expect(errorOf(await retry("dlv_01J00000000000000000000000"))).toEqual({
      status: 404,
      code: "NOT_FOUND",
    });
  });

  it("are listed newest first, by page, by cursor and by state", async () => {
    const customer = await Customer.register();
    const hook = await receiver((count) => (count <= 3 ? 204 : 500));
    const webhook = await registerWebhook(customer, { url: hook.url });
    const ids: string[] = [];
    for (let count = 1; count <= 5; count += 1) {
      ids.unshift((await ping(customer, webhook)).id);
      // The failing ones are pending before and after their next call.
      await hook.waitForCalls(Math.min(count, 3));
    }
    await waitForStates(customer, webhook, ["pending", "pending", "succeeded", "succeeded", "succeeded"]);
    const list = async (query: string) => {
      const { rows, meta } = await deliveriesOf(customer, webhook, query);
      return { ids: rows.map(({ id }) => id), meta };
    };
    expect(await list("?limit=2&page=2")).toMatchObject({
      ids: ids.slice(2, 4),
      meta: { page: 2, limit: 2, total: 5, totalPages: 3 },
    });
    const first = await list("?limit=2&state=succeeded");
    expect(first).toMatchObject({ ids: ids.slice(2, 4), meta: { total: 3, totalPages: 2 } });
    const second = await list(`?limit=2&state=succeeded&cursor=${String(first.meta.nextCursor)}`);
    expect(second.ids).toEqual(ids.slice(4));
    expect(second.meta.nextCursor).toBeUndefined();
    expect((await list("?state=pending")).ids).toEqual(ids.slice(0, 2));
    expect((await list("?state=failed")).ids).toEqual([]);
    expect((await list("?page=9")).ids).toEqual([]);
    for (const query of ["?state=lost", "?limit=101", "?page=0", "?cursor=%20"]) {
      const response = await customer.call(`/v1/webhooks/${webhook.id}/deliveries${query}`);
      expect(errorOf(response), query).toEqual({ status: 400, code: "VALIDATION_ERROR" });
    }
  });
});

describe("webhook calls", () => {
  it("bring message.sent with the documented body, headers and signatures", async () => {
    const customer = await Customer.register({ balance: 1 });
    const hook = await receiver();
    const { secret } = await registerWebhook(customer, { url: hook.url });
    const { id, to } = await customer.send();
    await hook.waitForCalls(1);

    const [received] = hook.calls;
    const event: unknown = JSON.parse(received?.body ?? "");
    expect(WebhookEvent.parse(event)).toEqual(event);
    expect(event).toEqual({
      event: "message.sent",
      timestamp: (await customer.message(id)).sentAt,
      data: { id, to, status: "sent" },
    });
    const signature = createHmac("sha256", secret)
      .update(received?.body ?? "")
      .digest("hex");
    expect(received?.headers).toMatchObject({
      "content-type": "application/json",
      "x-service-event": "message.sent",
      "x-service-signature": signature,
    });
    for (const [name, schema] of Object.entries(webhookHeaders)) {
      const header = received?.headers[name.toLowerCase()];
      expect(schema.safeParse(header).success, `${name}: ${String(header)}`).toBe(true);
    }
    // The headers of Standard Webhooks, beside those of the specification.
    const { "webhook-id": eventId, "webhook-timestamp": at, ...others } = received?.headers ?? {};
    expect(eventId).toMatch(/^evt_/);
    const key = Buffer.from(secret.replace("whsec_", ""), "base64");
    const signed = `${String(eventId)}.${String(at)}.${received?.body ?? ""}`;
    const standard = createHmac("sha256", key).update(signed).digest("base64");
    expect(others["webhook-signature"]).toBe(`v1,${standard}`);
  });

  it("bring message.failed with a safe errorCode and without a status", async () => {
    const customer = await Customer.register({ balance: 1 });
    const hook = await receiver();
    await registerWebhook(customer, { url: hook.url });
    const { id, to } = await customer.send({ to: "15005550006" });
    await hook.waitForCalls(1);
    expect(hook.calls[0]?.headers["x-service-event"]).toBe("message.failed");
    expect(JSON.parse(hook.calls[0]?.body ?? "")).toEqual({
      event: "message.failed",
      timestamp: (await customer.message(id)).failedAt,
      data: { id, to, errorCode: "MESSAGE_PROVIDER_ERROR" },
    });
  });

  it("go to every endpoint that subscribes to the event, and to no other", async () => {
    const [customer, stranger] = await Promise.all([
      Customer.register({ balance: 1 }),
      Customer.register({ balance: 1 }),
    ]);
    const [both, failedOnly, removed, strangers] = [
      await receiver(),
      await receiver(),
      await receiver(),
      await receiver(),
    ];
    await registerWebhook(customer, { url: both.url });
    await registerWebhook(customer, { url: failedOnly.url, events: ["message.failed"] });
    const gone = await registerWebhook(customer, { url: removed.url });
    await customer.call(`/v1/webhooks/${gone.id}`, { method: "DELETE" });
    await registerWebhook(stranger, { url: strangers.url });

    const sent = await customer.send();
    const failed = await customer.send({ to: "15005550001" });
    await both.waitForCalls(2);
    await failedOnly.waitForCalls(1);
    const idsOf = (hook: WebhookReceiver): string[] =>
      hook.calls.map(({ body }) => WebhookEvent.parse(JSON.parse(body)).data.id).toSorted();
    expect(idsOf(both)).toEqual([sent.id, failed.id].toSorted());
    expect(idsOf(failedOnly)).toEqual([failed.id]);
    // The stranger's own message is handled after all of the above, so all expected calls have arrived.
    const own = await stranger.send();
    await strangers.waitForCalls(1);
    expect(idsOf(strangers)).toEqual([own.id]);
    expect(removed.calls).toHaveLength(0);
  });
});
