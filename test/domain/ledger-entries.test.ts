import { expect, it } from "vitest";

import { newMessage } from "../../shared/messages/accept/new-message.ts";
import { cancelMessage } from "../../shared/messages/outcome/cancel.ts";
import { refundMessage } from "../../shared/messages/outcome/refund.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { readLedger, type LedgerEntryRecord } from "../../shared/money/wallet/ledger.ts";
import { postToWallet } from "../../shared/money/wallet/post.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { PutCommand, TransactWriteCommand } from "../../shared/platform/aws/dynamodb.ts";
import { newId } from "../../shared/platform/ids.ts";
import { oneShard } from "../../shared/platform/table/shards.ts";
import { only, reject, ScriptedCarrier } from "../support/carriers.ts";
import { acceptAll, acceptFor, acceptBlock, hello } from "../support/messages.ts";
import { onePrice } from "../support/prices.ts";
import { interceptTableRequests } from "../support/table-requests.ts";
import { ownerOf } from "../support/viewer.ts";
import { openWallet } from "../support/wallets.ts";

const british = "447400123456";
const withoutCountry = "881612345678";

async function entriesOf(organizationId: string): Promise<LedgerEntryRecord[]> {
  const wallet = await readWallet(organizationId);
  return readLedger(wallet, { from: 1, to: wallet.seq, limit: 100 });
}

/** Returns the fields of an entry that follow from its message. */
function fieldsOf({ type, messageId, country, segments, campaignId }: LedgerEntryRecord) {
  return { type, messageId, country, segments, campaignId };
}

it("an entry has the country, the segments and the campaign of its message, and so has its refund", async () => {
  const organizationId = await openWallet(10_000_000);
  const failing = await acceptFor(organizationId, { message: "long ".repeat(40), to: british });
  const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
  const waiting = await acceptFor(organizationId, { to: withoutCountry, scheduledAt });
  const campaignId = newId("cmp");
  const terms = { queuedAt: new Date(), prices: onePrice };
  const block = [british, withoutCountry].map((to) =>
    newMessage({ organizationId, ...oneShard }, { ...hello, to, campaignId }, terms),
  );
  const [first, second] = block;
  await acceptAll(block);
  await submitMessage(failing, only(new ScriptedCarrier(reject)));
  await refundMessage(failing);
  await cancelMessage(ownerOf(organizationId), waiting.messageId);

  const entries = (await entriesOf(organizationId)).slice(1);
  const charged = [
    { messageId: failing.messageId, country: "GB", segments: 2, campaignId: undefined },
    { messageId: waiting.messageId, country: undefined, segments: 1, campaignId: undefined },
    { messageId: first?.id, country: "GB", segments: 1, campaignId },
    { messageId: second?.id, country: undefined, segments: 1, campaignId },
  ];
  expect(entries.map(fieldsOf)).toEqual([
    ...charged.map((each) => ({ type: "message", ...each })),
    ...charged.slice(0, 2).map((each) => ({ type: "refund", ...each })),
  ]);
});

it("entries that return a lost debit have none of them", async () => {
  const organizationId = await openWallet(10_000_000);
  interceptTableRequests(async (command, send) => {
    const isEntry = command instanceof PutCommand && command.input.Item?.["type"] === "message";
    if (isEntry) throw new Error("the response was lost");
    return send();
  });
  await expect(acceptFor(organizationId, { to: british })).rejects.toMatchObject({ code: "UNAVAILABLE" });
  const none = { messageId: undefined, country: undefined, segments: undefined, campaignId: undefined };
  expect((await entriesOf(organizationId)).slice(1).map(fieldsOf)).toEqual([
    { type: "void", ...none },
    { type: "refund", ...none },
  ]);
});

it("an entry of a payment has the payment's id", async () => {
  const organizationId = await openWallet(0);
  await postToWallet({ organizationId, type: "payment", amountMicros: 5_000_000, paymentId: "pay_1" });
  expect(await entriesOf(organizationId)).toMatchObject([{ type: "payment", paymentId: "pay_1" }]);
});

it("the entry of a message is one write unit, with everything that it can have", async () => {
  const organizationId = await openWallet(10_000_000);
  const sizes: number[] = [];
  interceptTableRequests(async (command, send) => {
    if (command instanceof TransactWriteCommand) {
      for (const { Put } of command.input.TransactItems ?? []) {
        if (Put?.Item?.["entity"] === "ledgerEntry") sizes.push(JSON.stringify(Put.Item).length);
      }
    }
    return send();
  });
  await acceptBlock(organizationId, 1, { to: british, campaignId: newId("cmp") });
  expect(sizes).toHaveLength(1);
  // The JSON is longer than the item, and leaves room for the digits of a long ledger.
  expect(Math.max(...sizes)).toBeLessThan(700);
});
