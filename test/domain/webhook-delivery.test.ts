import { Webhook as StandardWebhook } from "standardwebhooks";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import type { WebhookEvent } from "../../shared/api/contract/events.ts";
import { WebhookDelivery } from "../../shared/api/contract/webhooks.ts";
import { EventJob, eventJob as queuedEvent } from "../../shared/notices/event-job.ts";
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
import { getWebhook, updateWebhook } from "../../shared/webhooks/webhooks.ts";
import { patience } from "../support/patience.ts";
import { delayedJobs, takeJobs } from "../support/queues.ts";
import { ownerOf } from "../support/viewer.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../support/webhook-receiver.ts";
import { attemptOf, deliveryOf, eventJob, noteEvent, openWebhook } from "../support/webhooks.ts";

const start = new Date("2031-03-01T12:00:00.000Z");
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

const receivers: WebhookReceiver[] = [];
async function receiver(...answer: Parameters<typeof startWebhookReceiver>): Promise<WebhookReceiver> {
  const started = await startWebhookReceiver(...answer);
  receivers.push(started);
  return started;
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: start });
});
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(receivers.splice(0).map(async (started) => started.stop()));
  await takeJobs("webhookDeliveries");
  await takeJobs("webhookRetries");
});

function passMs(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

/** Registers an endpoint and creates an event for it, before its first attempt. */
async function handedOut(hook: WebhookReceiver) {
  const endpoint = await openWebhook(hook.url);
  return { endpoint, event: await noteEvent(endpoint) };
}

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
    const hook = await receiver((call) => (call <= 5 ? 500 : 200));
    const { endpoint, event } = await handedOut(hook);
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
    const hook = await receiver(() => 500);
    const { endpoint, event } = await handedOut(hook);
    for (let attempt = 1; attempt <= 8; attempt += 1) {
      await dispatchWebhook(attemptOf(endpoint, event, attempt));
      passMs(dayMs / 8);
    }
    const delivery = await deliveryOf(endpoint, event);
    expect(delivery).toMatchObject({ state: "failed", attempts: 8, lastStatus: 500 });
    expect(delivery.nextAttemptAt).toBeUndefined();
    await dispatchWebhook(attemptOf(endpoint, event, 9));
    expect(hook.calls).toHaveLength(8);
  });

  it("waits in the table for an attempt beyond the longest delay of a queue", async () => {
    const hook = await receiver(() => (response) => response.writeHead(503, { "retry-after": "3600" }).end());
    const { endpoint, event } = await handedOut(hook);
    await dispatchWebhook(attemptOf(endpoint, event, 1));
    const { nextAttemptAt = "" } = await deliveryOf(endpoint, event);
    expect(nextAttemptAt).toBe(new Date(start.getTime() + 60 * minuteMs).toISOString());
    expect(await dueJobsAt(nextAttemptAt)).toMatchObject([
      { queue: "webhookRetries", body: attemptOf(endpoint, event, 2) },
    ]);
  });

  it("makes one delivery when it is fanned out twice", async () => {
    const hook = await receiver();
    const { endpoint, event } = await handedOut(hook);
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
    let answer: () => void = () => undefined;
    const hook = await receiver(() => (response) => {
      answer = () => response.writeHead(204).end();
    });
    const endpoint = await openWebhook(hook.url);
    const event = eventJob(endpoint.organizationId);
    const handing = dispatchWebhook(event);
    await hook.waitForCalls(1);
    expect(await deliveryOf(endpoint, event)).toMatchObject({ state: "pending", attempts: 1 });
    await dispatchWebhook(event);
    answer();
    await handing;
    const [job, ...more] = await takeJobs("webhookDeliveries");
    expect(more).toEqual([]);
    await dispatchWebhook(WebhookJob.parse(job));
    expect(hook.calls).toHaveLength(1);
    expect(await deliveryOf(endpoint, event)).toMatchObject({ state: "succeeded", attempts: 1 });
  });

  it("is fanned out to all other endpoints when one endpoint's item cannot be read", async () => {
    const hook = await receiver();
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
    const hook = await receiver();
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
    const hook = await receiver();
    const { endpoint, event } = await handedOut(hook);
    const { id } = event.event.data;
    const queued = { ...event, eventId: id.replace("msg_", "evt_") };
    await dispatchWebhook(queued);
    await dispatchWebhook(queued);
    expect(hook.calls.map(({ headers }) => headers["webhook-id"])).toEqual([queued.eventId]);
    expect((await deliveryOf(endpoint, queued)).id).toBe(id.replace("msg_", "dlv_"));
  });

  it("makes one call when its job arrives five times in parallel", async () => {
    let answer: () => void = () => undefined;
    const hook = await receiver(() => (response) => {
      answer = () => response.writeHead(204).end();
    });
    const { endpoint, event } = await handedOut(hook);
    const first = dispatchWebhook(attemptOf(endpoint, event, 1));
    await hook.waitForCalls(1);
    const others = await Promise.allSettled(
      Array.from({ length: 4 }, async () => dispatchWebhook(attemptOf(endpoint, event, 1, "first"))),
    );
    answer();
    await first;
    expect(hook.calls).toHaveLength(1);
    expect(await deliveryOf(endpoint, event)).toMatchObject({ state: "succeeded", attempts: 1 });
    // Their jobs are retried, in case the dispatcher that makes the call dies.
    expect(new Set(others.map(({ status }) => status))).toEqual(new Set(["rejected"]));
  });

  it("gets a further attempt when the dispatcher that leased one is lost", async () => {
    const hook = await receiver();
    const { endpoint, event } = await handedOut(hook);
    const deliveryId = deliveryIdOf(event.eventId);
    await acquireAttempt({ webhookId: endpoint.id, deliveryId, attempt: 1 });
    await expect(dispatchWebhook(attemptOf(endpoint, event, 1))).rejects.toThrow(
      "another dispatcher makes this attempt",
    );
    passMs(61_000);
    await dispatchWebhook(attemptOf(endpoint, event, 1));
    expect(hook.calls).toHaveLength(1);
    expect(await deliveryOf(endpoint, event)).toMatchObject({ state: "succeeded", attempts: 2 });
  });

  it("is redelivered for one of several requests at the same moment, and busy for the others", async () => {
    const hook = await receiver();
    const { endpoint, event } = await handedOut(hook);
    await dispatchWebhook(attemptOf(endpoint, event, 1));
    const deliveryId = deliveryIdOf(event.eventId);
    const asked = await Promise.all(
      Array.from({ length: 4 }, async () => repeatNow(endpoint.id, deliveryId)),
    );
    expect(asked.filter((answer) => answer === "busy")).toHaveLength(3);
  });

  it("is redelivered once for requests out of order, and moves a scheduled attempt forward", async () => {
    const hook = await receiver((call) => (call === 1 ? 204 : 500));
    const { endpoint, event } = await handedOut(hook);
    await dispatchWebhook(attemptOf(endpoint, event, 1));
    const deliveryId = deliveryIdOf(event.eventId);
    expect(await repeatNow(endpoint.id, deliveryId)).toMatchObject({ attempts: 1 });
    passMs(-5);
    expect(await repeatNow(endpoint.id, deliveryId)).toBe("busy");
    passMs(10);
    await dispatchWebhook(attemptOf(endpoint, event, 2));
    expect(await repeatNow(endpoint.id, deliveryId)).toMatchObject({ attempts: 2 });
    expect(await repeatNow(endpoint.id, deliveryId)).toBe("busy");
  });

  it("of a removed endpoint is dropped", async () => {
    const hook = await receiver();
    const { endpoint, event } = await handedOut(hook);
    await dispatchWebhook(attemptOf({ ...endpoint, id: "whk_gone" }, event, 1));
    expect(hook.calls).toHaveLength(0);
  });
});

describe("a call", () => {
  it("is signed as Standard Webhooks requires, by the check of the reference implementation", async () => {
    const hook = await receiver();
    const { endpoint, event } = await handedOut(hook);
    await dispatchWebhook(attemptOf(endpoint, event, 1));
    const { headers = {}, body = "" } = hook.calls[0] ?? {};
    const sent = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    expect(new StandardWebhook(endpoint.secret).verify(body, sent)).toEqual(event.event);
    expect(() => new StandardWebhook(endpoint.secret).verify(`${body} `, sent)).toThrow("signature");
  });
});

it("forty endpoints at one host get at most 20 parallel calls of an organization, and the others later", async () => {
  let isHolding = true;
  const held: (() => void)[] = [];
  const hook = await receiver(() => (response) => {
    const answer = (): void => void response.writeHead(204).end();
    if (isHolding) held.push(answer);
    else answer();
  });
  const { organizationId } = await openWebhook(hook.url);
  for (let count = 1; count < 40; count += 1) await openWebhook(`${hook.url}/${count}`, organizationId);
  // The jobs are read while the calls are open. The delay is close to the call's time limit, which ends the calls.
  const rescheduledCount = await delayedJobs(async (jobsSoFar) => {
    const dispatched = dispatchWebhook(eventJob(organizationId));
    await vi.waitFor(() => expect(held.length + jobsSoFar().length).toBe(40), patience);
    isHolding = false;
    for (const answer of held) answer();
    await dispatched;
  });
  expect(held).toHaveLength(20);
  const later = rescheduledCount.map(({ body }) => WebhookJob.parse(body));
  expect(later).toHaveLength(20);
  await takeJobs("webhookRetries");
  for (const job of later) await dispatchWebhook(job);
  expect(hook.calls).toHaveLength(40);
});

describe("an endpoint", () => {
  it("that redirects is not followed", async () => {
    const hook = await receiver(() => 302);
    const { endpoint, event } = await handedOut(hook);
    await dispatchWebhook(attemptOf(endpoint, event, 1));
    expect(hook.calls).toHaveLength(1);
    expect(await deliveryOf(endpoint, event)).toMatchObject({
      state: "pending",
      lastStatus: 302,
      lastError: "responded with 302",
    });
  });

  it("that responds with 410 is disabled immediately, and its waiting deliveries visibly fail", async () => {
    const hook = await receiver(() => 410);
    const { endpoint, event } = await handedOut(hook);
    const [waiting, later] = [await noteEvent(endpoint), eventJob(endpoint.organizationId)];
    await dispatchWebhook(attemptOf(endpoint, event, 1));
    expect(await getWebhook(ownerOf(endpoint.organizationId), endpoint.id)).toMatchObject({
      status: "disabled",
      disabledReason: "gone",
      disabledAt: start.toISOString(),
    });
    expect(await deliveryOf(endpoint, event)).toMatchObject({ state: "failed", lastStatus: 410 });

    await takeJobs("webhookDeliveries");
    await dispatchWebhook(attemptOf(endpoint, waiting, 1));
    await dispatchWebhook(later);
    expect(await takeJobs("webhookDeliveries")).toEqual([]);
    for (const each of [waiting, later]) {
      const delivery = await deliveryOf(endpoint, each);
      expect(delivery).toMatchObject({ state: "failed", attempts: 0, lastError: "the endpoint is disabled" });
      expect(delivery.nextAttemptAt).toBeUndefined();
    }
    expect(hook.calls).toHaveLength(1);
  });

  it("that fails for five days without a success is disabled, and called like a new one when it is enabled", async () => {
    const hook = await receiver((call) => (call === 2 ? 204 : 500));
    const { endpoint, event } = await handedOut(hook);
    const show = async () => getWebhook(ownerOf(endpoint.organizationId), endpoint.id);
    const attempt = async (at: number): Promise<void> => {
      vi.setSystemTime(start.getTime() + at);
      const other = eventJob(endpoint.organizationId);
      await dispatchWebhook(other);
      await dispatchWebhook(attemptOf(endpoint, other, 1));
    };
    await dispatchWebhook(attemptOf(endpoint, event, 1));
    // The success of the second call restarts the count.
    await attempt(dayMs);
    for (let halves = 4; halves < 13; halves += 1) await attempt((halves * dayMs) / 2);
    await attempt(7 * dayMs - 1);
    expect(await show()).toMatchObject({
      status: "enabled",
      failingSince: new Date(start.getTime() + 2 * dayMs).toISOString(),
      lastFailure: { status: 500, error: "responded with 500" },
    });
    await attempt(7 * dayMs);
    expect(await show()).toMatchObject({ status: "disabled", disabledReason: "failing" });

    const enabled = await updateWebhook(ownerOf(endpoint.organizationId), endpoint.id, { enabled: true });
    expect(enabled).toMatchObject({
      status: "enabled",
      disabledReason: undefined,
      disabledAt: undefined,
      failingSince: undefined,
      lastFailure: undefined,
    });
    await attempt(8 * dayMs);
    expect((await show()).status).toBe("enabled");
  });

  it("that failed once, and again five days later without calls between, stays enabled", async () => {
    const hook = await receiver(() => 500);
    const { endpoint, event } = await handedOut(hook);
    await dispatchWebhook(attemptOf(endpoint, event, 1));
    vi.setSystemTime(start.getTime() + 6 * dayMs);
    const next = eventJob(endpoint.organizationId);
    await dispatchWebhook(next);
    await dispatchWebhook(attemptOf(endpoint, next, 1));
    expect(hook.calls).toHaveLength(2);
    expect((await getWebhook(ownerOf(endpoint.organizationId), endpoint.id)).status).toBe("enabled");
  });

  it("keeps the state that its customer set during a call", async () => {
    let answer: () => void = () => undefined;
    const hook = await receiver(() => (response) => {
      answer = () => response.writeHead(410).end();
    });
    const { endpoint, event } = await handedOut(hook);
    const attempt = dispatchWebhook(attemptOf(endpoint, event, 1));
    await hook.waitForCalls(1);
    await updateWebhook(ownerOf(endpoint.organizationId), endpoint.id, { url: "https://example.com/new" });
    answer();
    await attempt;
    expect((await getWebhook(ownerOf(endpoint.organizationId), endpoint.id)).status).toBe("enabled");
  });
});
