import { beforeAll, describe, expect, it, vi } from "vitest";

import { Conversation, ConversationMessage } from "../../shared/api/contract/conversations.ts";
import { AcceptedMessage, Message } from "../../shared/api/contract/sms.ts";
import { receiveInboundMessage } from "../../shared/messages/inbound/receive.ts";
import { assignNumber, releaseNumber } from "../../shared/messages/numbers/record.ts";
import { newId } from "../../shared/platform/ids.ts";
import { call, Customer, dataOf, errorOf, pageOf } from "../support/api.ts";
import { replyOf } from "../support/inbound-messages.ts";
import { patience } from "../support/patience.ts";

const phone = "15005550007";
const price = 0.0079;

let customer: Customer;
let number: string;
beforeAll(async () => {
  customer = await Customer.register({ balance: 1 });
  number = `1205${String(Date.now()).slice(-7)}`;
  await assignNumber({ number, organizationId: customer.organizationId });
});

/** Stores an inbound message as the worker of a carrier's callback does. */
async function receive(fields: Parameters<typeof replyOf>[0]): Promise<void> {
  await receiveInboundMessage({ ...replyOf(fields), carrierId: newId("inb") });
}

async function list(query = "", whose = customer): Promise<Conversation[]> {
  return pageOf(await whose.call(`/v1/conversations?${query}`), Conversation).rows;
}

async function converse(message: string, query = ""): Promise<Conversation> {
  return vi.waitFor(async () => {
    const [newest] = await list(query);
    expect(newest?.lastInbound).toMatchObject({ message });
    if (newest === undefined) throw new Error("there is no conversation");
    return newest;
  }, patience);
}

describe("a conversation", () => {
  it("is read, replied to from its number, and charged once for each Idempotency-Key", async () => {
    await receive({ from: phone, to: number, message: "Are you open?" });
    const { id, isUnread } = await converse("Are you open?");
    expect(isUnread).toBe(true);
    const reply = async () =>
      customer.call(`/v1/conversations/${id}/messages`, {
        json: { message: "Until six." },
        headers: { "Idempotency-Key": "reply-1" },
      });
    const accepted = dataOf(await reply(), AcceptedMessage);
    expect(dataOf(await reply(), AcceptedMessage)).toEqual(accepted);
    expect((await customer.client.getWallet()).balance).toBe(1 - price);
    const messages = await vi.waitFor(async () => {
      const { rows } = pageOf(await customer.call(`/v1/conversations/${id}/messages`), ConversationMessage);
      expect(rows[0]?.delivery).toBe("delivered");
      return rows;
    }, patience);
    expect(messages.map(({ direction, message }) => [direction, message])).toEqual([
      ["outbound", "Until six."],
      ["inbound", "Are you open?"],
    ]);
    const sent = dataOf(await customer.call(`/v1/sms/${accepted.id}`), Message);
    expect(sent).toMatchObject({ from: number, senderId: number, to: phone, messageType: "transactional" });
    const read = await customer.call(`/v1/conversations/${id}`, {
      method: "PATCH",
      json: { isUnread: false },
    });
    expect(dataOf(read, Conversation)).toMatchObject({ isUnread: false, canReply: true });
    expect(await list("unread=true")).toEqual([]);
  });

  it("cannot be replied to after a STOP, or once the number was taken away", async () => {
    await receive({ from: "15005550009", to: number, message: "STOP" });
    const { id } = await converse("STOP");
    const reply = async () =>
      errorOf(await customer.call(`/v1/conversations/${id}/messages`, { json: { message: "Please" } }));
    expect(await reply()).toEqual({ status: 403, code: "RECIPIENT_OPTED_OUT" });
    await releaseNumber(number);
    expect(await reply()).toEqual({ status: 403, code: "SENDER_ID_NOT_APPROVED" });
    expect(dataOf(await customer.call(`/v1/conversations/${id}`), Conversation).canReply).toBe(false);
    await assignNumber({ number, organizationId: customer.organizationId });
  });

  it("of a test needs no number and no money, and a test key sees no other", async () => {
    await customer.client.testInbound({ body: { from: phone, to: "12065550199", message: "Hello?" } });
    const { id: contactId } = await customer.client.createContact({ body: { phoneNumber: phone } });
    const { id, contact } = await converse("Hello?", "test=true");
    expect(contact).toBeUndefined();
    const before = (await customer.client.getWallet()).balance;
    const reply = await customer.call(`/v1/conversations/${id}/messages`, { json: { message: "Hello!" } });
    expect(dataOf(reply, AcceptedMessage).test).toBe(true);
    expect((await customer.client.getWallet()).balance).toBe(before);
    const { secret } = await customer.client.createApiKey({ body: { test: true } });
    const seen = pageOf(await call("/v1/conversations", { credential: secret }), Conversation).rows;
    expect(seen.map((each) => each.id)).toEqual([id]);
    const live = (await list()).find(({ phoneNumber }) => phoneNumber === phone);
    expect(live?.contact).toEqual({ id: contactId });
    const other = await call(`/v1/conversations/${live?.id ?? ""}`, { credential: secret });
    expect(errorOf(other)).toEqual({ status: 404, code: "NOT_FOUND" });
  });
});

it("messages of a template and a campaign come from an own number, and from no other", async () => {
  const { client } = customer;
  const contact = await client.createContact({ body: { phoneNumber: "15005550008", firstName: "Ada" } });
  const template = await client.createTemplate({ body: { name: "hi", body: "Hi {{firstName}}" } });
  const message = { name: "n", templateId: template.id, audience: { contactIds: [contact.id] } };
  const { id } = await client.createCampaign({ body: { ...message, from: number } });
  await client.launchCampaign({ params: { id } });
  await vi.waitFor(async () => {
    const { rows } = await client.listSms({ query: { campaignId: id } });
    expect(rows).toMatchObject([{ from: number, message: "Hi Ada", status: "sent" }]);
  }, patience);
  const values = { to: phone, values: { firstName: "Ada" } };
  const sent = await client.sendTemplate({ params: { id: template.id }, body: { ...values, from: number } });
  expect(await client.getSms({ params: { id: sent.id } })).toMatchObject({ from: number });
  const other = await Customer.register({ balance: 1 });
  const rejected = { status: 403, code: "SENDER_ID_NOT_APPROVED" };
  expect(errorOf(await other.trySend({ senderId: undefined, from: number }))).toEqual(rejected);
  await other.client.createContact({ body: { phoneNumber: "15005550008" } });
  const draft = await other.client.createCampaign({
    body: { name: "n", message: "Hi", audience: { all: true }, from: number },
  });
  const launch = async () => other.call(`/v1/campaigns/${draft.id}/launch`, { method: "POST" });
  expect(errorOf(await launch())).toEqual(rejected);
  expect((await other.client.getWallet()).balance).toBe(1);
  const params = { id: draft.id };
  expect(await other.client.updateCampaign({ params, body: { senderId: "ACME" } })).not.toHaveProperty(
    "from",
  );
  expect((await launch()).status).toBe(200);
});
