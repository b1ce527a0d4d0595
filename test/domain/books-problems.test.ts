import { beforeEach, expect, it } from "vitest";
import * as z from "zod/mini";

import { ApiError } from "../../shared/api/contract/errors.ts";
import { findBooks, findBooksTotal } from "../../shared/figures/books/record.ts";
import { closeDays } from "../../shared/figures/dashboard/close-days.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { pendingWorkOf } from "../../shared/platform/jobs/pending-work.ts";
import { keys, type Key } from "../../shared/platform/table/keys.ts";
import {
  deleteItem,
  putItem,
  updateItem,
  updateOf,
  putOf,
  putUnchecked,
} from "../../shared/platform/table/write.ts";
import {
  chargeMessages,
  settle,
  at,
  closeBooks,
  closing,
  ledger,
  post,
  settleAll,
} from "../support/books.ts";
import { dayShardOf, keyOfEntry } from "../support/organization-shards.ts";
import { useOwnTable } from "../support/own-table.ts";
import { inAllShards } from "../support/shards.ts";
import { interceptTableRequests } from "../support/table-requests.ts";
import { openWallet } from "../support/wallets.ts";

beforeEach(async () => {
  at("2031-03-10T12:00:00.000Z");
  await useOwnTable();
});

it("a wallet that is not settled, or whose ledger does not add up, is named", async () => {
  const customer = await openWallet(1_000_000);
  await chargeMessages(customer, { amountMicros: 40, at: "2031-03-31T20:00:00.000Z" });
  at("2031-04-01T02:00:00.000Z");
  const unsettled = `The ledger of ${customer} is not settled.`;
  await expect(closeBooks("2031-03", closing)).rejects.toThrow(unsettled);
  await settleAll("2031-04-01T02:00:00.000Z", [customer]);
  const key = keyOfEntry(customer, 2);
  const [, entry] = await ledger(customer);
  const wrong = (seq: number): string => `The ledger of ${customer} does not add up at seq ${seq}.`;
  await deleteItem(key);
  await expect(closeBooks("2031-03", closing)).rejects.toThrow(wrong(2));
  await putItem(putUnchecked(key, { ...entry, amountMicros: -39 }));
  await expect(closeBooks("2031-03", closing)).rejects.toThrow(wrong(2));
  await putItem(putUnchecked(key, { ...entry, amountMicros: -39, balanceAfterMicros: 999_961 }));
  await expect(closeBooks("2031-03", closing)).rejects.toThrow(wrong(3));
  await putItem(putUnchecked(key, { ...entry }));
  expect(await closeBooks("2031-03", closing)).toMatchObject({ closingMicros: 999_960 });
  await putItem(putUnchecked(key, { ...entry, createdAt: "2031-04-01T20:00:00.000Z" }));
  at("2031-05-01T02:00:00.000Z");
  await putItem(
    putUnchecked(keys.books("2031-03", customer), {
      ...(await findBooks("2031-03", customer)),
      closedSeq: 1,
      readSeq: 1,
    }),
  );
  await expect(closeBooks("2031-04", closing)).rejects.toThrow(wrong(2));
});

it("a lost entry of the next month, alone in it, is of the next month", async () => {
  const organizationId = await openWallet(1_000_000);
  await chargeMessages(organizationId, { amountMicros: 40, at: "2031-03-12T12:00:00.000Z" });
  at("2031-04-02T12:00:00.000Z");
  await post(organizationId, "credit", 500_000);
  const { seq } = await readWallet(organizationId);
  await settleAll("2031-04-20T00:00:00.000Z", [organizationId]);
  await deleteItem(keyOfEntry(organizationId, seq));
  await closeBooks("2031-03", closing);
  expect((await findBooks("2031-03", organizationId))?.closingMicros).toBe(999_960);
  at("2031-05-20T00:00:00.000Z");
  await inAllShards(closeDays);
  await expect(closeBooks("2031-04", closing)).rejects.toThrow(`at seq ${seq}`);
});

/** Damages of the last entry but one of a ledger of ten, or of the last one, and the seq at which they show. */
const damages = [
  { name: "a changed amount", seq: 9, change: { amountMicros: -1 }, at: 9 },
  {
    name: "a changed balance of the last entry",
    seq: 10,
    change: { balanceAfterMicros: 7 },
    at: 10,
    also: 11,
  },
  { name: "a missing entry", seq: 9, change: undefined, at: 9 },
  { name: "an unreadable entry", seq: 9, change: { type: "gift" }, at: 9 },
  { name: "a missing last entry", seq: 10, change: undefined, at: 10 },
] as const;

it.each(
  damages.flatMap((damage) =>
    // Damages of March's entries, of those after its end in no order, and of an April that starts in order.
    ["2031-03-31T12:00:00.000Z", "2031-04-01T00:00:01.000Z", "2031-04-15T12:00:00.000Z"].map((last) => ({
      ...damage,
      last,
    })),
  ),
)(
  "$name at $last stops its customer only, and is a movement of its own once it is accepted",
  async ({ seq, change, at: place, last, ...others }) => {
    const [bad, good] = [await openWallet(1_000_000), await openWallet(2_000_000)];
    for (let count = 2; count <= 10; count += 1) {
      // One entry of March comes after one of April.
      const moment = count === 8 ? "2031-03-31T23:59:59.000Z" : count < 7 ? "2031-03-30T12:00:00.000Z" : last;
      await chargeMessages(bad, { amountMicros: 10 * count, at: moment });
    }
    await settleAll("2031-04-20T00:00:00.000Z", [bad, good]);
    const entry = (await ledger(bad)).find((each) => each.seq === seq);
    await deleteItem(keyOfEntry(bad, seq));
    if (change !== undefined) await putItem(putUnchecked(keyOfEntry(bad, seq), { ...entry, ...change }));

    const places = [place, ...Object.values(others)];
    const accepted = places.map((each) => `${bad}:${each}`);
    const months: [string, string][] = [
      ["2031-03", "2031-04-20T00:00:00.000Z"],
      ["2031-04", "2031-05-20T00:00:00.000Z"],
      ["2031-05", "2031-06-20T00:00:00.000Z"],
    ];
    let unexplained = 0;
    for (const [month, moment] of months) {
      await settleAll(moment, [bad]);
      const isDamaged = last.slice(0, "yyyy-mm".length) === month;
      const refusal = isDamaged ? await closeBooks(month, closing).then(() => "closed", String) : "";
      const problem = `${month} is closed for 1 customers, and not for 1: The ledger of ${bad} does not add up at seq ${place}.`;
      expect(refusal).toContain(isDamaged ? problem : "");
      expect((await findBooks(month, good))?.closingMicros).toBe(isDamaged ? 2_000_000 : undefined);
      expect(await findBooksTotal(month)).toBeUndefined();
      const total = await closeBooks(
        month,
        isDamaged ? { ...closing, accepted, reason: "Ticket 1" } : closing,
      );
      expect(total.movements["unexplained"] !== undefined).toBe(isDamaged);
      unexplained += total.movements["unexplained"] ?? 0;
      expect((await findBooks(month, bad))?.unexplainedReason).toBe(isDamaged ? "Ticket 1" : undefined);
      await post(bad, "credit", 3);
    }
    const { balanceMicros } = await readWallet(bad);
    const closed = await findBooks("2031-05", bad);
    // The last month closed before its own credit.
    expect(closed?.closingMicros).toBe(balanceMicros - 3);
    const kept = (await ledger(bad)).reduce((sum, { amountMicros }) => sum + amountMicros, 0);
    expect(unexplained).toBe(balanceMicros - kept);
  },
);

it("a month whose last day is not counted yet waits for it", async () => {
  const customer = await openWallet(1_000_000);
  await chargeMessages(customer, { amountMicros: 40, at: "2031-03-31T20:00:00.000Z" });
  at("2031-04-01T02:00:00.000Z");
  await settle(customer);
  await expect(closeBooks("2031-03", closing)).rejects.toThrow(
    new RegExp(
      `The costs of ${customer} on 2031-03-(10|31) are not calculated yet. Repeat the command in an hour.$`,
    ),
  );
});

const marginsKey = (organizationId: string): Key => dayShardOf(organizationId, "2031-03-31").margins;

it.each([
  ["whose wallet is missing", keys.wallet, undefined, ": The organization has no wallet."],
  ["with a day that is not counted", marginsKey, undefined, " on 2031-03-31 are not calculated yet."],
  ["with unreadable costs", marginsKey, { entity: "margins" }, " cannot be read."],
])("an organization %s is named, and all others are closed", async (_, keyOf, item, problem) => {
  const [bad, good] = [await openWallet(1_000_000), await openWallet(2_000_000)];
  for (const each of [bad, good])
    await chargeMessages(each, { amountMicros: 40, at: "2031-03-31T20:00:00.000Z" });
  await settleAll("2031-04-01T02:00:00.000Z", [bad, good]);
  // The messages of the bad one are counted later, as far as the pending work shows.
  const { counter } = dayShardOf(bad, "2031-03-31");
  const pending = { pendingWork: pendingWorkOf("CLOSE-DAY", bad), visitAt: "2031-04-01T01:00:00.000Z" };
  await updateItem(z.unknown(), updateOf(counter, { set: pending }));
  await deleteItem(keyOf(bad));
  if (item !== undefined) await putItem(putOf(keyOf(bad), item));
  const failed = await closeBooks("2031-03", closing).then(() => "closed", String);
  expect(failed).toContain("2031-03 is closed for 1 customers, and not for 1: ");
  expect(failed).toContain(bad);
  expect(failed).toContain(problem);
  expect((await findBooks("2031-03", good))?.closingMicros).toBe(1_999_960);
});

it("a busy table ends the close, and is not a problem of one organization", async () => {
  await openWallet(1_000_000);
  at("2031-04-01T02:00:00.000Z");
  interceptTableRequests(async (command, send) => {
    if (JSON.stringify(command).includes('"BOOKS#2031-03","sk":"org_')) throw new ApiError("UNAVAILABLE");
    return send();
  });
  await expect(closeBooks("2031-03", closing)).rejects.toMatchObject({ code: "UNAVAILABLE" });
});
