import { beforeEach, describe, expect, it, vi } from "vitest";

import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { postToWallet } from "../../shared/money/wallet/post.ts";
import { dayMs, hourMs, minuteMs, now } from "../../shared/platform/clock.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { messageKey } from "../../shared/platform/table/shards.ts";
import { deleteItem } from "../../shared/platform/table/write.ts";
import { advance } from "../support/clock.ts";
import { damage } from "../support/items.ts";
import { acceptFor } from "../support/messages.ts";
import { keyOfEntry } from "../support/organization-shards.ts";
import { setFee, startFor } from "../support/verifications.ts";
import { openOrganization, openWallet } from "../support/wallets.ts";

let organizationId: string;
let messageId: string;

beforeEach(async () => {
  organizationId = await openWallet(1_000_000);
  ({ messageId } = await acceptFor(organizationId));
  await acceptFor(organizationId);
  // No function works on these sends any more.
  advance(hourMs);
});

it("finds nothing wrong with a wallet in order", async () => {
  expect(await verifyWallet(organizationId)).toEqual({
    organizationId,
    balanceMicros: 984_200,
    entries: 3,
    findings: [],
    pending: [],
  });
});

it("finds nothing wrong with a wallet that was never used", async () => {
  const unused = await openWallet(0);
  expect(await verifyWallet(unused)).toMatchObject({ balanceMicros: 0, entries: 0, findings: [] });
});

it.each([
  ["finds", "findings", 0],
  ["reports as pending, while its send may still be under way,", "pending", -hourMs],
] as const)("%s a missing entry, also at the end", async (_, found, ms) => {
  advance(ms);
  for (const last of [2, 3]) {
    await deleteItem(keyOfEntry(organizationId, last));
    const expected = { findings: [], pending: [], [found]: [`seq 2 to ${last} have no entry`] };
    expect(await verifyWallet(organizationId)).toMatchObject(expected);
  }
});

it("finds a balance that does not follow from the one before", async () => {
  await damage(keyOfEntry(organizationId, 2), { balanceAfterMicros: 1 });
  expect((await verifyWallet(organizationId)).findings).toEqual([
    "seq 2 has 1, the entries add up to 992100",
    "seq 3 has 984200, the entries add up to -7899",
  ]);
});

it("finds a balance of the wallet that differs from its entries, however recent it is", async () => {
  const findings = ["the wallet has 984201, its entries add up to 984200"];
  await damage(keys.wallet(organizationId), { balanceMicros: 984_201 });
  expect(await verifyWallet(organizationId)).toMatchObject({ findings, pending: [] });
  advance(-hourMs);
  expect(await verifyWallet(organizationId)).toMatchObject({ findings, pending: [] });
});

it("finds a payment for a message that does not exist or has another price", async () => {
  await damage(messageKey({ organizationId, id: messageId }), { totalMicros: 1 });
  expect((await verifyWallet(organizationId)).findings).toEqual([
    `seq 2 moves -7900 for ${messageId}, which cost 1`,
  ]);
  await deleteItem(messageKey({ organizationId, id: messageId }));
  expect((await verifyWallet(organizationId)).findings).toEqual([
    `seq 2 pays for ${messageId}, which does not exist`,
  ]);
});

describe("fees of verifications", () => {
  let id: string;

  beforeEach(async () => {
    vi.setSystemTime("2034-01-01T12:00:00Z");
    await setFee(50_000);
    organizationId = await openOrganization(1_000_000);
    ({ id } = await startFor(organizationId));
  });

  const refund = async (amountMicros = 50_000) =>
    postToWallet({ organizationId, type: "refund", amountMicros, verificationId: id });
  const found = async () => {
    const { findings, pending } = await verifyWallet(organizationId);
    return { findings, pending };
  };
  const state = async (fields: Record<string, unknown>) =>
    damage(keys.verification(organizationId, id), fields);

  it("finds a fee that returned twice, of another amount, or without a note", async () => {
    await refund();
    const seq = `seq 4 returns 50000 for ${id}`;
    expect(await found()).toEqual({ findings: [`${seq}, which does not know`], pending: [] });
    await state({ status: "expired", refund: "done" });
    expect(await found()).toEqual({ findings: [], pending: [] });
    await refund();
    expect((await found()).findings).toEqual([`seq 5 returns a fee of ${id} that is not charged`]);
    ({ id } = await startFor(organizationId, { to: "15005550008" }));
    await state({ status: "expired", refund: "done" });
    await refund(1);
    expect((await found()).findings.slice(1)).toEqual([`seq 8 returns 1 for ${id}, whose fee was 50000`]);
  });

  it("finds a fee without its verification, or that is not the verification's", async () => {
    await state({ feeMicros: 1 });
    expect((await found()).findings).toEqual([`seq 3 moves -50000 for ${id}, whose fee is 1`]);
    await deleteItem(keys.verification(organizationId, id));
    expect((await found()).findings).toEqual([`seq 3 pays for ${id}, which does not exist`]);
    advance(30 * dayMs);
    expect(await found()).toEqual({ findings: [], pending: [] });
  });

  it("finds a return that is due for long, also of a code that expired without a note, and one without an entry", async () => {
    const due = `the fee of ${id} is not returned yet`;
    expect(await found()).toEqual({ findings: [], pending: [] });
    advance(11 * minuteMs);
    expect(await found()).toEqual({ findings: [], pending: [due] });
    advance(dayMs + hourMs);
    expect(await found()).toEqual({ findings: [due], pending: [] });
    await state({ status: "expired", refund: "due", endedAt: now().toISOString() });
    expect(await found()).toEqual({ findings: [], pending: [due] });
    advance(hourMs);
    expect(await found()).toEqual({ findings: [due], pending: [] });
    await state({ refund: "done" });
    expect(await found()).toEqual({ findings: [`no entry returns the fee of ${id}`], pending: [] });
    await state({ status: "approved", refund: undefined });
    expect(await found()).toEqual({ findings: [], pending: [] });
  });
});

it("finds a failed message without a refund, and gives a recent one time", async () => {
  await damage(messageKey({ organizationId, id: messageId }), { refund: "due" });
  const finding = `${messageId} failed and is not refunded yet`;
  await damage(messageKey({ organizationId, id: messageId }), { failedAt: now().toISOString() });
  expect(await verifyWallet(organizationId)).toMatchObject({ findings: [], pending: [finding] });
  advance(hourMs);
  expect(await verifyWallet(organizationId)).toMatchObject({ findings: [finding], pending: [] });
});
