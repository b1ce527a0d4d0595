import { expect, it } from "vitest";

import { newId } from "../../shared/platform/ids.ts";
import { readAuditLog } from "../../shared/tenancy/audit-log/list.ts";
import { writeOperatorEntry } from "../../shared/tenancy/audit-log/operators.ts";
import { queueEntry, queueOutcome } from "../../shared/tenancy/audit-log/queue-entry.ts";
import { delayedJobs } from "../support/queues.ts";

/*
 * The entries that operators queue: each is written once, in the name of its sender.
 */

const [ada, mallory] = ["AROA1:ada", "AROA1:mallory"];
const claimedArn = "arn:aws:sts::123456789012:assumed-role/Operator/ada";

function entry() {
  const event = { organizationId: newId("org"), action: "wallets credit", subject: { amount: "5" } };
  return { id: newId("aud"), event, claimedArn };
}

const logOf = async ({ event }: ReturnType<typeof entry>): Promise<unknown[]> =>
  readAuditLog(event.organizationId, { limit: 10 });

it("names the sender, not who the job claims to be from", async () => {
  const queued = entry();
  await writeOperatorEntry(queued, mallory);
  expect(await logOf(queued)).toMatchObject([
    { id: queued.id, actor: { type: "operator", identity: mallory, claimedArn }, outcome: "unknown" },
  ]);
});

it("writes an entry and its outcome once, in any order and however often they arrive", async () => {
  const queued = entry();
  const outcome = { ...queued, ending: { outcome: "done", after: { balanceMicros: 5 } } } as const;
  for (const job of [outcome, queued, outcome, queued]) await writeOperatorEntry(job, ada);
  const log = await logOf(queued);
  expect(log).toHaveLength(1);
  expect(log).toMatchObject([{ ...outcome.ending, subject: { amount: "5" }, actor: { identity: ada } }]);
});

it("lets no one change the entry of another person, or decide its outcome", async () => {
  const queued = entry();
  await writeOperatorEntry(queued, ada);
  const forged = {
    ...queued,
    event: { ...queued.event, action: "x" },
    ending: { outcome: "refused" },
  } as const;
  await expect(writeOperatorEntry(forged, mallory)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  // Their own entries they can complete, but not rewrite.
  await writeOperatorEntry(forged, ada);
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
