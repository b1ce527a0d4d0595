import { beforeEach, expect, it, vi } from "vitest";

import { PageQuery } from "../../shared/api/contract/primitives.ts";
import type { SubmitResult } from "../../shared/carriers/carrier.ts";
import type { MessageJob } from "../../shared/messages/message/message-job.ts";
import { getMessage } from "../../shared/messages/message/read.ts";
import { MessageRecord } from "../../shared/messages/message/record.ts";
import { confirm } from "../../shared/messages/message/transitions.ts";
import { cancelMessage } from "../../shared/messages/outcome/cancel.ts";
import { refundMessage } from "../../shared/messages/outcome/refund.ts";
import { reconcileWallet } from "../../shared/messages/reconciliation/reconcile.ts";
import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { listMessages } from "../../shared/messages/search/list.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { graceMs } from "../../shared/money/wallet/settlement.ts";
import { dayMs, epochSeconds, minuteMs } from "../../shared/platform/clock.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { messageKey } from "../../shared/platform/table/shards.ts";
import { deleteItem, updateItem } from "../../shared/platform/table/write.ts";
import { only, accept, reject, ScriptedCarrier } from "../support/carriers.ts";
import { acceptFor, recordOf } from "../support/messages.ts";
import { ownerOf } from "../support/viewer.ts";
import { openWallet } from "../support/wallets.ts";

const start = Date.parse("2026-03-01T12:00:00Z");
const retentionDays = 45;
let organizationId: string;

beforeEach(async () => {
  vi.setSystemTime(start);
  vi.stubEnv(environmentNames.messageRetentionDays, String(retentionDays));
  organizationId = await openWallet(1_000_000);
});

/** A message with a response from its carrier. */
async function sent(answer: () => SubmitResult): Promise<MessageJob> {
  const job = await acceptFor(organizationId);
  await submitMessage(job, only(new ScriptedCarrier(answer)));
  return job;
}

const forgottenAt = epochSeconds(new Date(start + retentionDays * dayMs));

it("a sent message expires after the retention period, and not before", async () => {
  const job = await sent(accept);
  expect(await recordOf(job)).toMatchObject({ status: "sent", expiresAt: forgottenAt });
  vi.setSystemTime(start + retentionDays * dayMs - 1_000);
  const id = job.messageId;
  expect(await getMessage(ownerOf(organizationId), id)).toMatchObject({ id });
  vi.setSystemTime(start + retentionDays * dayMs);
  // The table deletes it some days later. Until then it must look deleted.
  await expect(getMessage(ownerOf(organizationId), id)).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect((await listMessages(ownerOf(organizationId), PageQuery.parse({}))).rows).toEqual([]);
});

it("a failed message stays until its price is returned, and then for its retention period", async () => {
  const job = await sent(reject);
  expect(await recordOf(job)).toMatchObject({ status: "failed", refund: "due" });
  expect(await recordOf(job)).not.toHaveProperty("expiresAt");
  vi.setSystemTime(start + dayMs);
  await refundMessage(job);
  expect(await recordOf(job)).toMatchObject({ refund: "done", expiresAt: forgottenAt + dayMs / 1_000 });
});

it("a cancelled message expires too", async () => {
  const scheduledAt = new Date(start + 30 * minuteMs).toISOString();
  const job = await acceptFor(organizationId, { scheduledAt });
  expect(await recordOf(job)).not.toHaveProperty("expiresAt");
  await cancelMessage(ownerOf(organizationId), job.messageId);
  expect(await recordOf(job)).toMatchObject({ status: "cancelled", expiresAt: forgottenAt });
});

it("a message that has ended since it was read as unconfirmed is not made permanent", async () => {
  const job = await acceptFor(organizationId);
  const provisional = await recordOf(job);
  expect(provisional).toMatchObject({ status: "queued", expiresAt: expect.any(Number) });
  await submitMessage(job, only());
  expect((await updateItem(MessageRecord, confirm(provisional))).applied).toBe(false);
  vi.setSystemTime(start + graceMs + minuteMs);
  expect(await reconcileWallet(organizationId)).toMatchObject({ requeued: 0, inconsistencies: 0 });
  expect(await recordOf(job)).toMatchObject({ status: "sent", expiresAt: forgottenAt });
});

it("an audit does not miss a message that expired in time, and misses every other", async () => {
  const job = await sent(accept);
  const id = job.messageId;
  await deleteItem(messageKey({ organizationId, id }));
  const missing = [`seq 2 pays for ${id}, which does not exist`];
  vi.setSystemTime(start + retentionDays * dayMs - minuteMs);
  expect((await verifyWallet(organizationId)).findings).toEqual(missing);
  vi.setSystemTime(start + retentionDays * dayMs + minuteMs);
  expect((await verifyWallet(organizationId)).findings).toEqual([]);
  vi.stubEnv(environmentNames.messageRetentionDays, "");
  expect((await verifyWallet(organizationId)).findings).toEqual(missing);
});

it("without the setting a message is kept forever", async () => {
  vi.stubEnv(environmentNames.messageRetentionDays, "");
  expect(await recordOf(await sent(accept))).not.toHaveProperty("expiresAt");
});
