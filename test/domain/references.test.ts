import { randomUUID } from "node:crypto";

import { beforeEach, describe, expect, it, vi } from "vitest";

import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { adjustWallet, type Adjustment } from "../../shared/money/wallet/adjust.ts";
import { LedgerEntryRecord } from "../../shared/money/wallet/ledger.ts";
import { postToWallet } from "../../shared/money/wallet/post.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { ReferenceTakenError } from "../../shared/money/wallet/reference.ts";
import { dayMs } from "../../shared/platform/clock.ts";
import { findItem } from "../../shared/platform/table/read.ts";
import { loseResponse } from "../support/carriers.ts";
import { advance } from "../support/clock.ts";
import { keyOfEntry } from "../support/organization-shards.ts";
import { interceptTableRequests } from "../support/table-requests.ts";
import { openWallet } from "../support/wallets.ts";

/*
 * A reference belongs to one movement of money, permanently and over all organizations.
 */

let payment: Adjustment;

beforeEach(async () => {
  const organizationId = await openWallet(0);
  const reference = `invoice ${randomUUID()}`;
  payment = { organizationId, type: "payment", amountMicros: 5_000_000, reason: "invoice 1", reference };
});

async function expectOneMovement(): Promise<void> {
  expect(await readWallet(payment.organizationId)).toMatchObject({ balanceMicros: 5_000_000, seq: 1 });
  expect(await verifyWallet(payment.organizationId)).toMatchObject({ entries: 1, findings: [] });
}

it("the same movement again changes nothing and gets the first result, also after other movements", async () => {
  expect(await adjustWallet(payment)).toEqual({ balanceMicros: 5_000_000, wasDoneBefore: false });
  await postToWallet({ organizationId: payment.organizationId, type: "top_up", amountMicros: 1 });
  const again = { balanceMicros: 5_000_000, wasDoneBefore: true };
  expect(await adjustWallet({ ...payment, reason: "other words" })).toEqual(again);
  for (const days of [2, 10_000]) {
    advance(days * dayMs);
    expect(await adjustWallet(payment)).toEqual(again);
  }
  expect(await readWallet(payment.organizationId)).toMatchObject({ balanceMicros: 5_000_001, seq: 2 });
});

it.each([
  ["payment", 5_000_000],
  ["credit", 5_000_000],
  ["correction", 5_000_000],
  ["payment_refund", -1_000_000],
  ["chargeback", -1_000_000],
] as const)("the ledger entry of a %s has its type and its reference", async (type, amountMicros) => {
  const { organizationId } = payment;
  await postToWallet({ organizationId, type: "top_up", amountMicros: 2_000_000 });
  await adjustWallet({ ...payment, type, amountMicros });
  const entry = await findItem(LedgerEntryRecord, keyOfEntry(organizationId, 2));
  expect(entry).toMatchObject({ type, amountMicros, reference: payment.reference });
});

it.each<[string, (other: string) => Partial<Adjustment>]>([
  ["another organization", (organizationId) => ({ organizationId })],
  ["another amount", () => ({ amountMicros: 5_000_001 })],
  ["the opposite amount", () => ({ amountMicros: -5_000_000 })],
  ["another type", () => ({ type: "credit" })],
])(
  "a movement of %s with the same reference is rejected, and the error names the first",
  async (_, change) => {
    const other = await openWallet(7);
    await adjustWallet(payment);
    const rejected = adjustWallet({ ...payment, ...change(other) });
    await expect(rejected).rejects.toThrow(ReferenceTakenError);
    await expect(rejected).rejects.toThrow(
      `The reference ${payment.reference} belongs to another movement: payment of 5.000000 USD for ${payment.organizationId} at `,
    );
    await expectOneMovement();
    expect((await readWallet(other)).balanceMicros).toBe(7);
  },
);

it("a movement that the wallet does not cover leaves its reference free", async () => {
  const debit = { ...payment, type: "correction", amountMicros: -1 } as const;
  await expect(adjustWallet(debit)).rejects.toMatchObject({ code: "INSUFFICIENT_BALANCE" });
  expect(await adjustWallet(payment)).toMatchObject({ wasDoneBefore: false });
});

it("one of several movements with the same reference at the same time succeeds", async () => {
  const same = await Promise.all(Array.from({ length: 5 }, async () => adjustWallet(payment)));
  expect(same.filter(({ wasDoneBefore }) => !wasDoneBefore)).toHaveLength(1);
  await expectOneMovement();
});

it("one of several customers with the same reference at the same time gets the money", async () => {
  const organizationIds = await Promise.all(Array.from({ length: 5 }, async () => openWallet(0)));
  const results = await Promise.allSettled(
    organizationIds.map(async (organizationId) => adjustWallet({ ...payment, organizationId })),
  );
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  const balances = await Promise.all(
    organizationIds.map(async (organizationId) => (await readWallet(organizationId)).balanceMicros),
  );
  expect(balances.toSorted((one, other) => one - other)).toEqual([0, 0, 0, 0, 5_000_000]);
});

/** A fault of a request. */
type Fault = (carryOut: () => Promise<unknown>) => Promise<unknown>;

/** Makes one of the next requests fail, by its number from 1. @returns whether that request was made */
function breakRequest(number: number, fault: Fault): () => boolean {
  let count = 0;
  interceptTableRequests(async (_command, send) => {
    count += 1;
    return count === number ? fault(send) : send();
  });
  return () => count >= number;
}

describe("each request of a movement in sequence", () => {
  it.each<[string, Fault]>([
    ["is lost", async () => loseResponse()],
    [
      "is carried out and its response is lost",
      async (carryOut) => {
        await carryOut();
        loseResponse();
      },
    ],
  ])("%s, and the movement is made once when it is repeated", async (_, fault) => {
    let faults = 0;
    for (let number = 1; ; number += 1) {
      const organizationId = await openWallet(0);
      const movement = { ...payment, organizationId, reference: randomUUID() };
      const hasHappened = breakRequest(number, fault);
      const first = await adjustWallet(movement).catch(() => undefined);
      vi.restoreAllMocks();
      const isOver = !hasHappened();
      expect(await adjustWallet(movement)).toMatchObject({
        balanceMicros: 5_000_000,
        ...(first === undefined ? {} : { wasDoneBefore: true }),
      });
      expect(await readWallet(organizationId)).toMatchObject({ balanceMicros: 5_000_000, seq: 1 });
      expect(await verifyWallet(organizationId)).toMatchObject({ entries: 1, findings: [] });
      if (isOver) break;
      faults += 1;
    }
    // The reference, the wallet, the transaction.
    expect(faults).toBeGreaterThanOrEqual(3);
  });

  it("a transaction that arrives after the movement was repeated is rejected", async () => {
    let arrive: () => Promise<unknown> = async () => undefined;
    breakRequest(3, async (carryOut) => {
      arrive = carryOut;
      throw new Error("the connection broke");
    });
    await expect(adjustWallet(payment)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    vi.restoreAllMocks();
    expect(await adjustWallet(payment)).toMatchObject({ wasDoneBefore: false });
    await expect(arrive()).rejects.toThrow("ConditionalCheckFailed");
    await expectOneMovement();
  });
});
