import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeEach, expect, inject, it, vi } from "vitest";

import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { hourMs, now } from "../../shared/platform/clock.ts";
import { keys, type Key } from "../../shared/platform/table/keys.ts";
import { messageKey } from "../../shared/platform/table/shards.ts";
import { deleteItem } from "../../shared/platform/table/write.ts";
import { acceptMessage } from "../support/as-organization.ts";
import { keyOfEntry } from "../support/organization-shards.ts";
import { openWallet } from "../support/wallets.ts";

let organizationId: string;
let messageId: string;

beforeEach(async () => {
  organizationId = await openWallet(1_000_000);
  const request = { to: "15005550000", message: "hello", senderId: "ACME", language: "English" } as const;
  messageId = (await acceptMessage(organizationId, request)).id;
  await acceptMessage(organizationId, request);
  // No function works on these sends any more.
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + hourMs });
});
afterEach(() => vi.useRealTimers());

async function tamper(key: Key, attribute: string, value: unknown): Promise<void> {
  await DynamoDBDocumentClient.from(new DynamoDBClient({})).send(
    new UpdateCommand({
      TableName: inject("table").name,
      Key: { ...key },
      UpdateExpression: "SET #attribute = :value",
      ExpressionAttributeNames: { "#attribute": attribute },
      ExpressionAttributeValues: { ":value": value },
    }),
  );
}

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

it("finds a missing entry, also at the end", async () => {
  await deleteItem(keyOfEntry(organizationId, 2));
  expect((await verifyWallet(organizationId)).findings).toEqual(["seq 2 to 2 have no entry"]);
  await deleteItem(keyOfEntry(organizationId, 3));
  expect((await verifyWallet(organizationId)).findings).toEqual(["seq 2 to 3 have no entry"]);
});

it("finds a balance that does not follow from the one before", async () => {
  await tamper(keyOfEntry(organizationId, 2), "balanceAfterMicros", 1);
  expect((await verifyWallet(organizationId)).findings).toEqual([
    "seq 2 has 1, the entries add up to 992100",
    "seq 3 has 984200, the entries add up to -7899",
  ]);
});

it("finds a balance of the wallet that differs from its entries", async () => {
  await tamper(keys.wallet(organizationId), "balanceMicros", 984_201);
  expect((await verifyWallet(organizationId)).findings).toEqual([
    "the wallet has 984201, its entries add up to 984200",
  ]);
});

it("finds a payment for a message that does not exist or has another price", async () => {
  await tamper(messageKey({ organizationId, id: messageId }), "totalMicros", 1);
  expect((await verifyWallet(organizationId)).findings).toEqual([
    `seq 2 moves -7900 for ${messageId}, which cost 1`,
  ]);
  await deleteItem(messageKey({ organizationId, id: messageId }));
  expect((await verifyWallet(organizationId)).findings).toEqual([
    `seq 2 pays for ${messageId}, which does not exist`,
  ]);
});

it("finds a failed message without a refund, and gives a recent one time", async () => {
  await tamper(messageKey({ organizationId, id: messageId }), "refund", "due");
  const finding = `${messageId} failed and is not refunded yet`;
  await tamper(messageKey({ organizationId, id: messageId }), "failedAt", now().toISOString());
  expect(await verifyWallet(organizationId)).toMatchObject({ findings: [], pending: [finding] });
  vi.setSystemTime(Date.now() + hourMs);
  expect(await verifyWallet(organizationId)).toMatchObject({ findings: [finding], pending: [] });
});

it("reports a missing entry as pending while its send may still be under way", async () => {
  vi.useRealTimers();
  await deleteItem(keyOfEntry(organizationId, 2));
  expect(await verifyWallet(organizationId)).toMatchObject({
    findings: [],
    pending: ["seq 2 to 2 have no entry"],
  });
  await deleteItem(keyOfEntry(organizationId, 3));
  expect(await verifyWallet(organizationId)).toMatchObject({
    findings: [],
    pending: ["seq 2 to 3 have no entry"],
  });
});

it("finds a wrong balance immediately, however recent it is", async () => {
  vi.useRealTimers();
  await tamper(keys.wallet(organizationId), "balanceMicros", 984_201);
  expect(await verifyWallet(organizationId)).toMatchObject({
    findings: ["the wallet has 984201, its entries add up to 984200"],
    pending: [],
  });
});
