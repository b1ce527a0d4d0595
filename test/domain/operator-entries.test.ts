import { expect, it, vi } from "vitest";

import { dayMs, hourMs } from "../../shared/platform/clock.ts";
import { momentOf, newId } from "../../shared/platform/ids.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { putItem, putUnchecked } from "../../shared/platform/table/write.ts";
import { readAuditLog } from "../../shared/tenancy/audit-log/list.ts";
import { OperatorEntry, writeOperatorEntry } from "../../shared/tenancy/audit-log/operator-entries.ts";
import { queueEntry, queueOutcome } from "../../shared/tenancy/audit-log/queue-entry.ts";
import { delayedJobs } from "../support/queues.ts";
import { interceptTableRequests } from "../support/table-requests.ts";

/*
 * The entries that operators queue: each is written once, in the name of its sender.
 */

const [ada, mallory] = ["AROA1:ada", "AROA1:mallory"];
const claimedArn = "arn:aws:sts::123456789012:assumed-role/Operator/ada";

function entry() {
  const event = { organizationId: newId("org"), action: "wallets credit", subject: { amount: "5" } };
  return { id: newId("aud"), event, claimedArn };
}

/** Writes an entry whose job was sent now. */
const write = async (job: OperatorEntry, senderId: string): Promise<void> =>
  writeOperatorEntry(job, senderId, new Date());

const logOf = async ({ event }: ReturnType<typeof entry>): Promise<unknown[]> =>
  readAuditLog(event.organizationId, { limit: 10 });

it("names the sender, not who the job claims to be from", async () => {
  const queued = entry();
  await write(queued, mallory);
  expect(await logOf(queued)).toMatchObject([
    { id: queued.id, actor: { type: "operator", identity: mallory, claimedArn }, outcome: "unknown" },
  ]);
});

it("writes an entry and its outcome once, in any order and however often they arrive", async () => {
  const queued = entry();
  const outcome = { ...queued, ending: { outcome: "done", after: { balanceMicros: 5 } } } as const;
  for (const job of [outcome, queued, outcome, queued]) await write(job, ada);
  const log = await logOf(queued);
  expect(log).toHaveLength(1);
  expect(log).toMatchObject([{ ...outcome.ending, subject: { amount: "5" }, actor: { identity: ada } }]);
});

it("lets no one change the entry of another person, or decide its outcome", async () => {
  const queued = entry();
  await write(queued, ada);
  const forged = {
    ...queued,
    event: { ...queued.event, action: "x" },
    ending: { outcome: "refused" },
  } as const;
  await expect(write(forged, mallory)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  // Their own entries they can complete, but not rewrite.
  await write(forged, ada);
  expect(await logOf(queued)).toMatchObject([{ action: "wallets credit", outcome: "refused" }]);
});

it("queues an entry before the action, and repeats it with the outcome", async () => {
  const { event } = entry();
  const jobs = await delayedJobs(async () => {
    const queued = await queueEntry({ event, claimedArn });
    await queueOutcome({ ...queued, ending: { outcome: "done" } });
  });
  const [first, second] = jobs.map(({ body }) => body);
  expect(first).toEqual({ id: expect.stringMatching(/^aud_/), event, claimedArn });
  expect(second).toEqual({ ...Object(first), ending: { outcome: "done" } });
});

it("belongs to the log of an organization or of the stage, and to no outcomes", () => {
  const queued = entry();
  for (const organizationId of ["stage", `${queued.event.organizationId}#outcomes`]) {
    const event = { ...queued.event, organizationId };
    expect(OperatorEntry.safeParse({ ...queued, event }).success).toBe(false);
  }
  expect(OperatorEntry.safeParse(queued).success).toBe(true);
});

it("foreign items among the outcomes hide none", async () => {
  const queued = entry();
  const { organizationId } = queued.event;
  await write({ ...queued, ending: { outcome: "done" } }, ada);
  const newer = { ...queued, id: newId("aud") };
  await write({ ...newer, ending: { outcome: "done" } }, ada);
  for (const end of ["X", "Y", "Z"]) {
    const key = keys.auditOutcome(organizationId, `${queued.id}${end}`);
    await putItem(putUnchecked(key, { entity: "auditEntry" }));
  }
  expect(await logOf(queued)).toMatchObject([{ outcome: "done" }, { outcome: "done" }]);
});

it("no read starts at the last outcome, where DynamoDB Local rejects it", async () => {
  const queued = entry();
  await write({ ...queued, ending: { outcome: "done" } }, ada);
  const starts: unknown[] = [];
  interceptTableRequests(async (command, send) => {
    starts.push(Object(command).input.ExclusiveStartKey);
    return send();
  });
  expect(await logOf(queued)).toHaveLength(1);
  vi.restoreAllMocks();
  expect(starts).toEqual([undefined, undefined]);
});

it("has the time that SQS names, and an ID that is not after it", async () => {
  const queued = entry();
  const sent = (ms: number): Date => new Date(momentOf(queued.id).getTime() + ms);
  for (const far of [sent(-hourMs), new Date(Number.NaN)]) {
    await expect(writeOperatorEntry(queued, ada, far)).rejects.toThrow(/time/);
  }
  expect(await logOf(queued)).toEqual([]);
  // It was parked, and moved back. The outcome follows.
  for (const days of [14, 15]) {
    await writeOperatorEntry({ ...queued, ending: { outcome: "done" } }, ada, sent(days * dayMs));
  }
  const createdAt = sent(14 * dayMs).toISOString();
  expect(await logOf(queued)).toMatchObject([{ id: queued.id, createdAt, outcome: "done" }]);
});
