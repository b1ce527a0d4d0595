import { beforeEach, expect, it } from "vitest";

import { MessageJob } from "../../shared/messages/message/message-job.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { ledgerEntry, LedgerEntryRecord, voidEntry } from "../../shared/money/wallet/ledger.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { secondMs } from "../../shared/platform/clock.ts";
import { findItem } from "../../shared/platform/table/read.ts";
import { ledgerKey } from "../../shared/platform/table/shards.ts";
import { deleteItem, putItem } from "../../shared/platform/table/write.ts";
import { accept, only, ScriptedCarrier } from "../support/carriers.ts";
import { advance } from "../support/clock.ts";
import { recordLog } from "../support/log.ts";
import { acceptFor, recordOf } from "../support/messages.ts";
import { delayedJobs, takeJobs } from "../support/queues.ts";
import { openWallet } from "../support/wallets.ts";

/* A job names the ledger entry of its message, and the sender submits nothing that is not paid. */

let job: MessageJob;
let entry: LedgerEntryRecord;

beforeEach(async () => {
  const organizationId = await openWallet(1_000_000);
  const { messageId } = await acceptFor(organizationId);
  // The next release names the entry.
  job = { organizationId, messageId, entry: ledgerKey(await readWallet(organizationId), 2) };
  entry = LedgerEntryRecord.parse(await findItem(LedgerEntryRecord, entryKey(), { consistent: true }));
  await takeJobs("transactionalSends");
});

function entryKey(): NonNullable<MessageJob["entry"]> {
  if (job.entry === undefined) throw new Error("the job names no entry");
  return job.entry;
}

async function submit(delivered = job): Promise<number> {
  const carrier = new ScriptedCarrier(accept);
  await submitMessage(delivered, only(carrier));
  return carrier.received.length;
}

it("a message with its entry is sent", async () => {
  expect(entry).toMatchObject({ type: "message", messageId: job.messageId });
  expect(await submit()).toBe(1);
  expect(await recordOf(job)).toMatchObject({ status: "sent" });
});

it("a job before its entry returns every two seconds, and sends the message once the entry is there", async () => {
  await deleteItem(entryKey());
  const [later, ...others] = await delayedJobs(async () => expect(await submit()).toBe(0));
  expect(later).toMatchObject({ delaySeconds: 2, body: { ...job, waits: 1 } });
  expect(others).toEqual([]);
  expect(await recordOf(job)).toMatchObject({ status: "queued", attempts: 0 });
  await putItem(ledgerEntry({ ...entryKey(), ...entry }));
  expect(await submit(MessageJob.parse(later?.body))).toBe(1);
});

it.each([
  [
    "whose debit was returned",
    async () => void (await putItem(ledgerEntry(voidEntry({ ...entryKey(), ...entry })))),
  ],
  ["whose entry did not come within a minute", async () => void advance(60 * secondMs)],
])("the job of a message %s is dropped", async (_name, change) => {
  const log = recordLog();
  await deleteItem(entryKey());
  await change();
  const later = await delayedJobs(async () => expect(await submit({ ...job, waits: 30 })).toBe(0));
  expect(later).toEqual([]);
  expect(log.text()).toContain("message.job_without_payment");
  expect(await recordOf(job)).toMatchObject({ status: "queued", attempts: 0 });
});
