import { beforeEach, expect, it, vi } from "vitest";

import type { Carrier } from "../../shared/carriers/carrier.ts";
import { MessageJob } from "../../shared/messages/message/message-job.ts";
import { readMessage } from "../../shared/messages/message/read.ts";
import { refundMessage } from "../../shared/messages/outcome/refund.ts";
import { reconcileWallets } from "../../shared/messages/reconciliation/run.ts";
import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { debitWallet } from "../../shared/money/wallet/debit.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { graceMs } from "../../shared/money/wallet/settlement.ts";
import { topUpWallet } from "../../shared/money/wallet/top-up.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { messageIdIn, only } from "../support/carriers.ts";
import { advance } from "../support/clock.ts";
import { acceptFor, hello, priceMicros } from "../support/messages.ts";
import { restorePoint, useOwnTable } from "../support/own-table.ts";
import { takeJobs } from "../support/queues.ts";
import { inAllShards } from "../support/shards.ts";
import { ownerOf } from "../support/viewer.ts";
import { openWallet } from "../support/wallets.ts";

/*
 * Rehearses a restore to an earlier moment, as infra/RUNBOOK.md describes it: the code uses a second table with the items
 * of that moment. Sends were under way at that moment, and more happened after it.
 */

let organizationId: string;
/** The messages that reached the carrier, in their order. */
let carried: string[];

const carrier: Carrier = {
  idempotent: false,
  send: async ({ reference, to }) => {
    carried.push(messageIdIn(reference));
    return to === hello.to
      ? { outcome: "accepted", carrierReference: reference }
      : { outcome: "rejected", errorCode: "MESSAGE_INVALID_DESTINATION" };
  },
};

beforeEach(async () => {
  await useOwnTable();
  carried = [];
  vi.stubEnv(environmentNames.topUpEnabled, "true");
  organizationId = await openWallet(1_000_000);
});

async function accept(to: string = hello.to): Promise<string> {
  return (await acceptFor(organizationId, { to })).messageId;
}

/** Lets a sender work on jobs as a queue delivers them. */
async function work(jobs: readonly unknown[]): Promise<void> {
  for (const job of jobs) await submitMessage(MessageJob.parse(job), only(carrier));
}

/** Lets the reconciler check what is then old enough. */
async function reconcile(): Promise<void> {
  advance(graceMs + 1_000);
  expect(await inAllShards(async (shard) => (await reconcileWallets(shard)).failed)).toBe(0);
}

it("sends that were under way at the moment of a restore are completed, and the books add up", async () => {
  const sent = await accept();
  const failed = await accept("15005550001");
  await work(await takeJobs("transactionalSends"));
  const queued = await accept();
  // A function that has charged the wallet, and has not recorded its message yet.
  await debitWallet({
    organizationId,
    charges: [{ amountMicros: priceMicros }],
    at: new Date(),
    keepAccepted: async () => undefined,
  });
  const useRestored = await restorePoint();
  const jobs = await takeJobs("transactionalSends");
  const refunds = await takeJobs("refunds");

  useRestored();
  // The stage's queues are the same, so that jobs from before the restore find their messages.
  await work(jobs);
  for (const job of refunds) await refundMessage(MessageJob.parse(job));
  await reconcile();
  await reconcile();
  expect(await readMessage(ownerOf(organizationId), sent)).toMatchObject({ status: "sent" });
  expect(await readMessage(ownerOf(organizationId), queued)).toMatchObject({ status: "sent" });
  expect(await readMessage(ownerOf(organizationId), failed)).toMatchObject({
    status: "failed",
    refund: "done",
  });
  expect(carried).toEqual([sent, failed, queued]);
  expect(await readWallet(organizationId)).toMatchObject({ balanceMicros: 1_000_000 - 2 * priceMicros });
  expect(await verifyWallet(organizationId)).toMatchObject({ findings: [], pending: [] });
});

it("a message that was sent before the moment is never sent again, however many times its job is delivered", async () => {
  const sent = await accept();
  const jobs = await takeJobs("transactionalSends");
  await work(jobs);
  const useRestored = await restorePoint();
  useRestored();
  await work([...jobs, ...jobs]);
  await reconcile();
  expect(await takeJobs("transactionalSends")).toEqual([]);
  expect(carried).toEqual([sent]);
});

it("a message that was sent after the moment is queued again, and sent again unless its carrier is idempotent", async () => {
  const id = await accept();
  const useRestored = await restorePoint();
  await work(await takeJobs("transactionalSends"));
  expect(await readMessage(ownerOf(organizationId), id)).toMatchObject({ status: "sent" });

  useRestored();
  expect(await readMessage(ownerOf(organizationId), id)).toMatchObject({ status: "queued" });
  // During the grace period no one touches it. In that time the operator can cancel messages that must not be repeated.
  expect(await takeJobs("transactionalSends")).toEqual([]);
  await reconcile();
  await work(await takeJobs("transactionalSends"));
  expect(carried).toEqual([id, id]);
  expect(await verifyWallet(organizationId)).toMatchObject({ findings: [], pending: [] });
});

it("a message that a sender held at the moment is not sent again: what the carrier did is not known", async () => {
  const id = await accept();
  let useRestored = (): void => undefined;
  const held: Carrier = {
    ...carrier,
    send: async (message) => {
      carried.push(messageIdIn(message.reference));
      useRestored = await restorePoint();
      return { outcome: "accepted", carrierReference: "1" };
    },
  };
  const jobs = await takeJobs("transactionalSends");
  for (const job of jobs) await submitMessage(MessageJob.parse(job), only(held));

  useRestored();
  advance(graceMs);
  await work(jobs);
  expect(carried).toEqual([id]);
  expect(await readMessage(ownerOf(organizationId), id)).toMatchObject({
    errorCode: "MESSAGE_OUTCOME_UNKNOWN",
  });
});

it("messages and payments from after the moment are gone, and their jobs do nothing", async () => {
  const useRestored = await restorePoint();
  const id = await accept();
  await topUpWallet(organizationId, { amount: 5 });
  const jobs = await takeJobs("transactionalSends");

  useRestored();
  await work(jobs);
  expect(carried).toEqual([]);
  await expect(readMessage(ownerOf(organizationId), id)).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(await readWallet(organizationId)).toMatchObject({ balanceMicros: 1_000_000 });
  await reconcile();
  expect(await verifyWallet(organizationId)).toMatchObject({ findings: [], pending: [] });
});
