import { beforeEach, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import type { MessageType } from "../../shared/api/contract/sms.ts";
import { MessageJob } from "../../shared/messages/message/message-job.ts";
import { refundMessage } from "../../shared/messages/outcome/refund.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { newId } from "../../shared/platform/ids.ts";
import { bucketName, scheduledJob } from "../../shared/platform/jobs/scheduled-job.ts";
import { releaseScheduledJobs } from "../../shared/platform/jobs/scheduler.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { findItem } from "../../shared/platform/table/read.ts";
import { transact } from "../../shared/platform/table/transact.ts";
import { deleteItem, putItem, putOf, putUnchecked } from "../../shared/platform/table/write.ts";
import { only, reject, ScriptedCarrier } from "../support/carriers.ts";
import { acceptFor } from "../support/messages.ts";
import { useOwnTable } from "../support/own-table.ts";
import { takeJobs } from "../support/queues.ts";
import { inAllShards } from "../support/shards.ts";
import { openWallet } from "../support/wallets.ts";

const start = new Date("2030-06-01T12:00:30Z");

let organizationId: string;
beforeEach(async () => {
  await useOwnTable();
  vi.setSystemTime(start);
  organizationId = await openWallet(1_000_000);
});

async function schedule(scheduledAt: string, messageType?: MessageType): Promise<MessageJob> {
  return acceptFor(organizationId, { scheduledAt, messageType });
}

it("a message due within 15 minutes goes to the queue immediately, with a delay", async () => {
  await schedule("2030-06-01T12:15:30Z");
  // It is on the queue, but not visible yet, and the table holds nothing to release.
  expect(await takeJobs("transactionalSends")).toEqual([]);
  vi.setSystemTime(new Date("2030-06-01T12:20:00Z"));
  expect(await inAllShards(releaseScheduledJobs)).toBe(0);
});

it("a message due later is released in its minute, once, to the queue of its type", async () => {
  const otp = await schedule("2030-06-01T13:00:00.500Z", "otp");
  const marketing = await schedule("2030-06-01T13:00:59Z", "marketing");
  await inAllShards(releaseScheduledJobs);

  vi.setSystemTime(new Date("2030-06-01T12:58:59Z"));
  expect(await inAllShards(releaseScheduledJobs)).toBe(0);
  vi.setSystemTime(new Date("2030-06-01T13:02:00Z"));
  expect(await inAllShards(releaseScheduledJobs)).toBe(2);
  expect(await inAllShards(releaseScheduledJobs)).toBe(0);
  expect(await takeJobs("transactionalSends")).toEqual([otp]);
  expect(await takeJobs("marketingSends")).toEqual([marketing]);
});

it("jobs that fell due during an outage of many hours are released after it, over several runs", async () => {
  await inAllShards(releaseScheduledJobs);
  const jobs = [await schedule("2030-06-01T13:00:00Z"), await schedule("2030-06-01T15:20:00Z")];
  // A run covers at most three hours.
  vi.setSystemTime(new Date("2030-06-01T15:30:00Z"));
  const released: number[] = [];
  for (let run = 0; run < 3; run += 1) released.push(await inAllShards(releaseScheduledJobs));
  expect(released).toEqual([1, 1, 0]);
  const taken = await takeJobs("transactionalSends");
  expect(taken.toSorted(byId)).toEqual(jobs.toSorted(byId));
});

it("jobs that fell due before the first release on a new table are released then", async () => {
  const job = await schedule("2030-06-01T12:16:00Z");
  vi.setSystemTime(new Date("2030-06-01T12:30:00Z"));
  expect(await inAllShards(releaseScheduledJobs)).toBe(1);
  expect(await takeJobs("transactionalSends")).toEqual([job]);
});

it("more jobs in one minute than one batch holds are all released", async () => {
  await inAllShards(releaseScheduledJobs);
  const jobs = Array.from({ length: 450 }, () => ({ organizationId: "org_x", messageId: newId("msg") }));
  for (let first = 0; first < jobs.length; first += 90) {
    const batch = jobs.slice(first, first + 90).map((body) => {
      const due = { id: body.messageId, dueAt: "2030-06-01T13:00:00Z" };
      return scheduledJob(due, { queue: "transactionalSends", group: body.organizationId, body });
    });
    await transact({ jobs: batch });
  }
  vi.setSystemTime(new Date("2030-06-01T13:01:00Z"));
  expect(await inAllShards(releaseScheduledJobs)).toBe(450);
  expect((await takeJobs("transactionalSends")).toSorted(byId)).toEqual(jobs.toSorted(byId));
});

function byId(a: unknown, b: unknown): number {
  return MessageJob.parse(a).messageId.localeCompare(MessageJob.parse(b).messageId);
}

it("a refund whose job was parked is queued once more, because it was owed from the failure on", async () => {
  const job = await acceptFor(organizationId);
  await inAllShards(releaseScheduledJobs);
  await submitMessage(job, only(new ScriptedCarrier(reject)));
  expect(await takeJobs("refunds")).toEqual([job]);

  vi.setSystemTime(new Date(start.getTime() + 21 * 60_000));
  expect(await inAllShards(releaseScheduledJobs)).toBe(1);
  expect(await takeJobs("refunds")).toEqual([job]);
  await refundMessage(job);
  await refundMessage(job);
  expect((await readWallet(organizationId)).balanceMicros).toBe(1_000_000);
});

it("a shard without a release of its own continues where the release of all shards ended", async () => {
  const job = await schedule("2030-06-01T13:00:00Z");
  const key = { pk: "RELEASE#due-jobs", sk: "RELEASE" };
  await putItem(putOf(key, { entity: "release", releasedThrough: "2030-06-01T12:31:00.000Z" }));
  vi.setSystemTime(new Date("2030-06-01T15:00:00Z"));
  expect(await inAllShards(releaseScheduledJobs)).toBe(1);
  expect(await takeJobs("transactionalSends")).toEqual([job]);
});

it("a record that cannot be read delays no other job", async () => {
  await inAllShards(releaseScheduledJobs);
  const jobs = [await schedule("2030-06-01T13:00:00Z"), await schedule("2030-06-01T13:00:01Z")];
  const broken = [0, 1, 2, 3].map((shard) =>
    keys.scheduledJob(`2030-06-01T13:00#${shard}`, "2030-06-01", "x"),
  );
  await Promise.all(broken.map(async (key) => putItem(putUnchecked(key, { entity: "dueJob" }))));
  vi.setSystemTime(new Date("2030-06-01T13:01:00Z"));
  expect(await inAllShards(releaseScheduledJobs)).toBe(2);
  expect((await takeJobs("transactionalSends")).toSorted(byId)).toEqual(jobs.toSorted(byId));
  // They wait in a later bucket.
  const later = broken.map(({ pk, sk }) => ({ pk: pk.replace("13:00", "13:16"), sk }));
  for (const key of later) expect((await deleteItem(key, { present: ["pk"] })).applied).toBe(true);
});

it("a job for a queue that only newer code knows is released by that code, however long this one ran", async () => {
  const id = newId("msg");
  const body = { organizationId: "org_x", messageId: id };
  const due = { id, dueAt: "2030-06-01T13:00:00.000Z" };
  const written = scheduledJob(due, { queue: "transactionalSends", group: "org_x", body });
  const unknownQueue = "voiceCalls";
  await inAllShards(releaseScheduledJobs);
  await putItem(putUnchecked(written.put, { ...written.put, queue: unknownQueue }));
  for (const time of ["13:01:00", "14:00:00", "15:30:00"]) {
    vi.setSystemTime(new Date(`2030-06-01T${time}Z`));
    expect(await inAllShards(releaseScheduledJobs)).toBe(0);
  }
  // Newer code, which knows the queue, begins where this code ended.
  const moved = await inAllShards(async (shard) => {
    const { pk } = keys.scheduledJob(bucketName(new Date("2030-06-01T15:45:00Z"), shard), "", "");
    const found = await findItem(z.looseObject({}), { pk, sk: written.put.sk });
    if (found === undefined) return 0;
    await putItem(putUnchecked({ pk, sk: written.put.sk }, { ...written.put }));
    return 1;
  });
  expect(moved).toBe(1);
  vi.setSystemTime(new Date("2030-06-01T15:46:00Z"));
  expect(await inAllShards(releaseScheduledJobs)).toBe(1);
  expect(await takeJobs("transactionalSends")).toEqual([body]);
});
