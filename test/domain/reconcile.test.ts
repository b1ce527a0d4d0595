import { expect, it } from "vitest";
import * as z from "zod/mini";

import { reconcileWallet } from "../../shared/messages/reconciliation/reconcile.ts";
import { reconcileWallets } from "../../shared/messages/reconciliation/run.ts";
import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { debitWallet } from "../../shared/money/wallet/debit.ts";
import { ledgerEntry, voidEntry, type NewLedgerEntry } from "../../shared/money/wallet/ledger.ts";
import { postToWallet } from "../../shared/money/wallet/post.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { graceMs } from "../../shared/money/wallet/settlement.ts";
import { writeMetrics } from "../../shared/platform/metrics.ts";
import { transact } from "../../shared/platform/table/transact.ts";
import { deleteItem, updateItem, updateOf } from "../../shared/platform/table/write.ts";
import { only, throttle, ScriptedCarrier } from "../support/carriers.ts";
import { advance } from "../support/clock.ts";
import { recordLog } from "../support/log.ts";
import { acceptFor, acceptBlock } from "../support/messages.ts";
import { keyOfEntry } from "../support/organization-shards.ts";
import { takeJobs } from "../support/queues.ts";
import { inAllShards } from "../support/shards.ts";
import { openWallet } from "../support/wallets.ts";

/** Runs the reconciler's rounds for all wallets of this file. @returns the number of checked wallets */
async function reconcileAll(): Promise<number> {
  return inAllShards(async (shard) => (await reconcileWallets(shard)).wallets);
}

const passGrace = (): void => advance(graceMs + 1_000);

/** A debit whose function dies before it records what was paid for. */
async function debit(organizationId: string): Promise<NewLedgerEntry[]> {
  const charges = [{ amountMicros: 7_900 }];
  return (await debitWallet({ organizationId, charges, at: new Date(), keepAccepted: async () => undefined }))
    .entries;
}

async function repeat(times: number, work: () => Promise<unknown>): Promise<void> {
  for (let done = 0; done < times; done += 20) {
    await Promise.all(Array.from({ length: Math.min(20, times - done) }, work));
  }
}

it("more lost debits at the same time than one transaction voids are refunded with their sum", async () => {
  const organizationId = await openWallet(10_000_000);
  await repeat(250, async () => debit(organizationId));
  passGrace();
  expect(await reconcileWallet(organizationId)).toMatchObject({ voided: 250, refundedMicros: 250 * 7_900 });
  expect(await reconcileWallet(organizationId)).toMatchObject({ voided: 0, refundedMicros: 0 });
  expect(await readWallet(organizationId)).toMatchObject({
    balanceMicros: 10_000_000,
    messageCount: 0,
    seq: 252,
    settledSeq: 251,
  });
  expect(await verifyWallet(organizationId)).toMatchObject({ findings: [], pending: [] });
});

it("a ledger longer than one pass is settled over several", async () => {
  const organizationId = await openWallet(10_000_000);
  for (let accepted = 0; accepted < 520; accepted += 40) await acceptBlock(organizationId, 40);
  await debit(organizationId);
  passGrace();
  expect(await reconcileWallet(organizationId)).toMatchObject({ isUnfinished: true, voided: 0 });
  expect(await reconcileWallet(organizationId)).toMatchObject({ isUnfinished: false, voided: 1 });
  expect(await verifyWallet(organizationId)).toMatchObject({ findings: [], pending: [] });
});

it("changes within the grace period are left alone, whatever they look like", async () => {
  const organizationId = await openWallet(1_000_000);
  await debit(organizationId);
  expect(await reconcileWallet(organizationId)).toMatchObject({ voided: 0, refundedMicros: 0, requeued: 0 });
  expect((await readWallet(organizationId)).balanceMicros).toBe(992_100);
});

it("a debit that is still in progress is left alone, also when the next one was abandoned", async () => {
  const organizationId = await openWallet(1_000_000);
  await debit(organizationId);
  const [givenUp] = await debit(organizationId);
  if (givenUp === undefined) throw new Error("the debit is owed no entry");
  await transact({ entry: ledgerEntry(voidEntry(givenUp)) });
  expect(await reconcileWallet(organizationId)).toMatchObject({ voided: 0, refundedMicros: 0 });
  passGrace();
  expect(await reconcileWallet(organizationId)).toMatchObject({ voided: 1, refundedMicros: 15_800 });
  expect(await verifyWallet(organizationId)).toMatchObject({ findings: [], pending: [] });
});

it("a throttled message is not queued again, because its job is on the queue", async () => {
  const organizationId = await openWallet(1_000_000);
  const tried = await acceptFor(organizationId);
  const stranded = await acceptFor(organizationId);
  await submitMessage(tried, only(new ScriptedCarrier(throttle)));
  await takeJobs("transactionalSends");
  passGrace();
  expect(await reconcileWallet(organizationId)).toMatchObject({ requeued: 1 });
  // The rescheduled job may have become visible by now.
  const jobs = await takeJobs("transactionalSends");
  expect(jobs).toContainEqual(expect.objectContaining(stranded));
});

it("only wallets with unsettled changes are checked, once these are old enough", async () => {
  const organizationId = await openWallet(1_000_000);
  await openWallet(0);
  // The refunds of earlier tests are themselves to be settled, ten minutes later.
  for (let round = 0; round < 3; round += 1) {
    passGrace();
    await reconcileAll();
  }
  expect(await reconcileAll()).toBe(0);
  expect(await readWallet(organizationId)).not.toHaveProperty("pendingWork");

  await acceptFor(organizationId);
  expect(await reconcileAll()).toBe(0);
  passGrace();
  expect(await reconcileAll()).toBe(1);
  expect(await readWallet(organizationId)).toMatchObject({ seq: 2, settledSeq: 2 });
  expect(await reconcileAll()).toBe(0);
});

it("a wallet that is still busy is checked when its next change is old enough, not in between", async () => {
  const organizationId = await openWallet(1_000_000);
  passGrace();
  await debit(organizationId);
  expect(await reconcileAll()).toBe(1);
  expect(await readWallet(organizationId)).toMatchObject({ seq: 2, settledSeq: 1 });
  expect(await reconcileAll()).toBe(0);
  passGrace();
  expect(await reconcileAll()).toBe(1);
  expect(await readWallet(organizationId)).toMatchObject({ balanceMicros: 1_000_000 });
});

it("a wallet that was deleted after it was listed is left out", async () => {
  expect(await reconcileWallet("org_nobody")).toBeUndefined();
});

it("a ledger that does not add up is reported, and the later changes are settled", async () => {
  const organizationId = await openWallet(1_000_000);
  await acceptFor(organizationId);
  const wrong = { set: { balanceAfterMicros: 5, amountMicros: 5 } };
  await updateItem(z.unknown(), updateOf(keyOfEntry(organizationId, 2), wrong));
  await acceptFor(organizationId);
  await debit(organizationId);
  passGrace();
  const log = recordLog();
  await reconcileAll();
  await reconcileAll();
  // Here nothing does the work of the scheduled handler at the end of each round.
  writeMetrics();
  expect(log.of("ledger.inconsistent")).toMatchObject([
    { organizationId, seq: 1 },
    { organizationId, seq: 2 },
  ]);
  expect(log.lines().filter((line) => line["InconsistentLedgers"] === 2)).toHaveLength(1);
  // The debit after it, whose function died, was refunded.
  expect((await readWallet(organizationId)).balanceMicros).toBe(1_000_000 - 2 * 7_900);
});

it("a lost last settled entry is reported once, and a gap after it is closed without a refund", async () => {
  const organizationId = await openWallet(10_000_000);
  const { seq, settledSeq } = await readWallet(organizationId);
  passGrace();
  await reconcileWallet(organizationId);
  expect(settledSeq).toBeLessThan(seq);
  await deleteItem(keyOfEntry(organizationId, seq));
  // The next debit is lost too, and an entry follows.
  await debit(organizationId);
  await postToWallet({ organizationId, type: "credit", amountMicros: 100_000 });
  passGrace();
  const first = await reconcileWallet(organizationId);
  expect(first).toMatchObject({ inconsistencies: 1, voided: 1, refundedMicros: 0 });
  const wallet = await readWallet(organizationId);
  expect(wallet).toMatchObject({ settledSeq: wallet.seq, balanceMicros: 10_000_000 - 7_900 + 100_000 });
  expect(wallet.pendingWork).toBeUndefined();
  expect(await reconcileWallet(organizationId)).toMatchObject({ inconsistencies: 0, voided: 0 });
});
