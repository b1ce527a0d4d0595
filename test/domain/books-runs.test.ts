import { beforeEach, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { follow } from "../../infra/operator/books.ts";
import { ApiError } from "../../shared/api/contract/errors.ts";
import { runClosing } from "../../shared/figures/books/close.ts";
import { ClosingJob, findClosing, startClosing } from "../../shared/figures/books/closing.ts";
import { findBooks, findBooksTotal } from "../../shared/figures/books/record.ts";
import { noFigures, writeFigures, noMessages } from "../../shared/messages/counts/figures.ts";
import { minuteMs, now } from "../../shared/platform/clock.ts";
import { bucketName, minScheduledMs, ScheduledJobRecord } from "../../shared/platform/jobs/scheduled-job.ts";
import { shardOf } from "../../shared/platform/jobs/shards.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { findItem } from "../../shared/platform/table/read.ts";
import { at, chargeMessages, closeBooks, closing, post, settleAll } from "../support/books.ts";
import { advance } from "../support/clock.ts";
import { dayShardOf } from "../support/organization-shards.ts";
import { useOwnTable } from "../support/own-table.ts";
import { takeJobs } from "../support/queues.ts";
import { interceptTableRequests } from "../support/table-requests.ts";
import { openWallet } from "../support/wallets.ts";

const march = "2031-03";
const noTime = () => 0;

beforeEach(async () => {
  at("2031-03-10T12:00:00.000Z");
  await useOwnTable();
  await takeBooksJobs();
});

async function takeBooksJobs(): Promise<ClosingJob[]> {
  return z.array(ClosingJob).parse(await takeJobs("books"));
}

/** Opens wallets, each with charges, and settles them after the end of March. */
async function customersWith(entries: number, howMany: number): Promise<string[]> {
  const customers: string[] = [];
  for (let opened = 0; opened < howMany; opened += 1) customers.push(await openWallet(1_000_000));
  for (const customer of customers) {
    for (let count = 1; count < entries; count += 1) {
      await chargeMessages(customer, { amountMicros: count, country: "GB", at: "2031-03-10T12:00:00.000Z" });
    }
    await post(customer, "payment", 7, "2031-03-11T12:00:00.000Z");
  }
  await settleAll("2031-04-02T00:00:00.000Z", customers);
  return customers;
}

it("runs without time close ledgers entry by entry, with the sums of a single run", async () => {
  const [customer = ""] = await customersWith(6, 1);
  await expect(closeBooks(march, closing, noTime)).resolves.toMatchObject({
    closingMicros: 1_000_000 - 15 + 7,
    movements: { top_up: 1_000_000, message: -15, payment: 7 },
    messages: 5,
  });
  expect((await findClosing(march))?.runs).toBe(7);
  expect(await findBooks(march, customer)).toMatchObject({
    countries: [expect.objectContaining({ country: "GB", messages: 5, revenueMicros: 15 })],
    readSeq: 7,
    closedSeq: 7,
  });
});

it("runs continue after the organizations of the runs before", async () => {
  await customersWith(1, 19);
  await expect(closeBooks(march, closing, noTime)).resolves.toMatchObject({
    organizations: 19,
    closingMicros: 19 * 1_000_007,
  });
  // Each wallet has two entries. Each run without time ends after an entry of a batch of eight.
  expect((await findClosing(march))?.runs).toBe(6);
});

it("jobs that arrive twice at the same time, or a week later, add nothing twice", async () => {
  await customersWith(1, 9);
  const job = await startClosing(march, closing);
  for (let jobs = await takeBooksJobs(); jobs.length > 0; jobs = await takeBooksJobs()) {
    // Only one of the jobs that run twice continues.
    expect(jobs).toHaveLength(1);
    await Promise.all([...jobs, ...jobs].map((each) => runClosing(each, noTime)));
  }
  const total = await findBooksTotal(march);
  expect(total).toMatchObject({ organizations: 9, closingMicros: 9 * 1_000_007 });
  at("2031-04-09T00:00:00.000Z");
  await runClosing(job, noTime);
  expect(await findBooksTotal(march)).toEqual(total);
});

it("a run that dies after any of its writes is repeated with the same result", async () => {
  await customersWith(2, 2);
  const job = await startClosing(march, closing);
  let dies = false;
  interceptTableRequests(async (command, send) => {
    const isWrite = /Put|Transact/.test(command.constructor.name);
    const output = await send();
    // No code handles this error as one of an organization.
    if (isWrite && dies) throw new ApiError("UNAVAILABLE");
    return output;
  });
  let runs = 0;
  for (; runs < 20 && (await findBooksTotal(march)) === undefined; runs += 1) {
    dies = true;
    await expect(runClosing(job, noTime)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    dies = runs % 3 !== 2;
    await runClosing(job, noTime).catch(() => undefined);
  }
  expect(runs).toBeGreaterThan(2);
  expect(await findBooksTotal(march)).toMatchObject({ organizations: 2, closingMicros: 2 * 1_000_006 });
});

it("a repeated command continues the same closing, and another one replaces it", async () => {
  await customersWith(3, 1);
  const first = await startClosing(march, closing);
  await runClosing(first, noTime);
  expect(await startClosing(march, closing)).toMatchObject({ id: first.id, runs: 1 });
  const second = await startClosing(march, { ...closing, accepted: ["org_1:2"], reason: "Ticket 1" });
  expect(second.id).not.toBe(first.id);
  await runClosing(first, () => 60_000);
  expect(await findClosing(march)).toMatchObject({ id: second.id, runs: 0, status: "running" });
  await runClosing(second, () => 60_000);
  expect(await findBooksTotal(march)).toMatchObject({ organizations: 1, movements: { message: -3 } });
});

it("of two commands at the same time one begins, and its job also waits in the table", async () => {
  await customersWith(1, 1);
  const both = [closing, { ...closing, accepted: ["org_1:2"], reason: "Ticket 1" }];
  const started = await Promise.allSettled(both.map((each) => startClosing(march, each)));
  expect(started.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  const job = { month: march, id: (await findClosing(march))?.id ?? "" };
  expect(await takeBooksJobs()).toEqual([job]);
  const dueAt = new Date(now().getTime() + minScheduledMs);
  const waiting = keys.scheduledJob(bucketName(dueAt, shardOf(job.id)), dueAt.toISOString(), job.id);
  expect(await findItem(ScheduledJobRecord, waiting)).toMatchObject({ queue: "books", body: job });
});

it("a month cannot be closed while the closing of the month before is open, so that no later costs get lost", async () => {
  const customer = await openWallet(1_000_000);
  const shard = dayShardOf(customer, "2031-03-11");
  const margin = { country: "GB", carrier: "aws", messages: 1, segments: 1, revenueMicros: 10 };
  const costs = (costMicros: number) => [{ ...noMessages, ...margin, costMicros }];
  await writeFigures(shard, { ...noFigures, margins: costs(400) }, false);
  at("2031-05-02T00:00:00.000Z");
  await startClosing(march, closing);
  const ofApril = async () => closeBooks("2031-04", closing);
  await expect(ofApril()).rejects.toThrow("Run books close 2031-03 first: its closing is running.");
  // Its ledger is not settled.
  await expect(closeBooks(march, closing)).rejects.toThrow("and not for 1:");
  await expect(ofApril()).rejects.toThrow("its closing is failed");
  await settleAll("2031-05-02T00:00:00.000Z", [customer]);
  await closeBooks(march, closing);
  await writeFigures(shard, { ...noFigures, margins: costs(450) }, true);
  expect(await ofApril()).toMatchObject({ costMicros: 50 });
});

/** Writes the costs of the messages of a day. They are final when all messages are sent. */
async function costsOn(
  day: string,
  customer: string,
  { costMicros, isFinal }: { readonly costMicros: number; readonly isFinal: boolean },
): Promise<void> {
  const margin = { country: "GB", carrier: "aws", messages: 1, segments: 1, revenueMicros: 10 };
  const margins = [{ ...noMessages, ...margin, costMicros }];
  await writeFigures(dayShardOf(customer, day), { ...noFigures, margins }, isFinal);
}

it("months are closed in order, so that later costs of a day that was open get into later books", async () => {
  const [customer = ""] = await customersWith(1, 1);
  await settleAll("2031-08-02T00:00:00.000Z", [customer]);
  await costsOn("2031-03-20", customer, { costMicros: 100, isFinal: false });
  const { costMicros } = await closeBooks(march, closing);
  const ofJune = async () => closeBooks("2031-06", closing);
  await expect(ofJune()).rejects.toThrow("Run books close 2031-04 first: months are closed in order.");
  const april = await closeBooks("2031-04", closing);
  await costsOn("2031-03-20", customer, { costMicros: 150, isFinal: true });
  const may = await closeBooks("2031-05", closing);
  const june = await ofJune();
  expect([costMicros, april.costMicros, may.costMicros, june.costMicros]).toEqual([100, 0, 50, 0]);
});

it("a month before the first books is closed only when the costs of its days are final", async () => {
  const [customer = ""] = await customersWith(1, 1);
  await settleAll("2031-06-02T00:00:00.000Z", [customer]);
  await costsOn("2031-03-20", customer, { costMicros: 400, isFinal: false });
  await expect(closeBooks("2031-05", closing)).resolves.toMatchObject({ openingMicros: 1_000_007 });
  const later = "are still to be sent, and the books of a later month are closed";
  await expect(closeBooks(march, closing)).rejects.toThrow(later);
  await costsOn("2031-03-20", customer, { costMicros: 450, isFinal: true });
  await expect(closeBooks(march, closing)).resolves.toMatchObject({
    costMicros: 450,
    closingMicros: 1_000_007,
  });
});

it("counts customers with a movement or a balance, and rejects a month without any", async () => {
  const [customer = ""] = await customersWith(1, 1);
  await openWallet(0);
  await expect(closeBooks("2031-02", closing)).rejects.toThrow(
    "No customer had a movement or a balance in 2031-02.",
  );
  await post(customer, "payment_refund", -1_000_007, "2031-04-02T00:00:00.000Z");
  at("2031-04-02T01:00:00.000Z");
  await settleAll("2031-06-02T00:00:00.000Z", [customer]);
  expect(await closeBooks(march, closing)).toMatchObject({ organizations: 1 });
  expect(await closeBooks("2031-04", closing)).toMatchObject({ organizations: 1, closingMicros: 0 });
  const other = await openWallet(5);
  await settleAll("2031-08-02T00:00:00.000Z", [customer, other]);
  await expect(closeBooks("2031-05", closing)).rejects.toThrow("No customer had");
  expect(await closeBooks("2031-06", closing)).toMatchObject({ organizations: 1, closingMicros: 5 });
});

it.each([
  ["none", 0, 1],
  ["one that it has not seen", 1, 2],
])("the command waits ten minutes after the last run, here %s", async (_, runs, waits) => {
  await customersWith(3, 1);
  const { id } = await startClosing(march, closing);
  if (runs > 0) await runClosing({ month: march, id }, noTime);
  const progress = vi.fn<() => void>(() => advance(11 * minuteMs));
  await expect(follow(march, id, { progress })).rejects.toThrow("has made no progress for ten minutes");
  expect(progress).toHaveBeenCalledTimes(waits);
});
