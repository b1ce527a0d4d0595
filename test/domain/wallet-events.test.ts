import { beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import type { WebhookEvent } from "../../shared/api/contract/events.ts";
import { launchCampaign } from "../../shared/audience/campaigns/launch.ts";
import { getCampaign } from "../../shared/audience/campaigns/read.ts";
import { runCampaign } from "../../shared/audience/campaigns/run.ts";
import { reconcileWallet } from "../../shared/messages/reconciliation/reconcile.ts";
import { limitDailySpend } from "../../shared/money/wallet/adjust.ts";
import { postToWallet } from "../../shared/money/wallet/post.ts";
import { graceMs } from "../../shared/money/wallet/settlement.ts";
import { updateWallet } from "../../shared/money/wallet/update.ts";
import { hourMs, minuteMs } from "../../shared/platform/clock.ts";
import { releaseScheduledJobs } from "../../shared/platform/jobs/scheduler.ts";
import { WebhookJob } from "../../shared/webhooks/webhook-job.ts";
import { createCampaignTo } from "../support/campaigns.ts";
import { advance } from "../support/clock.ts";
import { acceptFor, priceMicros } from "../support/messages.ts";
import { acceptedOf } from "../support/parallel-sends.ts";
import { takeJobs } from "../support/queues.ts";
import { inAllShards } from "../support/shards.ts";
import { openWallet, openOrganization } from "../support/wallets.ts";

const start = new Date("2030-06-01T12:00:00Z");

beforeEach(() => void vi.setSystemTime(start));

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
    expect(await acceptedOf(6, async () => acceptFor(organizationId))).toBe(6);
    expect(await eventsOf(organizationId)).toEqual([]);
    expect(await acceptedOf(20, async () => acceptFor(organizationId))).toBe(20);
    expect(await acceptedOf(1, async () => acceptFor(organizationId))).toBe(1);
    const events = await eventsOf(organizationId);
    expect(events).toMatchObject([{ event: "balance.low", data: { lowBalanceThreshold: 0.95 } }]);
    await postToWallet({ organizationId, type: "top_up", amountMicros: 200_000 });
    await acceptedOf(1, async () => acceptFor(organizationId));
    expect(await eventsOf(organizationId)).toEqual([]);
    await acceptedOf(5, async () => acceptFor(organizationId));
    expect(await eventsOf(organizationId)).toHaveLength(1);
  });

  it("is not published for a balance that was below the threshold when it was set", async () => {
    const organizationId = await openWallet(1_000_000);
    await updateWallet(organizationId, { lowBalanceThreshold: 5 });
    await acceptedOf(3, async () => acceptFor(organizationId));
    expect(await eventsOf(organizationId)).toEqual([]);
    await updateWallet(organizationId, { lowBalanceThreshold: 0.97 });
    await acceptedOf(1, async () => acceptFor(organizationId));
    expect(await eventsOf(organizationId)).toHaveLength(1);
    await updateWallet(organizationId, { lowBalanceThreshold: null });
    await acceptedOf(1, async () => acceptFor(organizationId));
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
    await acceptedOf(1, async () => acceptFor(organizationId));
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
  expect(await acceptedOf(10, async () => acceptFor(organizationId))).toBe(10);
  expect(await eventsOf(organizationId)).toEqual([]);
  expect(await acceptedOf(50, async () => acceptFor(organizationId))).toBe(0);
  expect(await acceptedOf(1, async () => acceptFor(organizationId))).toBe(0);
  expect(await eventsOf(organizationId)).toMatchObject([
    {
      event: "spend.cap_reached",
      data: { dailySpendCap: 0.079, spentToday: 0.079, resetsAt: "2030-06-02T00:00:00.000Z" },
    },
  ]);
  advance(24 * hourMs);
  expect(await acceptedOf(20, async () => acceptFor(organizationId))).toBe(10);
  expect(await eventsOf(organizationId)).toHaveLength(1);
});

it("a campaign that reaches the cap waits for the next day, or for a higher cap", async () => {
  const organizationId = await openOrganization(10_000_000);
  await limitDailySpend(organizationId, 3 * priceMicros);
  const campaignId = await createCampaignTo(organizationId, 7);
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
