import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";

import { closeDays } from "../../shared/figures/dashboard/close-days.ts";
import { readNotices } from "../../shared/figures/operators/record.ts";
import { operatorsText } from "../../shared/figures/operators/report.ts";
import { spendSoFar, visitLimits } from "../../shared/figures/operators/spend-so-far.ts";
import { watchSpending } from "../../shared/figures/operators/watch.ts";
import { noteDay } from "../../shared/messages/counts/counts.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { EmailJob } from "../../shared/notices/emails/email-kinds.ts";
import { dayMs, hourMs, minuteMs } from "../../shared/platform/clock.ts";
import { oneShard, reshard, shardsOfDay } from "../../shared/platform/table/shards.ts";
import { advance } from "../support/clock.ts";
import { putSent } from "../support/message-records.ts";
import { acceptBlock, acceptFor } from "../support/messages.ts";
import { useOwnTable } from "../support/own-table.ts";
import { delayedJobs } from "../support/queues.ts";
import { inAllShards } from "../support/shards.ts";
import { openOrganization, openWallet } from "../support/wallets.ts";

const gb = "447700900123";
const ng = "2348030000000";
let organizationId: string;

beforeEach(async () => {
  vi.setSystemTime("2031-03-03T05:00:00Z");
  queued = [];
  await useOwnTable();
  organizationId = await openWallet(1);
});

async function put(to: string, count: number, totalMicros = 46_000, shard = ""): Promise<void> {
  await putSent(organizationId, count, { to, totalMicros }, shard);
}

/** The emails that the watch has queued, some of them delayed. */
let queued: EmailJob[] = [];

/** Runs the watch some minutes later. @returns how many it found */
async function watch(minutes = 2): Promise<number> {
  advance(minutes * minuteMs);
  let found = 0;
  const jobs = await delayedJobs(async () => {
    found = await inAllShards(watchSpending);
  });
  queued.push(...jobs.map(({ body }) => EmailJob.parse(body)));
  return found;
}

/** The unusual spending of a day. */
async function unusual(day = "2031-03-03"): Promise<string[]> {
  const found = (await readNotices(7)).filter((each) => each.day === day);
  return found.map((each) => `${each.country} ${each.messages} ${each.amountMicros} ${each.usualMicros}`);
}

/** The different emails since the last look. */
function emails(): EmailJob[] {
  const jobs = queued;
  queued = [];
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
  emails();
}

describe("the watch over spending", () => {
  it("finds sixty codes to a country that the customer never used, once, with the present figures", async () => {
    await put(gb, 20);
    await put(ng, 60, 14_500);
    expect(await watch()).toBe(1);
    expect(await unusual()).toEqual(["NG 60 870000 0"]);
    const [job, ...others] = emails();
    expect(others).toEqual([]);
    expect(job).toMatchObject({ kind: "operators", notice: { what: "unusualSpend" } });
    const text = await operatorsText(job?.kind === "operators" ? job.notice : { what: "daily" });
    expect(text?.subject).toMatch(/: A customer spends unusually much$/);
    expect(text?.paragraphs).toContain(
      `?: unusual spend ${organizationId} NG 2031-03-03: 60 messages, 0.870000 USD, usual 0.000000 USD`,
    );
    await put(ng, 10, 14_500);
    expect(await watch(60)).toBe(0);
    expect(await unusual()).toEqual(["NG 70 1015000 0"]);
    expect(emails()).toEqual([]);
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
    vi.setSystemTime("2031-03-09T00:00:30Z");
    await put(gb, 30);
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
    const found = await Promise.all([watch(0), watch(0)]);
    expect(found.toSorted()).toEqual([0, 1]);
    expect(await unusual()).toEqual(["NG 80 1160000 0"]);
    expect(emails()).toHaveLength(1);
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

  it("reads each message once, continues where a visit ended, and counts nothing twice", async () => {
    const { messages } = visitLimits;
    visitLimits.messages = 300;
    onTestFinished(() => void (visitLimits.messages = messages));
    const wallet = await readWallet(organizationId);
    const visit = async (): Promise<number[]> => {
      const both = await Promise.all([spendSoFar(wallet, "2031-03-03"), spendSoFar(wallet, "2031-03-03")]);
      return both.flatMap((rows) => rows.map((row) => row.messages));
    };
    await put(gb, 501);
    advance(2 * minuteMs);
    expect(await visit()).toEqual([300, 300]);
    expect(await visit()).toEqual([501, 501]);
    await put(gb, 20);
    // They may still be written: the next visit reads them.
    expect(await visit()).toEqual([501, 501]);
    advance(2 * minuteMs);
    expect(await visit()).toEqual([521, 521]);
    expect(await visit()).toEqual([521, 521]);
  });

  it("emails what a quarter of an hour has found as one digest with names, the largest amount first", async () => {
    await put(ng, 60, 14_500);
    const other = await openOrganization(1);
    await putSent(other, 100, { to: ng, totalMicros: 14_500 });
    await putSent(other, 60, { to: "2217701234567", totalMicros: 10_000 });
    expect(await watch()).toBe(3);
    const [job, ...others] = emails();
    expect(others).toEqual([]);
    const text = await operatorsText(job?.kind === "operators" ? job.notice : { what: "daily" });
    expect(text?.subject).toMatch(/: 3 times unusual spending$/);
    expect(text?.paragraphs.slice(1).map((line) => /: (\d+) messages/.exec(line)?.[1])).toEqual([
      "100",
      "60",
      "60",
    ]);
    expect(text?.paragraphs[1]).toMatch(new RegExp(`^ACME: unusual spend ${other} NG`));
  });

  it("has one email of the day sent from seven o'clock on, and none before", async () => {
    await watch();
    expect(emails()).toEqual([]);
    vi.setSystemTime("2031-03-03T07:05:00Z");
    await watch();
    await watch(60);
    expect(emails()).toEqual([{ kind: "operators", id: "daily-2031-03-03", notice: { what: "daily" } }]);
    expect(await operatorsText({ what: "daily" })).toBeUndefined();
  });
});
