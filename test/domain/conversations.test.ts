import { beforeEach, expect, it, vi } from "vitest";

import { eraseNumber } from "../../shared/accounts/erasure/number.ts";
import { CreateContactRequest } from "../../shared/api/contract/contacts.ts";
import { Conversation } from "../../shared/api/contract/conversations.ts";
import { createContact } from "../../shared/audience/contacts/contacts.ts";
import {
  getConversation,
  listConversationMessages,
  listConversations,
  updateConversation,
} from "../../shared/audience/conversations/conversations.ts";
import { receiveInboundMessage } from "../../shared/messages/inbound/receive.ts";
import { assignNumber } from "../../shared/messages/numbers/record.ts";
import { findOptOut } from "../../shared/messages/opt-outs/record.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { dayMs, minuteMs, now } from "../../shared/platform/clock.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { only } from "../support/carriers.ts";
import { advance } from "../support/clock.ts";
import { replyOf } from "../support/inbound-messages.ts";
import { acceptBlock, acceptFor, sendFor } from "../support/messages.ts";
import { allRows } from "../support/rows.ts";
import { interceptTableRequests } from "../support/table-requests.ts";
import { ownerOf } from "../support/viewer.ts";
import { openWallet } from "../support/wallets.ts";
import { openWebhook } from "../support/webhooks.ts";

const phone = "447700900123";
const page = { page: 1, limit: 20 };
const own = { to: phone, senderId: undefined };

let organizationId: string;
let number: string;
let last = 442_079_450_000;
beforeEach(async () => {
  organizationId = await openWallet(1_000_000);
  last += 1;
  number = String(last);
  await assignNumber({ number, organizationId });
});

async function receive(message: string, from = phone): Promise<void> {
  await receiveInboundMessage(replyOf({ from, to: number, message }));
}

async function list(query: { unread?: boolean } = {}): Promise<Conversation[]> {
  return (await listConversations(ownerOf(organizationId), { ...page, ...query })).rows;
}

async function only1(): Promise<Conversation> {
  const [conversation, ...others] = await list();
  expect(others).toEqual([]);
  return Conversation.parse(conversation);
}

async function thread(id: string): Promise<string[]> {
  const { rows } = await listConversationMessages(ownerOf(organizationId), id, page);
  return rows.map(({ direction, message, status = "" }) => `${direction} ${message} ${status}`.trim());
}

it("a conversation has both directions in their order, with the state of each message and the contact's name", async () => {
  await openWebhook("http://127.0.0.1:9/nobody", organizationId);
  await createContact(
    organizationId,
    CreateContactRequest.parse({ phoneNumber: phone, firstName: "Ada", lastName: "Lovelace" }),
  );
  const from = { ...own, from: number };
  const [reminder] = await acceptBlock(organizationId, 1, {
    ...from,
    senderId: number,
    campaignId: "cmp_1",
    message: "Tuesday?",
  });
  await submitMessage({ organizationId, messageId: reminder?.id ?? "" }, only());
  await receive("Yes");
  await acceptFor(organizationId, { ...from, message: "Fine" });
  // A name is not a conversation.
  await acceptFor(organizationId, { to: phone, message: "From a name" });
  const { id, contact, lastInbound, isUnread } = await only1();
  expect({ contact, isUnread }).toEqual({
    contact: { id: expect.any(String), name: "Ada Lovelace" },
    isUnread: true,
  });
  expect(lastInbound).toMatchObject({ message: "Yes" });
  expect(await thread(id)).toEqual(["outbound Fine queued", "inbound Yes", "outbound Tuesday? sent"]);
  expect(await getConversation(ownerOf(organizationId), id)).toMatchObject({
    canReply: true,
    number,
    phoneNumber: phone,
  });
});

it("conversations are in the order of their last inbound messages, each once", async () => {
  for (const [text, from] of [["1"], ["2", "447700900124"], ["3"]] as const) await receive(text, from);
  expect((await list()).map(({ phoneNumber, lastInbound }) => [phoneNumber, lastInbound?.message])).toEqual([
    [phone, "3"],
    ["447700900124", "2"],
  ]);
  const first = await listConversations(ownerOf(organizationId), { page: 1, limit: 1 });
  const second = await listConversations(ownerOf(organizationId), {
    page: 1,
    limit: 5,
    cursor: first.meta.nextCursor,
  });
  expect([...first.rows, ...second.rows].map(({ phoneNumber }) => phoneNumber)).toEqual([
    phone,
    "447700900124",
  ]);
});

it("a conversation is unread until a person reads it, and again with the next message", async () => {
  await receive("1");
  const { id } = await only1();
  const unread = async (): Promise<number> => (await list({ unread: true })).length;
  const mark = async (isUnread: boolean) => updateConversation(ownerOf(organizationId), id, { isUnread });
  expect(await unread()).toBe(1);
  expect(await mark(false)).toMatchObject({ isUnread: false });
  expect(await unread()).toBe(0);
  await receive("2");
  expect(await unread()).toBe(1);
  await mark(false);
  expect(await mark(true)).toMatchObject({ isUnread: true });
  expect(await unread()).toBe(1);
});

it("a message that arrives late makes its conversation unread, and keeps the last one", async () => {
  await receive("2");
  const { id, lastInbound } = await only1();
  await updateConversation(ownerOf(organizationId), id, { isUnread: false });
  advance(-minuteMs);
  await receive("1");
  expect(await list({ unread: true })).toMatchObject([{ id, lastInbound: { id: lastInbound?.id } }]);
});

it("only a phone can be replied to", async () => {
  await receive("Hi", "BANK");
  const { id } = await only1();
  expect(await getConversation(ownerOf(organizationId), id)).toMatchObject({ canReply: false });
});

it("a message that arrives while a person marks the conversation as read leaves it unread", async () => {
  await receive("1");
  const { id } = await only1();
  let hasArrived = false;
  interceptTableRequests(async (command, send) => {
    if (!hasArrived && JSON.stringify(command).includes('"isUnread":false')) {
      hasArrived = true;
      await receive("2");
    }
    return send();
  });
  await updateConversation(ownerOf(organizationId), id, { isUnread: false });
  expect(hasArrived).toBe(true);
  expect(await list({ unread: true })).toMatchObject([{ isUnread: true, lastInbound: { message: "2" } }]);
});

it("a repeated job adds nothing, and completes what a worker that ended left out", async () => {
  const inbound = replyOf({ from: phone, to: number, message: "Hi" });
  let fails = true;
  interceptTableRequests(async (command, send) => {
    if (fails && JSON.stringify(command).includes("PLACE#")) throw new Error("the worker ended");
    return send();
  });
  await expect(receiveInboundMessage(inbound)).rejects.toThrow("the worker ended");
  fails = false;
  await receiveInboundMessage(inbound);
  await receive("Later");
  await receiveInboundMessage(inbound);
  const [conversation] = await list({ unread: true });
  expect(conversation?.lastInbound?.message).toBe("Later");
  expect(await thread(conversation?.id ?? "")).toEqual(["inbound Later", "inbound Hi"]);
});

it("an erased number is in no conversation, and its marks and entries are gone", async () => {
  await receive("secret");
  await receive("other", "447700900124");
  await acceptFor(organizationId, { ...own, from: number });
  const job = await sendFor(organizationId, { ...own, from: number });
  await eraseNumber(organizationId, phone);
  // A repeated job publishes the message again, which has no number any more.
  await submitMessage(job, only());
  const [left, ...others] = await list();
  expect([left?.phoneNumber, others]).toEqual(["447700900124", []]);
  const { pk } = keys.conversation(organizationId, "");
  const rows = (await allRows()).filter((row) => row["pk"] === pk);
  const id = left?.id ?? "none";
  expect(rows.map(({ sk }) => String(sk)).toSorted()).toEqual([
    `PLACE#${left?.lastInbound?.id ?? ""}`,
    id,
    expect.stringMatching(`^${id}#`),
  ]);
});

it("an inbound message from before the erasure is not added, and a later conversation stays", async () => {
  const late = replyOf({ from: phone, to: number, message: "old", receivedAt: new Date().toISOString() });
  await eraseNumber(organizationId, phone);
  await receiveLater("new");
  await receiveInboundMessage(late);
  const { id } = await only1();
  expect(await thread(id)).toEqual(["inbound new"]);
});

/** Calls `work` once, just before the end of a conversation is written. */
function beforeItsEnd(work: () => Promise<void>): () => boolean {
  let isCalled = false;
  interceptTableRequests(async (command, send) => {
    const text = JSON.stringify(command);
    if (!isCalled && text.includes('"Delete":') && text.includes("PLACE#")) {
      isCalled = true;
      await work();
    }
    return send();
  });
  return () => isCalled;
}

async function receiveLater(message: string): Promise<void> {
  advance(minuteMs);
  await receiveInboundMessage({
    ...replyOf({ from: phone, to: number, message }),
    receivedAt: now().toISOString(),
  });
}

it("a message that arrives while its number is erased keeps its conversation", async () => {
  await receive("old");
  const hasArrived = beforeItsEnd(async () => receiveLater("new"));
  await eraseNumber(organizationId, phone);
  expect(hasArrived()).toBe(true);
  expect(await only1()).toMatchObject({ lastInbound: { message: "new" } });
});

it("a conversation that a person marks as read while its number is erased is gone, with its place", async () => {
  await receive("old");
  const { id } = await only1();
  const isMarked = beforeItsEnd(async () => {
    await updateConversation(ownerOf(organizationId), id, { isUnread: false });
  });
  await eraseNumber(organizationId, phone);
  expect(isMarked()).toBe(true);
  expect(await list()).toEqual([]);
  await receiveLater("new");
  expect(await only1()).toMatchObject({ lastInbound: { message: "new" } });
});

it("a STOP counts although its conversation cannot be written, and the job returns", async () => {
  interceptTableRequests(async (command, send) => {
    if (JSON.stringify(command).includes("CONVERSATIONS#")) throw new Error("no conversation");
    return send();
  });
  await expect(receive("STOP")).rejects.toThrow("no conversation");
  expect(await findOptOut(organizationId, phone)).toMatchObject({ source: "reply" });
});

it("a conversation expires with its messages", async () => {
  vi.stubEnv(environmentNames.messageRetentionDays, "1");
  await receive("Hi");
  await acceptFor(organizationId, { ...own, from: number });
  const { pk } = keys.conversation(organizationId, "");
  const rows = (await allRows()).filter((row) => row["pk"] === pk);
  expect(rows).toHaveLength(4);
  for (const row of rows) expect(row["expiresAt"]).toEqual(expect.any(Number));
  const { id } = await only1();
  advance(dayMs + minuteMs);
  expect(await list()).toEqual([]);
  await expect(thread(id)).rejects.toMatchObject({ code: "NOT_FOUND" });
});

it("conversations of others are not found", async () => {
  await receive("1");
  const { id } = await only1();
  const other = ownerOf(await openWallet(0));
  await expect(getConversation(other, id)).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect(listConversationMessages(other, id, page)).rejects.toMatchObject({ code: "NOT_FOUND" });
});
