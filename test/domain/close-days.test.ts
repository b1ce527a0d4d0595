import { beforeEach, expect, it, vi } from "vitest";

import { ApiError } from "../../shared/api/contract/errors.ts";
import { closeDays } from "../../shared/figures/dashboard/close-days.ts";
import { getDashboardStats } from "../../shared/figures/dashboard/stats.ts";
import { noteAccepted } from "../../shared/messages/counts/accepted-of-day.ts";
import { countOutcomes, countReceipts, CountsRecord } from "../../shared/messages/counts/counts.ts";
import { messagesOfDay, recount } from "../../shared/messages/counts/recount.ts";
import type { MessageJob } from "../../shared/messages/message/message-job.ts";
import { getMessage } from "../../shared/messages/message/read.ts";
import type { MessageRecord } from "../../shared/messages/message/record.ts";
import { recordDeliveryReceipt } from "../../shared/messages/outcome/receipts.ts";
import { reconcileWallets } from "../../shared/messages/reconciliation/run.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { startDay } from "../../shared/money/wallet/spending-limits.ts";
import { updateWallet } from "../../shared/money/wallet/update.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { findItem } from "../../shared/platform/table/read.ts";
import {
  deleteItem,
  updateItem,
  updateOf,
  type Write,
  checkOf,
  putUnchecked,
} from "../../shared/platform/table/write.ts";
import { only } from "../support/carriers.ts";
import { acceptFor, recordOf, sendFor } from "../support/messages.ts";
import { dayShardOf } from "../support/organization-shards.ts";
import { inAllShards } from "../support/shards.ts";
import { ownerOf } from "../support/viewer.ts";
import { chargeWallet, openWallet } from "../support/wallets.ts";

const day = "2031-03-01";

let organizationId: string;
beforeEach(async () => {
  vi.setSystemTime(new Date(`${day}T23:59:58Z`));
  organizationId = await openWallet(1_000_000);
});

/** Makes three messages of the organization. */
async function three(make: typeof sendFor): Promise<readonly [MessageJob, MessageJob, MessageJob]> {
  return [await make(organizationId), await make(organizationId), await make(organizationId)];
}

/** Closes days at a time, as the worker does. */
async function closeAt(moment: string): Promise<void> {
  vi.setSystemTime(new Date(moment));
  await inAllShards(closeDays);
}

/** Changes a counter as a crash between a change and its count does. */
async function skew(): Promise<void> {
  await updateItem(
    CountsRecord,
    updateOf(dayShardOf(organizationId, day).counter, {
      set: { entity: "messageCounts" },
      add: { accepted: -2, sent: 5, spentMicros: 5 },
    }),
  );
}

/** Settling a wallet adds the days of its accepted messages to the pending-work index. */
async function settleWallets(): Promise<void> {
  vi.setSystemTime(new Date("2031-03-02T00:15:00Z"));
  await inAllShards(async (shard) => (await reconcileWallets(shard)).wallets);
}

async function countsOf(): Promise<CountsRecord | undefined> {
  return findItem(CountsRecord, dayShardOf(organizationId, day).counter, { consistent: true });
}

it("a past day is counted again and closed, and no late count changes it", async () => {
  const jobs = await three(sendFor);
  await skew();

  await settleWallets();
  await closeAt("2031-03-02T00:59:00Z");
  expect((await countsOf())?.closedAt).toBeUndefined();
  await closeAt("2031-03-02T01:00:00Z");
  const exact = { accepted: 3, sent: 3, failed: 0, cancelled: 0, spentMicros: 23_700 };
  expect(await countsOf()).toMatchObject({ ...exact, closedAt: "2031-03-02T01:00:00.000Z" });

  await countOutcomes([await recordOf(jobs[0])]);
  expect(await countsOf()).toMatchObject(exact);
  expect((await getDashboardStats(organizationId)).days[1]).toMatchObject({
    date: day,
    accepted: 3,
    queued: 0,
    sent: 3,
    deliveryRate: 1,
    spend: 0.0237,
  });
});

it("a day with a waiting message stays open, is counted once a day, and closes after that message", async () => {
  const job = await acceptFor(organizationId, { scheduledAt: "2031-03-11T12:00:00Z" });
  await skew();
  await settleWallets();
  await closeAt("2031-03-02T01:30:00Z");
  expect(await countsOf()).toMatchObject({ accepted: 1, sent: 0, spentMicros: 7_900 });
  await skew();
  await closeAt("2031-03-02T02:30:00Z");
  expect(await countsOf()).toMatchObject({ accepted: -1, sent: 5 });

  vi.setSystemTime(new Date("2031-03-11T12:00:01Z"));
  await submitMessage(job, only());
  await closeAt("2031-03-12T01:30:00Z");
  const counts = await countsOf();
  expect(counts).toMatchObject({ accepted: 1, sent: 1, closedAt: "2031-03-12T01:30:00.000Z" });
});

it("a day whose counts were all lost is counted, because its ledger is settled", async () => {
  await sendFor(organizationId);
  await deleteItem(dayShardOf(organizationId, day).counter);
  await settleWallets();
  await closeAt("2031-03-02T01:00:00Z");
  const closed = { accepted: 1, sent: 1, spentMicros: 7_900, closedAt: "2031-03-02T01:00:00.000Z" };
  expect(await countsOf()).toMatchObject(closed);
});

it("receipts are counted on a day at any time, also after its close, and none is lost between two counts", async () => {
  const jobs = await three(sendFor);
  const hear = async (job: MessageJob, status: "delivered" | "undelivered" = "delivered"): Promise<void> => {
    const heard = await recordDeliveryReceipt({ ...job, status, at: new Date().toISOString() });
    if (heard !== undefined) await countReceipts([heard]);
  };
  await hear(jobs[0], "undelivered");
  await settleWallets();
  await closeAt("2031-03-02T01:00:00Z");
  expect(await countsOf()).toMatchObject({ sent: 3, delivered: 0, undelivered: 1 });
  expect((await countsOf())?.closedAt).toBeDefined();
  // A week late, and with a change of the first receipt's status.
  vi.setSystemTime(new Date("2031-03-09T01:00:00Z"));
  await hear(jobs[0]);
  await hear(jobs[0]);
  await hear(jobs[1], "undelivered");
  const counts = await countsOf();
  expect(counts).toMatchObject({ sent: 3, delivered: 1, undelivered: 1 });
  expect(counts?.pendingWork).toBeUndefined();
});

it("a message without a receipt is pending for a week, and unknown from then on until one comes", async () => {
  const job = await acceptFor(organizationId);
  const { messageId } = job;
  expect((await getMessage(ownerOf(organizationId), messageId)).delivery).toBeUndefined();
  await submitMessage(job, only());
  const sentAt = `${day}T23:59:58.000Z`;
  expect((await getMessage(ownerOf(organizationId), messageId)).delivery).toEqual({
    status: "pending",
    at: sentAt,
  });
  vi.setSystemTime(new Date("2031-03-08T23:59:58Z"));
  const unknown = { status: "unknown", at: "2031-03-08T23:59:58.000Z" };
  expect((await getMessage(ownerOf(organizationId), messageId)).delivery).toEqual(unknown);
  const at = "2031-03-08T23:59:58.000Z";
  await recordDeliveryReceipt({ ...job, status: "undelivered", errorCode: "DELIVERY_EXPIRED", at });
  const { status, delivery } = await getMessage(ownerOf(organizationId), messageId);
  expect([status, delivery]).toEqual(["sent", { status: "undelivered", at, errorCode: "DELIVERY_EXPIRED" }]);
  // Another test counts the closings of days.
  await inAllShards(closeDays);
});

it("a day with an outcome between any two counts is still counted completely", async () => {
  const jobs: MessageJob[] = [];
  for (let count = 0; count < 5; count += 1) jobs.push(await sendFor(organizationId));
  vi.setSystemTime(new Date("2031-03-02T01:00:00Z"));
  const looks: string[] = [];
  for (const job of jobs) {
    looks.push(await recount(messagesOfDay(dayShardOf(organizationId, day)), { batches: 1, batchSize: 2 }));
    // A late count of a message that ended before.
    await countOutcomes([await recordOf(job)]);
  }
  expect(looks).toEqual(["unfinished", "unfinished", "closed", "closed", "closed"]);
  expect(await countsOf()).toMatchObject({ accepted: 5, sent: 5, failed: 0 });
});

it("a day that is closed or not over is not counted", async () => {
  await sendFor(organizationId);
  await settleWallets();
  vi.setSystemTime(new Date("2031-03-02T01:00:00Z"));
  expect(await inAllShards(closeDays)).toBeGreaterThan(0);
  await acceptFor(organizationId);
  vi.setSystemTime(new Date("2031-03-02T12:00:00Z"));
  expect(await inAllShards(closeDays)).toBe(0);
  expect(await countsOf()).not.toHaveProperty("pendingWork");
});

it("messages that end together are counted with one write per day and one per campaign", async () => {
  const jobs = await three(acceptFor);
  const ended: MessageRecord[] = [];
  for (const job of jobs) {
    const message = await submitMessage(job, only());
    if (message !== undefined) ended.push({ ...message, campaignId: "cmp_spring" });
  }
  await countOutcomes(ended);
  expect(await countsOf()).toMatchObject({ sent: 3, changes: 1 });
  const { today } = await getDashboardStats(organizationId);
  expect(today).toMatchObject({ accepted: 3, sent: 3, queued: 0, spend: 0.0237 });
  const ofCampaign = await findItem(CountsRecord, keys.campaignCounts(organizationId, "cmp_spring"));
  expect(ofCampaign).toMatchObject({ sent: 3, changes: 1 });
});

it("the figures of a day stay when many sends begin the next day at the same time", async () => {
  await acceptFor(organizationId);
  await acceptFor(organizationId, { scheduledAt: "2031-03-11T12:00:00Z" });
  expect((await getDashboardStats(organizationId)).today).toMatchObject({ date: day, accepted: 2 });

  vi.setSystemTime(new Date("2031-03-02T00:00:01Z"));
  const yesterday = { date: day, accepted: 2, queued: 2, spend: 0.0158 };
  expect((await getDashboardStats(organizationId)).days[1]).toMatchObject(yesterday);
  await Promise.all(Array.from({ length: 20 }, async () => acceptFor(organizationId)));
  const { days, today, last30Days } = await getDashboardStats(organizationId);
  expect(days[1]).toMatchObject(yesterday);
  expect(today).toMatchObject({ accepted: 20, spend: 0.158 });
  expect(last30Days).toMatchObject({ accepted: 22, spend: 0.1738 });

  // Counted by its messages, of which one still waits, and noted once more by a late function.
  await settleWallets();
  await closeAt("2031-03-02T01:00:00Z");
  await noteAccepted(organizationId, { day, accepted: 9, acceptedMicros: 9 });
  expect((await getDashboardStats(organizationId)).days[1]).toMatchObject(yesterday);
});

it("no debit of a day that ends meanwhile is lost when the wallet moves to the next day", async () => {
  await acceptFor(organizationId);
  const seen = await readWallet(organizationId);
  // By a slow clock, after the wallet was read.
  await acceptFor(organizationId);
  vi.setSystemTime(new Date("2031-03-02T00:00:01Z"));
  await startDay(seen, async (accepted) => noteAccepted(organizationId, accepted));
  expect(await readWallet(organizationId)).toMatchObject({ spendDay: day, acceptedToday: 2 });
  await acceptFor(organizationId);
  expect(await readWallet(organizationId)).toMatchObject({ spendDay: "2031-03-02", acceptedToday: 1 });
  const { days } = await getDashboardStats(organizationId);
  expect(days.slice(0, 2)).toMatchObject([{ accepted: 1 }, { accepted: 2, spend: 0.0158 }]);
});

it("a wallet whose daily figures cannot be saved stays on its day", async () => {
  await acceptFor(organizationId);
  vi.setSystemTime(new Date("2031-03-02T00:00:01Z"));
  const fails = startDay(await readWallet(organizationId), async () => {
    throw new ApiError("UNAVAILABLE");
  });
  await expect(fails).rejects.toThrow(ApiError);
  expect(await readWallet(organizationId)).toMatchObject({ spendDay: day, acceptedToday: 1 });
});

const otherItem = keys.campaign("other", "subject");

it.each<[string, Write]>([
  ["is invalid", putUnchecked({ pk: "", sk: "" }, {})],
  ["its caller rejects", checkOf(otherItem, { is: { status: "sending" } })],
])("a debit whose record %s is returned immediately, and not counted", async (_name, write) => {
  await updateWallet(organizationId, { dailySpendCap: 0.01 });
  await acceptFor(organizationId);
  const lost = chargeWallet(organizationId, { micros: [2_000], together: [write] });
  await expect(lost).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(await readWallet(organizationId)).toMatchObject({
    balanceMicros: 992_100,
    spentTodayMicros: 7_900,
    spendLeftMicros: 2_100,
    acceptedToday: 1,
  });
  expect((await getDashboardStats(organizationId)).today).toMatchObject({ accepted: 1, spend: 0.0079 });
});
