import { beforeEach, describe, expect, it, vi } from "vitest";

import { dayMs } from "../../shared/platform/clock.ts";
import { dispatchWebhook } from "../../shared/webhooks/dispatch.ts";
import { updateWebhook } from "../../shared/webhooks/update.ts";
import { WebhookJob } from "../../shared/webhooks/webhook-job.ts";
import { getWebhook } from "../../shared/webhooks/webhooks.ts";
import { patience } from "../support/patience.ts";
import { takeJobs, delayedJobs } from "../support/queues.ts";
import { ownerOf } from "../support/viewer.ts";
import {
  attemptOf,
  deliveryOf,
  eventJob,
  noteEvent,
  notedEvent,
  openReceiver,
  openWebhook,
  heldResponse,
} from "../support/webhooks.ts";

const start = new Date("2031-03-01T12:00:00.000Z");

beforeEach(() => void vi.setSystemTime(start));

describe("an endpoint", () => {
  it("that redirects is not followed", async () => {
    const { hook, endpoint, event } = await notedEvent(() => 302);
    await dispatchWebhook(attemptOf(endpoint, event, 1));
    expect(hook.calls).toHaveLength(1);
    expect(await deliveryOf(endpoint, event)).toMatchObject({
      state: "pending",
      lastStatus: 302,
      lastError: "responded with 302",
    });
  });

  it("that responds with 410 is disabled immediately, and its waiting deliveries visibly fail", async () => {
    const { hook, endpoint, event } = await notedEvent(() => 410);
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
    const { endpoint, event } = await notedEvent((call) => (call === 2 ? 204 : 500));
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

  it("keeps the state that its customer set during a call", async () => {
    const held = heldResponse(410);
    const { hook, endpoint, event } = await notedEvent(held.answer);
    const attempt = dispatchWebhook(attemptOf(endpoint, event, 1));
    await hook.waitForCalls(1);
    await updateWebhook(ownerOf(endpoint.organizationId), endpoint.id, { url: "https://example.com/new" });
    held.respond();
    await attempt;
    expect((await getWebhook(ownerOf(endpoint.organizationId), endpoint.id)).status).toBe("enabled");
  });
});

it("forty endpoints at one host get at most 20 parallel calls of an organization, and the others later", async () => {
  let isHolding = true;
  const held: (() => void)[] = [];
  const hook = await openReceiver(() => (response) => {
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
