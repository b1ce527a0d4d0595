import { Webhook as StandardWebhook } from "standardwebhooks";
import { beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import type { WebhookEvent } from "../../shared/api/contract/events.ts";
import { WebhookDelivery } from "../../shared/api/contract/webhooks.ts";
import { EventJob, eventJob as queuedEvent } from "../../shared/notices/event-job.ts";
import { dayMs, minuteMs } from "../../shared/platform/clock.ts";
import { newId } from "../../shared/platform/ids.ts";
import { enqueue } from "../../shared/platform/jobs/queue.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { queryItems } from "../../shared/platform/table/read.ts";
import { putItem, putUnchecked } from "../../shared/platform/table/write.ts";
import { createWebhook } from "../../shared/webhooks/create.ts";
import { acquireAttempt, deliveryIdOf, repeatNow } from "../../shared/webhooks/delivery-record.ts";
import { dispatchWebhook } from "../../shared/webhooks/dispatch.ts";
import { listWebhookDeliveries } from "../../shared/webhooks/list-deliveries.ts";
import { WebhookJob } from "../../shared/webhooks/webhook-job.ts";
import { advance } from "../support/clock.ts";
import { takeJobs } from "../support/queues.ts";
import { ownerOf } from "../support/viewer.ts";
import {
  attemptOf,
  deliveryOf,
  eventJob,
  openWebhook,
  openReceiver,
  notedEvent,
  heldResponse,
} from "../support/webhooks.ts";

const start = new Date("2031-03-01T12:00:00.000Z");

beforeEach(() => void vi.setSystemTime(start));

/** The jobs that wait in the table for one minute. */
async function dueJobsAt(dueAt: string): Promise<unknown[]> {
  const buckets = [0, 1, 2, 3].map((shard) => keys.scheduledJob(`${dueAt.slice(0, 16)}#${shard}`, "", "").pk);
  const found = await Promise.all(
    buckets.map(async (pk) => queryItems(z.looseObject({ sk: z.string() }), { pk, limit: 10 })),
  );
  return found.flat();
}

describe("an event", () => {
  it("is delivered once with the same webhook-id, to an endpoint that first fails five times", async () => {
    const { hook, endpoint, event } = await notedEvent((call) => (call <= 5 ? 500 : 200));
    const waitsSeconds: number[] = [];
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      await dispatchWebhook(attemptOf(endpoint, event, attempt));
      const delivery = await deliveryOf(endpoint, event);
      expect(delivery).toMatchObject({
        state: "pending",
        attempts: attempt,
        lastError: "responded with 500",
      });
      const nextAttemptAt = new Date(delivery.nextAttemptAt ?? "");
      waitsSeconds.push((nextAttemptAt.getTime() - Date.now()) / 1_000);
      vi.setSystemTime(nextAttemptAt);
    }
    await dispatchWebhook(attemptOf(endpoint, event, 6));
    expect(await deliveryOf(endpoint, event)).toMatchObject({
      state: "succeeded",
      attempts: 6,
      lastStatus: 200,
      lastAttemptAt: new Date().toISOString(),
    });
    for (const [index, seconds] of [5, 60, 300, 1_800, 7_200].entries()) {
      expect(waitsSeconds[index]).toBeGreaterThanOrEqual(seconds);
      expect(waitsSeconds[index]).toBeLessThanOrEqual(seconds * 1.2);
    }

    // Repeated jobs, early or late, make no call.
    for (let attempt = 1; attempt <= 8; attempt += 1) {
      await dispatchWebhook(attemptOf(endpoint, event, attempt));
    }
    expect(hook.calls).toHaveLength(6);
    expect(new Set(hook.calls.map(({ headers }) => headers["webhook-id"]))).toEqual(new Set([event.eventId]));
    expect(new Set(hook.calls.map(({ body }) => body)).size).toBe(1);
    const timestamps = hook.calls.map(({ headers }) => Number(headers["webhook-timestamp"]));
    expect(new Set(timestamps).size).toBe(6);
    expect(timestamps).toEqual(timestamps.toSorted((a, b) => a - b));
  });

  it("has failed after eight attempts, and then waits for nothing", async () => {
    const { hook, endpoint, event } = await notedEvent(() => 500);
    for (let attempt = 1; attempt <= 8; attempt += 1) {
      await dispatchWebhook(attemptOf(endpoint, event, attempt));
      advance(dayMs / 8);
    }
    const delivery = await deliveryOf(endpoint, event);
    expect(delivery).toMatchObject({ state: "failed", attempts: 8, lastStatus: 500 });
    expect(delivery.nextAttemptAt).toBeUndefined();
    await dispatchWebhook(attemptOf(endpoint, event, 9));
    expect(hook.calls).toHaveLength(8);
  });

  it("waits in the table for an attempt beyond the longest delay of a queue", async () => {
    const { endpoint, event } = await notedEvent(
      () => (response) => response.writeHead(503, { "retry-after": "3600" }).end(),
    );
    await dispatchWebhook(attemptOf(endpoint, event, 1));
    const { nextAttemptAt = "" } = await deliveryOf(endpoint, event);
    expect(nextAttemptAt).toBe(new Date(start.getTime() + 60 * minuteMs).toISOString());
    expect(await dueJobsAt(nextAttemptAt)).toMatchObject([
      { queue: "webhookRetries", body: attemptOf(endpoint, event, 2) },
    ]);
  });

  it("makes one delivery when it is fanned out twice", async () => {
    const { hook, endpoint, event } = await notedEvent();
    // The worker that recorded it has died before the attempt.
    await dispatchWebhook(event);
    await dispatchWebhook(event);
    const jobs = await takeJobs("webhookDeliveries");
    expect(jobs).toEqual([attemptOf(endpoint, event, 1, "first"), attemptOf(endpoint, event, 1, "first")]);
    expect(hook.calls).toHaveLength(0);
    for (const job of jobs) await dispatchWebhook(WebhookJob.parse(job));
    await dispatchWebhook(event);
    expect(hook.calls).toHaveLength(1);
    expect(await deliveryOf(endpoint, event)).toMatchObject({ state: "succeeded", attempts: 1 });
  });

  it("is called when it is fanned out, and recorded once though it is fanned out again meanwhile", async () => {
    const held = heldResponse(204);
    const hook = await openReceiver(held.answer);
    const endpoint = await openWebhook(hook.url);
    const event = eventJob(endpoint.organizationId);
    const handing = dispatchWebhook(event);
    await hook.waitForCalls(1);
    expect(await deliveryOf(endpoint, event)).toMatchObject({ state: "pending", attempts: 1 });
    await dispatchWebhook(event);
    held.respond();
    await handing;
    const [job, ...more] = await takeJobs("webhookDeliveries");
    expect(more).toEqual([]);
    await dispatchWebhook(WebhookJob.parse(job));
    expect(hook.calls).toHaveLength(1);
    expect(await deliveryOf(endpoint, event)).toMatchObject({ state: "succeeded", attempts: 1 });
  });

  it("is fanned out to all other endpoints when one endpoint's item cannot be read", async () => {
    const hook = await openReceiver();
    const broken = await openWebhook("http://127.0.0.1:9/");
    const endpoint = await createWebhook(ownerOf(broken.organizationId), {
      url: hook.url,
      events: ["message.sent"],
    });
    const key = keys.inFlightCalls(broken.id);
    await putItem(putUnchecked(key, { entity: "inFlightCalls", inFlightCalls: "not a set" }));
    const event = eventJob(broken.organizationId);
    await expect(dispatchWebhook(event)).rejects.toThrow("cannot be read");
    expect(hook.calls).toHaveLength(1);
    expect(await deliveryOf(endpoint, event)).toMatchObject({ state: "succeeded" });
  });

  it("that is queued twice is one event", async () => {
    const { organizationId, event } = eventJob("org_announcing");
    await enqueue(queuedEvent(organizationId, event));
    await enqueue(queuedEvent(organizationId, event));
    const [one, other, ...more] = await takeJobs("webhookDeliveries");
    expect(one).toEqual(other);
    expect(more).toEqual([]);
  });

  it("about any subject has an id of its own, which its delivery shares", async () => {
    const hook = await openReceiver();
    const { organizationId } = await openWebhook("http://127.0.0.1:9/");
    const timestamp = start.toISOString();
    const about = { id: newId("msg"), to: "15005550000" };
    const campaign = { id: newId("cmp"), name: "Sale", accepted: 1, sent: 1, failed: 0, charged: 1 };
    const happened: WebhookEvent[] = [
      { event: "message.sent", timestamp, data: { ...about, status: "sent" } },
      // A second event about one message, also in the same millisecond.
      { event: "message.delivered", timestamp, data: { ...about, status: "delivered" } },
      { event: "campaign.completed", timestamp, data: { ...campaign, currency: "USD" } },
    ];
    const events = happened.map(({ event }) => event);
    const endpoint = await createWebhook(ownerOf(organizationId), { url: hook.url, events });
    for (const event of happened) {
      await dispatchWebhook(EventJob.parse(queuedEvent(organizationId, event).body));
    }
    const query = { page: 1, limit: 10 };
    const { rows } = await listWebhookDeliveries(ownerOf(organizationId), endpoint.id, query);
    expect(rows.map((row) => WebhookDelivery.parse(row).payload.event).toSorted()).toEqual(events.toSorted());
    const ids = hook.calls.map(({ headers }) => String(headers["webhook-id"]));
    expect(new Set(ids).size).toBe(3);
    expect(rows.map(({ eventId }) => eventId).toSorted()).toEqual(ids.toSorted());
    expect(rows.map(({ id }) => id)).toEqual(rows.map(({ eventId }) => deliveryIdOf(eventId)));
  });

  it("about the same subject in another organization is another event", () => {
    const event: WebhookEvent = {
      event: "message.sent",
      timestamp: start.toISOString(),
      data: { id: newId("msg"), to: "15005550000", status: "sent" },
    };
    const organizationIds = [newId("org"), newId("org")];
    const ids = organizationIds.map((id) => EventJob.parse(queuedEvent(id, event).body).eventId);
    expect(ids[0]).not.toBe(ids[1]);
  });

  it("that an older release has queued keeps its id", async () => {
    const { hook, endpoint, event } = await notedEvent();
    const { id } = event.event.data;
    const queued = { ...event, eventId: id.replace("msg_", "evt_") };
    await dispatchWebhook(queued);
    await dispatchWebhook(queued);
    expect(hook.calls.map(({ headers }) => headers["webhook-id"])).toEqual([queued.eventId]);
    expect((await deliveryOf(endpoint, queued)).id).toBe(id.replace("msg_", "dlv_"));
  });

  it("makes one call when its job arrives five times in parallel", async () => {
    const held = heldResponse(204);
    const { hook, endpoint, event } = await notedEvent(held.answer);
    const first = dispatchWebhook(attemptOf(endpoint, event, 1));
    await hook.waitForCalls(1);
    const others = await Promise.allSettled(
      Array.from({ length: 4 }, async () => dispatchWebhook(attemptOf(endpoint, event, 1, "first"))),
    );
    held.respond();
    await first;
    expect(hook.calls).toHaveLength(1);
    expect(await deliveryOf(endpoint, event)).toMatchObject({ state: "succeeded", attempts: 1 });
    // Their jobs are retried, in case the dispatcher that makes the call dies.
    expect(new Set(others.map(({ status }) => status))).toEqual(new Set(["rejected"]));
  });

  it("gets a further attempt when the dispatcher that leased one is lost", async () => {
    const { hook, endpoint, event } = await notedEvent();
    const deliveryId = deliveryIdOf(event.eventId);
    await acquireAttempt({ webhookId: endpoint.id, deliveryId, attempt: 1 });
    await expect(dispatchWebhook(attemptOf(endpoint, event, 1))).rejects.toThrow(
      "another dispatcher makes this attempt",
    );
    advance(61_000);
    await dispatchWebhook(attemptOf(endpoint, event, 1));
    expect(hook.calls).toHaveLength(1);
    expect(await deliveryOf(endpoint, event)).toMatchObject({ state: "succeeded", attempts: 2 });
  });

  it("is redelivered for one of several requests at the same moment, and busy for the others", async () => {
    const { endpoint, event } = await notedEvent();
    await dispatchWebhook(attemptOf(endpoint, event, 1));
    const deliveryId = deliveryIdOf(event.eventId);
    const asked = await Promise.all(
      Array.from({ length: 4 }, async () => repeatNow(endpoint.id, deliveryId)),
    );
    expect(asked.filter((answer) => answer === "busy")).toHaveLength(3);
  });

  it("is redelivered once for requests out of order, and moves a scheduled attempt forward", async () => {
    const { endpoint, event } = await notedEvent((call) => (call === 1 ? 204 : 500));
    await dispatchWebhook(attemptOf(endpoint, event, 1));
    const deliveryId = deliveryIdOf(event.eventId);
    expect(await repeatNow(endpoint.id, deliveryId)).toMatchObject({ attempts: 1 });
    advance(-5);
    expect(await repeatNow(endpoint.id, deliveryId)).toBe("busy");
    advance(10);
    await dispatchWebhook(attemptOf(endpoint, event, 2));
    expect(await repeatNow(endpoint.id, deliveryId)).toMatchObject({ attempts: 2 });
    expect(await repeatNow(endpoint.id, deliveryId)).toBe("busy");
  });

  it("of a removed endpoint is dropped", async () => {
    const { hook, endpoint, event } = await notedEvent();
    await dispatchWebhook(attemptOf({ ...endpoint, id: "whk_gone" }, event, 1));
    expect(hook.calls).toHaveLength(0);
  });
});

describe("a call", () => {
  it("is signed as Standard Webhooks requires, by the check of the reference implementation", async () => {
    const { hook, endpoint, event } = await notedEvent();
    await dispatchWebhook(attemptOf(endpoint, event, 1));
    const { headers = {}, body = "" } = hook.calls[0] ?? {};
    const sent = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    expect(new StandardWebhook(endpoint.secret).verify(body, sent)).toEqual(event.event);
    expect(() => new StandardWebhook(endpoint.secret).verify(`${body} `, sent)).toThrow("signature");
  });
});
