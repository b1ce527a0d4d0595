import { beforeEach, describe, expect, it, vi } from "vitest";

import { closeDays } from "../../shared/figures/dashboard/close-days.ts";
import { readNotices } from "../../shared/figures/operators/record.ts";
import { operatorsText } from "../../shared/figures/operators/report.ts";
import { watchSpending } from "../../shared/figures/operators/watch.ts";
import { noteAccepted } from "../../shared/messages/counts/accepted-of-day.ts";
import { noteDay } from "../../shared/messages/counts/counts.ts";
import { EmailJob } from "../../shared/notices/emails/email-kinds.ts";
import { dayMs, hourMs, minuteMs } from "../../shared/platform/clock.ts";
import { oneShard, reshard, shardsOfDay } from "../../shared/platform/table/shards.ts";
import { advance } from "../support/clock.ts";
import { putSent } from "../support/message-records.ts";
import { acceptBlock, acceptFor } from "../support/messages.ts";
import { useOwnTable } from "../support/own-table.ts";
import { takeJobs } from "../support/queues.ts";
import { inAllShards } from "../support/shards.ts";
import { openOrganization, openWallet } from "../support/wallets.ts";

const gb = "447700900123";
const ng = "2348030000000";
let organizationId: string;

beforeEach(async () => {
  vi.setSystemTime("2031-03-03T05:00:00Z");
  await useOwnTable();
  organizationId = await openWallet(1);
});

async function put(to: string, count: number, totalMicros = 46_000, shard = ""): Promise<void> {
  await putSent(organizationId, count, { to, totalMicros }, shard);
}

/** Runs the watch some minutes later. @returns how many it found */
async function watch(minutes = 2): Promise<number> {
  advance(minutes * minuteMs);
  return inAllShards(watchSpending);
}

/** The unusual spending of a day. */
async function unusual(day = "2031-03-03"): Promise<string[]> {
  const found = (await readNotices(7)).filter((each) => each.day === day);
  return found.map((each) => `${each.country} ${each.messages} ${each.amountMicros} ${each.usualMicros}`);
}

/** The different jobs of emails on the queue. */
async function emails(): Promise<EmailJob[]> {
  const jobs = (await takeJobs("emails")).map((each) => EmailJob.parse(each));
  return [...new Map(jobs.map((each) => [each.id, each])).values()];
}

/** Lets days pass with messages each, which are counted. */
async function passDays(days: number, to: string, count: number): Promise<void> {
  for (let day = 0; day < days; day += 1) {
    await put(to, count);
    await watch();
    advance(dayMs);
    await inAllShards(closeDays);
  }
  await emails();
}

describe("the watch over spending", () => {
  it("finds sixty codes to a country that the customer never used, once, with the present figures", async () => {
    await put(gb, 20);
    await put(ng, 60, 14_500);
    expect(await watch()).toBe(1);
    expect(await unusual()).toEqual(["NG 60 870000 0"]);
    const [job, ...others] = await emails();
    expect(others).toEqual([]);
    expect(job).toMatchObject({ kind: "operators", notice: { what: "unusualSpend" } });
    const text = await operatorsText(job?.kind === "operators" ? job.notice : { what: "daily" });
    expect(text?.subject).toMatch(/: A customer spends unusually much$/);
    expect(text?.paragraphs).toContain(
      `unusual spend ${organizationId} NG 2031-03-03: 60 messages, 0.870000 USD, usual 0.000000 USD`,
    );
    await put(ng, 10, 14_500);
    expect(await watch(60)).toBe(0);
    expect(await unusual()).toEqual(["NG 70 1015000 0"]);
    expect(await emails()).toEqual([]);
  });

  it("compares with the days before, yesterday included before it is counted, and adds up a day over its runs", async () => {
    await put(gb, 60);
    expect(await watch()).toBe(1);
    advance(dayMs - 5 * hourMs + 30 * minuteMs);
    // 00:32, when the day before is not counted yet.
    await put(gb, 100);
    expect(await watch()).toBe(0);
    await put(gb, 81);
    expect(await watch(60)).toBe(1);
    expect(await unusual("2031-03-04")).toEqual(["GB 181 8326000 2760000"]);
  });

  it("leaves usual days alone, and finds the messages of the last minutes of a day", async () => {
    await passDays(5, gb, 60);
    await put(gb, 100);
    expect(await watch()).toBe(0);
    vi.setSystemTime("2031-03-08T23:58:00Z");
    await put(gb, 100);
    vi.setSystemTime("2031-03-09T00:10:00Z");
    expect(await watch()).toBe(1);
    expect(await unusual("2031-03-08")).toEqual(["GB 200 9200000 2760000"]);
    expect(await unusual("2031-03-09")).toEqual([]);
  });

  it("counts the messages of all shards once, when two runs are at the same time", async () => {
    await reshard(organizationId, 2, 1);
    await put(ng, 40, 14_500);
    await put(ng, 40, 14_500, "1");
    advance(2 * minuteMs);
    const found = await Promise.all([inAllShards(watchSpending), inAllShards(watchSpending)]);
    expect(found.toSorted()).toEqual([0, 1]);
    expect(await unusual()).toEqual(["NG 80 1160000 0"]);
    expect(await emails()).toHaveLength(1);
    expect(await watch()).toBe(0);
    expect(await unusual()).toEqual(["NG 80 1160000 0"]);
  });

  it("counts messages before they are sent, and not those of tests, from fifty on", async () => {
    organizationId = await openOrganization(10_000_000);
    await acceptBlock(organizationId, 49);
    await acceptFor(organizationId, { test: true });
    const day = "2031-03-03";
    await noteDay(shardsOfDay({ organizationId, ...oneShard }, day)[0]);
    expect(await watch()).toBe(0);
    await acceptBlock(organizationId, 11);
    expect(await watch(60)).toBe(1);
    expect(await unusual()).toEqual(["US 60 474000 0"]);
  });

  it("scales the newest 10,000 messages to all of the day, also when they were accepted in a minute", async () => {
    await passDays(3, gb, 60);
    for (let puts = 0; puts < 20; puts += 1) await put(gb, 501, 500);
    expect(await watch()).toBe(0);
    await noteAccepted(organizationId, { day: "2031-03-06", accepted: 30_000, acceptedMicros: 15_000_000 });
    expect(await watch()).toBe(1);
    expect(await unusual("2031-03-06")).toEqual(["GB 30000 15000000 2760000"]);
  });

  it("has one email of the day sent from seven o'clock on, and none before", async () => {
    await watch();
    expect(await emails()).toEqual([]);
    vi.setSystemTime("2031-03-03T07:05:00Z");
    await watch();
    await watch(60);
    expect(await emails()).toEqual([
      { kind: "operators", id: "daily-2031-03-03", notice: { what: "daily" } },
    ]);
    expect(await operatorsText({ what: "daily" })).toBeUndefined();
  });
});
