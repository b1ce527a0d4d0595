import { beforeEach, expect, it } from "vitest";

import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { hourMs, now } from "../../shared/platform/clock.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { messageKey } from "../../shared/platform/table/shards.ts";
import { deleteItem } from "../../shared/platform/table/write.ts";
import { advance } from "../support/clock.ts";
import { damage } from "../support/items.ts";
import { acceptFor } from "../support/messages.ts";
import { keyOfEntry } from "../support/organization-shards.ts";
import { openWallet } from "../support/wallets.ts";

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

it("finds a failed message without a refund, and gives a recent one time", async () => {
  await damage(messageKey({ organizationId, id: messageId }), { refund: "due" });
  const finding = `${messageId} failed and is not refunded yet`;
  await damage(messageKey({ organizationId, id: messageId }), { failedAt: now().toISOString() });
  expect(await verifyWallet(organizationId)).toMatchObject({ findings: [], pending: [finding] });
  advance(hourMs);
  expect(await verifyWallet(organizationId)).toMatchObject({ findings: [finding], pending: [] });
});
