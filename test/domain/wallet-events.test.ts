import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import type { WebhookEvent } from "../../shared/api/contract/events.ts";
import { launchCampaign } from "../../shared/audience/campaigns/launch.ts";
import { getCampaign } from "../../shared/audience/campaigns/read.ts";
import { runCampaign } from "../../shared/audience/campaigns/run.ts";
import { createContact } from "../../shared/audience/contacts/contacts.ts";
import { reconcileWallet } from "../../shared/messages/reconciliation/reconcile.ts";
import { limitDailySpend } from "../../shared/money/wallet/adjust.ts";
import { postToWallet } from "../../shared/money/wallet/post.ts";
import { graceMs } from "../../shared/money/wallet/settlement.ts";
import { updateWallet } from "../../shared/money/wallet/update.ts";
import { hourMs, minuteMs } from "../../shared/platform/clock.ts";
import { releaseScheduledJobs } from "../../shared/platform/jobs/scheduler.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { putItem, putOf } from "../../shared/platform/table/write.ts";
import { WebhookJob } from "../../shared/webhooks/webhook-job.ts";
import { acceptMessage, createCampaign } from "../support/as-organization.ts";
import { useOwnTable } from "../support/own-table.ts";
import { takeJobs } from "../support/queues.ts";
import { inAllShards } from "../support/shards.ts";
import { openWallet } from "../support/wallets.ts";

await useOwnTable();

const start = new Date("2030-06-01T12:00:00Z");
const priceMicros = 7_900;
const request = { to: "15005550000", message: "hi", senderId: "ACME", language: "English" } as const;

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: start }));
afterEach(async () => {
  // Each test begins with empty queues.
  await takeJobs("webhookDeliveries");
  vi.useRealTimers();
});

function advance(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

async function sendAtOnce(organizationId: string, count: number): Promise<number> {
  const sends = Array.from({ length: count }, async () => acceptMessage(organizationId, request));
  const results = await Promise.allSettled(sends);
  return results.filter(({ status }) => status === "fulfilled").length;
}

/** The events of an organization that were queued since the last call. */
async function eventsOf(organizationId: string): Promise<WebhookEvent[]> {
  const jobs = z.array(WebhookJob).parse(await takeJobs("webhookDeliveries"));
  return jobs.flatMap((job) =>
    job.kind === "event" && job.organizationId === organizationId ? [job.event] : [],
  );
}

describe("the event balance.low", () => {
  it("is published once, however many debits are below the threshold, and again after a credit", async () => {
    const organizationId = await openWallet(1_000_000);
    await updateWallet(organizationId, { lowBalanceThreshold: 0.95 });
    expect(await sendAtOnce(organizationId, 6)).toBe(6);
    expect(await eventsOf(organizationId)).toEqual([]);
    expect(await sendAtOnce(organizationId, 20)).toBe(20);
    expect(await sendAtOnce(organizationId, 1)).toBe(1);
    const events = await eventsOf(organizationId);
    expect(events).toMatchObject([{ event: "balance.low", data: { lowBalanceThreshold: 0.95 } }]);
    await postToWallet({ organizationId, type: "top_up", amountMicros: 200_000 });
    await sendAtOnce(organizationId, 1);
    expect(await eventsOf(organizationId)).toEqual([]);
    await sendAtOnce(organizationId, 5);
    expect(await eventsOf(organizationId)).toHaveLength(1);
  });

  it("is not published for a balance that was below the threshold when it was set", async () => {
    const organizationId = await openWallet(1_000_000);
    await updateWallet(organizationId, { lowBalanceThreshold: 5 });
    await sendAtOnce(organizationId, 3);
    expect(await eventsOf(organizationId)).toEqual([]);
    await updateWallet(organizationId, { lowBalanceThreshold: 0.97 });
    await sendAtOnce(organizationId, 1);
    expect(await eventsOf(organizationId)).toHaveLength(1);
    await updateWallet(organizationId, { lowBalanceThreshold: null });
    await sendAtOnce(organizationId, 1);
    expect(await eventsOf(organizationId)).toEqual([]);
  });

  it("is published by the reconciler where no debit could publish it", async () => {
    const organizationId = await openWallet(1_000_000);
    await updateWallet(organizationId, { lowBalanceThreshold: 0.95 });
    await postToWallet({ organizationId, type: "correction", amountMicros: -100_000, reason: "x" });
    advance(graceMs + minuteMs);
    await reconcileWallet(organizationId);
    await reconcileWallet(organizationId);
    expect(await eventsOf(organizationId)).toMatchObject([{ data: { balance: 0.9 } }]);
  });

  it("is published a second time with the same id, in case its first job was lost", async () => {
    const organizationId = await openWallet(1_000_000);
    await updateWallet(organizationId, { lowBalanceThreshold: 1 });
    await sendAtOnce(organizationId, 1);
    const [event] = await eventsOf(organizationId);
    advance(16 * minuteMs);
    await inAllShards(releaseScheduledJobs);
    expect(event).toBeDefined();
    expect(await eventsOf(organizationId)).toEqual([event]);
  });
});

it("the event spend.cap_reached is published at the first rejection of each day", async () => {
  const organizationId = await openWallet(10_000_000);
  await limitDailySpend(organizationId, 10 * priceMicros);
  expect(await sendAtOnce(organizationId, 10)).toBe(10);
  expect(await eventsOf(organizationId)).toEqual([]);
  expect(await sendAtOnce(organizationId, 50)).toBe(0);
  expect(await sendAtOnce(organizationId, 1)).toBe(0);
  expect(await eventsOf(organizationId)).toMatchObject([
    {
      event: "spend.cap_reached",
      data: { dailySpendCap: 0.079, spentToday: 0.079, resetsAt: "2030-06-02T00:00:00.000Z" },
    },
  ]);
  advance(24 * hourMs);
  expect(await sendAtOnce(organizationId, 20)).toBe(10);
  expect(await eventsOf(organizationId)).toHaveLength(1);
});

it("a campaign that reaches the cap waits for the next day, or for a higher cap", async () => {
  const organizationId = await openWallet(10_000_000);
  const organization = { id: organizationId, name: "Acme", createdAt: start.toISOString() };
  await putItem(putOf(keys.organization(organizationId), { entity: "organization", ...organization }));
  for (let index = 0; index < 7; index += 1) {
    const phoneNumber = String(15_006_000_000 + index);
    await createContact(organizationId, { phoneNumber, tags: [], attributes: {}, optedOut: false });
  }
  await limitDailySpend(organizationId, 3 * priceMicros);
  const { id: campaignId } = await createCampaign(organizationId, {
    name: "Spring",
    message: "hi",
    audience: { all: true },
    senderId: "ACME",
    language: "English",
    messageType: "marketing",
  });
  await launchCampaign(organizationId, campaignId);
  /** Runs the campaign until it completes or waits. @returns its state */
  const run = async (): Promise<unknown> => {
    await runCampaign({ organizationId, campaignId }, { blocks: 5, blockSize: 2, timeMs: minuteMs });
    const { status, waitsUntil, progress } = await getCampaign(organizationId, campaignId);
    return { status, waitsUntil, accepted: progress.accepted };
  };
  const waiting = { status: "sending", waitsUntil: "2030-06-02T00:00:00.000Z" };
  expect(await run()).toEqual({ ...waiting, accepted: 3 });
  await limitDailySpend(organizationId, 4 * priceMicros);
  advance(14 * minuteMs);
  // Its next run is deferred.
  expect(await run()).toEqual({ ...waiting, accepted: 3 });
  advance(minuteMs);
  expect(await run()).toEqual({ ...waiting, accepted: 4 });
  advance(12 * hourMs);
  expect(await run()).toEqual({ status: "sending", waitsUntil: undefined, accepted: 7 });
  expect(await eventsOf(organizationId)).toHaveLength(1);
});
