import { randomInt } from "node:crypto";

import { beforeEach, expect, it, vi } from "vitest";

import { eraseNumber } from "../../shared/accounts/erasure/number.ts";
import type { Transaction, TransactionsQuery } from "../../shared/api/contract/wallet.ts";
import { listTransactions } from "../../shared/figures/statements/transactions.ts";
import { newMessage } from "../../shared/messages/accept/new-message.ts";
import { type LedgerEntryRecord, readLedger } from "../../shared/money/wallet/ledger.ts";
import { postToWallet } from "../../shared/money/wallet/post.ts";
import { readWallet, WalletRecord } from "../../shared/money/wallet/record.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { newId } from "../../shared/platform/ids.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { ledgerKey, messageKey, oneShard } from "../../shared/platform/table/shards.ts";
import { deleteItem, putItem, updateItem, updateOf, putOf } from "../../shared/platform/table/write.ts";
import { oneOf, randomFrom } from "../chaos/random.ts";
import { acceptAll, hello } from "../support/messages.ts";
import { useOwnTable } from "../support/own-table.ts";
import { onePrice } from "../support/prices.ts";
import { isNightly } from "../support/second-opinions.ts";
import { openWallet } from "../support/wallets.ts";

const start = Date.parse("2031-03-01T12:00:00Z");
const british = "447400123456";

beforeEach(async () => {
  vi.setSystemTime(start);
  await useOwnTable();
});

/** Reads all pages of a list. */
async function all(organizationId: string, query: Partial<TransactionsQuery>): Promise<Transaction[]> {
  const rows: Transaction[] = [];
  let cursor: string | undefined;
  do {
    const page = await listTransactions(organizationId, { page: 1, limit: 7, ...query, cursor });
    rows.push(...page.rows);
    cursor = page.meta.nextCursor;
  } while (cursor !== undefined);
  return rows;
}

it("an entry has the number of its message, its country, segments and campaign", async () => {
  const organizationId = await openWallet(10_000_000);
  const terms = { queuedAt: new Date(), prices: onePrice };
  const campaignId = newId("cmp");
  const request = { ...hello, to: british, campaignId };
  const sent = { ...newMessage({ organizationId, ...oneShard }, request, terms), status: "sent" } as const;
  await acceptAll([sent]);
  const messageId = sent.id;
  await postToWallet({ organizationId, type: "payment", amountMicros: 1, paymentId: "pay_1" });
  const facts = { messageId, country: "GB", segments: 1, campaignId };
  const [payment, entry, topUp] = await all(organizationId, {});
  expect(entry).toMatchObject({ type: "message", to: british, ...facts });
  expect(payment).toMatchObject({ type: "payment", paymentId: "pay_1", to: undefined });
  expect(topUp).toMatchObject({ type: "top_up", to: undefined, country: undefined });

  const shown = async (): Promise<Transaction | undefined> =>
    (await all(organizationId, { type: "message" }))[0];
  await eraseNumber(organizationId, british);
  expect(await shown()).toMatchObject({ to: undefined, ...facts });
  await deleteItem(messageKey({ organizationId, id: messageId }));
  expect(await shown()).toMatchObject({ to: undefined, ...facts });
});

it("an expired message has no number, also before the table deletes it", async () => {
  vi.stubEnv(environmentNames.messageRetentionDays, "45");
  const organizationId = await openWallet(10_000_000);
  const terms = { queuedAt: new Date(), prices: onePrice };
  const message = newMessage(
    { organizationId, ...oneShard },
    { ...hello, to: british, campaignId: newId("cmp") },
    terms,
  );
  await acceptAll([{ ...message, status: "sent", expiresAt: start / 1_000 + 60 }]);
  expect((await all(organizationId, { type: "message" }))[0]?.to).toBe(british);
  vi.setSystemTime(start + 60_000);
  expect((await all(organizationId, { type: "message" }))[0]?.to).toBeUndefined();
});

function isWanted(
  entry: LedgerEntryRecord,
  { type, from = "", to = "9" }: Partial<TransactionsQuery>,
): boolean {
  const day = entry.createdAt.slice(0, 10);
  return (type === undefined || entry.type === type) && day >= from && day <= to;
}

const types = ["message", "refund", "void", "payment", "credit"] as const;
const seed = randomInt(2 ** 31);
const rounds = isNightly ? 40 : 5;

it.each([1, 8])(
  `filters find every entry of a type and a period, in any of %i shards (seed ${seed})`,
  async (parts) => {
    const random = randomFrom(seed);
    const organizationId = await openWallet(1_000_000);
    const count = 400;
    const ledgerParts = parts === 1 ? [] : [{ fromSeq: 50, parts }];
    const changes = { set: { ledgerParts, seq: count, messageCount: count } };
    await updateItem(WalletRecord, updateOf(keys.wallet(organizationId), changes));
    const wallet = await readWallet(organizationId);
    let at = start;
    for (let seq = 2; seq <= count; seq += 1) {
      // Most entries are close to midnight.
      at += oneOf(random, [0, 500, 1_000, 20_000]);
      if (random() < 0.03) at = Math.ceil(at / 86_400_000 + 0.01) * 86_400_000 - 30_000;
      const type = oneOf(random, types);
      // Clocks differ, and lost debits are found later.
      const delay =
        type === "void" ? oneOf(random, [600_000, 23 * 3_600_000]) : -oneOf(random, [0, 500, 30_000]);
      // Some seqs have no entry yet.
      if (random() < 0.05) continue;
      const entry: LedgerEntryRecord = {
        entity: "ledgerEntry",
        id: newId("txn"),
        organizationId,
        type,
        seq,
        amountMicros: 1,
        balanceAfterMicros: seq,
        createdAt: new Date(at + delay).toISOString(),
      };
      await putItem(putOf(ledgerKey(wallet, seq), entry));
    }
    const entries = (await readLedger(wallet, { from: 1, to: count, limit: count })).toReversed();
    const day = (): string => new Date(start + random() * (at - start)).toISOString().slice(0, 10);
    for (let round = 0; round < rounds; round += 1) {
      const [from = "", to = ""] = [day(), day()].toSorted();
      const query = oneOf(random, [{ from, to }, { from }, { to }, { from: to, to }]);
      const type = random() < 0.5 ? oneOf(random, types) : undefined;
      const wanted = entries.filter((entry) => isWanted(entry, { ...query, type }));
      const found = await all(organizationId, { ...query, type });
      expect(found.map(({ id }) => id)).toEqual(wanted.map(({ id }) => id));
    }
  },
);
