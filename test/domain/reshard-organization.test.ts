import { expect, it, vi } from "vitest";
import * as z from "zod/mini";

import type { Page } from "../../shared/api/contract/primitives.ts";
import type { Message } from "../../shared/api/contract/sms.ts";
import { closeDays } from "../../shared/figures/dashboard/close-days.ts";
import { getDashboardStats } from "../../shared/figures/dashboard/stats.ts";
import { listTransactions } from "../../shared/figures/statements/transactions.ts";
import { countOutcomes, CountsRecord } from "../../shared/messages/counts/counts.ts";
import { MessageJob } from "../../shared/messages/message/message-job.ts";
import { getMessage } from "../../shared/messages/message/read.ts";
import { reconcileWallets } from "../../shared/messages/reconciliation/run.ts";
import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { listMessages } from "../../shared/messages/search/list.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { readLedger } from "../../shared/money/wallet/ledger.ts";
import { postToWallet } from "../../shared/money/wallet/post.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { graceMs } from "../../shared/money/wallet/settlement.ts";
import { dayMs } from "../../shared/platform/clock.ts";
import type { Key } from "../../shared/platform/table/keys.ts";
import { queryItems } from "../../shared/platform/table/read.ts";
import { ledgerKey, ledgerOf, messageKey, messagesOf, reshard } from "../../shared/platform/table/shards.ts";
import { updateItem, updateOf } from "../../shared/platform/table/write.ts";
import { only } from "../support/carriers.ts";
import { advance } from "../support/clock.ts";
import { acceptFor, acceptBlock } from "../support/messages.ts";
import { dayShardOf } from "../support/organization-shards.ts";
import { takeJobs } from "../support/queues.ts";
import { inAllShards } from "../support/shards.ts";
import { ownerOf } from "../support/viewer.ts";
import { openWallet } from "../support/wallets.ts";

/** An organization with three messages from before its resharding, and 25 from after it, newest first. */
async function reshardedCustomer(): Promise<{ organizationId: string; ids: string[] }> {
  const organizationId = await openWallet(10_000_000);
  const ids: string[] = [];
  const accept = async (count: number): Promise<void> => {
    for (let each = 0; each < count; each += 1) ids.push((await acceptFor(organizationId)).messageId);
  };
  await accept(3);
  await reshard(organizationId, 4, 5);
  await accept(13);
  ids.push(...(await acceptBlock(organizationId, 12)).map(({ id }) => id));
  return { organizationId, ids: ids.toSorted().toReversed() };
}

function idsOf({ rows }: Page<Message>): string[] {
  return rows.map(({ id }) => id);
}

it("messages of an organization with several shards are listed as if they had one", async () => {
  const { organizationId, ids } = await reshardedCustomer();
  const partitions = new Set(ids.map((id) => messageKey({ organizationId, id }).pk));
  expect(partitions.size).toBeGreaterThan(2);
  expect(messagesOf(await readWallet(organizationId))).toEqual(expect.arrayContaining([...partitions]));

  const byNumber: string[] = [];
  for (let page = 1; page <= 5; page += 1) {
    const found = await listMessages(ownerOf(organizationId), { page, limit: 7 });
    expect(found.meta).toMatchObject({ page, total: 28, totalPages: 4 });
    byNumber.push(...idsOf(found));
  }
  expect(byNumber).toEqual(ids);

  const byCursor: string[] = [];
  let cursor: string | undefined;
  do {
    const found = await listMessages(ownerOf(organizationId), { page: 1, limit: 9, cursor });
    byCursor.push(...idsOf(found));
    cursor = found.meta.nextCursor;
  } while (cursor !== undefined);
  expect(byCursor).toEqual(ids);

  const filtered: string[] = [];
  do {
    const found = await listMessages(ownerOf(organizationId), {
      page: 1,
      limit: 9,
      cursor,
      status: "queued",
    });
    expect(found.meta.total).toBe(28 - filtered.length);
    filtered.push(...idsOf(found));
    cursor = found.meta.nextCursor;
  } while (cursor !== undefined);
  expect(filtered).toEqual(ids);
  expect(idsOf(await listMessages(ownerOf(organizationId), { page: 1, limit: 9, status: "failed" }))).toEqual(
    [],
  );
  for (const id of ids) expect((await getMessage(ownerOf(organizationId), id)).id).toBe(id);
});

it("the ledger of an organization with several shards is read and verified as if it had one", async () => {
  const { organizationId } = await reshardedCustomer();
  const wallet = await readWallet(organizationId);
  const sizes = await Promise.all(
    ledgerOf(wallet).map(async (pk) => (await queryItems(z.object({}), { pk, limit: 100 })).length),
  );
  expect(sizes).toHaveLength(4);
  expect(Math.min(...sizes)).toBeGreaterThan(2);
  expect(sizes.reduce((sum, size) => sum + size)).toBe(wallet.seq);

  const entries = await readLedger(wallet, { from: 1, to: wallet.seq, limit: 100 });
  expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: wallet.seq }, (_, index) => index + 1));
  expect(await readLedger(wallet, { from: 4, to: wallet.seq, limit: 9 })).toEqual(entries.slice(3, 12));
  const newestFirst = entries.map(({ id }) => id).toReversed();
  const listed: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await listTransactions(organizationId, { page: 1, limit: 8, cursor });
    listed.push(...page.rows.map(({ id }) => id));
    cursor = page.meta.nextCursor;
  } while (cursor !== undefined);
  expect(listed).toEqual(newestFirst);
  expect(await verifyWallet(organizationId)).toMatchObject({
    entries: wallet.seq,
    findings: [],
    pending: [],
  });
});

it("unsettled work of all shards is found, and the organization's days are closed and summed up", async () => {
  vi.setSystemTime(new Date("2031-03-01T12:00:00Z"));
  const { organizationId, ids } = await reshardedCustomer();
  await takeJobs("transactionalSends");
  advance(graceMs + 1_000);
  // None of them was leased, so that all are queued again.
  await inAllShards(async (shard) => (await reconcileWallets(shard)).requeued);
  const jobs = (await takeJobs("transactionalSends")).map((job) => MessageJob.parse(job));
  const requeued = jobs.filter((job) => job.organizationId === organizationId);
  expect(requeued.map(({ messageId }) => messageId).toSorted()).toEqual(ids.toSorted());
  expect(await verifyWallet(organizationId)).toMatchObject({ findings: [], pending: [] });

  const half = ids.slice(0, 14);
  const ended = await Promise.all(
    half.map(async (messageId) => submitMessage({ organizationId, messageId }, only())),
  );
  await countOutcomes(ended.filter((message) => message !== undefined));
  const today = { date: "2031-03-01", accepted: 28, sent: 14, queued: 14 };
  expect((await getDashboardStats(organizationId)).today).toMatchObject(today);

  // Only the first shard is counted, in which one message failed and was refunded.
  const counted = {
    accepted: 1,
    failed: 1,
    spentMicros: 0,
    returnedMicros: 7_900,
    countedAt: "2031-03-02T01:00:00Z",
  };
  const { counter } = dayShardOf(organizationId, "2031-03-01");
  const before = await updateItem(CountsRecord, updateOf(counter, { set: counted }));
  expect(before.applied).toBe(true);
  const partly = { accepted: 28, failed: 1, spend: 0.2133 };
  expect((await getDashboardStats(organizationId)).today).toMatchObject(partly);
  const remove = ["accepted", "failed", "spentMicros", "returnedMicros", "countedAt"] as const;
  await updateItem(CountsRecord, updateOf(counter, { remove }));

  for (const messageId of ids.slice(14)) await submitMessage({ organizationId, messageId }, only());
  advance(dayMs);
  const partitions = new Set(ids.map((id) => messageKey({ organizationId, id }).pk));
  expect(await inAllShards(closeDays)).toBe(partitions.size);
  const { days } = await getDashboardStats(organizationId);
  expect(days[1]).toMatchObject({ date: "2031-03-01", accepted: 28, sent: 28, queued: 0 });
});

it("an organization can get more shards, and never fewer", async () => {
  const organizationId = await openWallet(0);
  await reshard(organizationId, 4);
  await reshard(organizationId, 4);
  await expect(reshard(organizationId, 3)).rejects.toMatchObject({ code: "CONFLICT" });
  await reshard(organizationId, 8);
  await expect(reshard("org_nobody", 2)).rejects.toMatchObject({ code: "WALLET_MISSING" });
});

it("a seq keeps its shard, however often the organization is resharded after it", async () => {
  const organizationId = await openWallet(0);
  const lead = 10;
  const known = new Map<number, Key>();
  for (const count of [1, 2, 3, 8]) {
    await reshard(organizationId, count, lead);
    const wallet = await readWallet(organizationId);
    // Debits in flight may write these entries with the wallet as it is now.
    for (let seq = 1; seq < wallet.seq + lead; seq += 1) {
      expect(ledgerKey(wallet, seq)).toEqual(known.get(seq) ?? ledgerKey(wallet, seq));
      known.set(seq, ledgerKey(wallet, seq));
    }
    const used = [...known.values()].map(({ pk }) => pk);
    expect(ledgerOf(wallet)).toEqual(expect.arrayContaining(used));
    for (let top = 0; top < lead; top += 1) {
      await postToWallet({ organizationId, type: "top_up", amountMicros: 1 });
    }
  }
  expect(new Set([...known.values()].map(({ pk }) => pk)).size).toBe(3);
});
