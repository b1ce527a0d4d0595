import { expect, it, vi } from "vitest";

import {
  CampaignRecipient,
  type Campaign,
  type RecipientOutcome,
} from "../../shared/api/contract/campaigns.ts";
import type { Keyword } from "../../shared/api/contract/inbound.ts";
import { dayMs } from "../../shared/platform/clock.ts";
import { derivedId } from "../../shared/platform/ids.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { insertOf, putItem } from "../../shared/platform/table/write.ts";
import { Customer, errorOf, invalidFields, pageOf } from "../support/api.ts";
import { importContacts, numberOf } from "../support/contacts.ts";
import { patience } from "../support/patience.ts";

async function launch(
  customer: Customer,
  fields: { message?: string; audience?: Campaign["audience"] } = {},
): Promise<string> {
  const { client } = customer;
  const { id } = await client.createCampaign({
    body: { name: "Spring", message: "Hello", audience: { all: true }, senderId: "ACME", ...fields },
  });
  await client.launchCampaign({ params: { id } });
  await vi.waitFor(
    async () => expect((await client.getCampaign({ params: { id } })).status).toBe("completed"),
    patience,
  );
  return id;
}

let received = 0;

/** Stores an inbound message as it is stored when it arrives, by default each a millisecond later than the previous one. */
async function receive(
  { organizationId }: Customer,
  from: string,
  message: string,
  keyword?: Keyword,
  atMs = Date.now() + (received += 1),
): Promise<void> {
  const id = derivedId("inb", new Date(atMs), message);
  const record = { id, organizationId, from, to: "12065550100", message, keyword } as const;
  const receivedAt = new Date().toISOString();
  await putItem(
    insertOf(keys.inbound(organizationId, id), { entity: "inboundMessage", ...record, receivedAt }),
  );
}

it("the people of a campaign are listed by their outcome, with names and reasons", async () => {
  const customer = await Customer.register({ balance: 1 });
  const { client } = customer;
  const [pending, failed, delivered, undelivered] = [
    "15005550000",
    "15005550002",
    "15005550007",
    "15005550008",
  ] as const;
  const contacts = [
    { phoneNumber: pending, firstName: "Ada", lastName: "Byron" },
    { phoneNumber: failed, firstName: "Grace" },
    { phoneNumber: delivered, firstName: "Alan" },
    { phoneNumber: undelivered, firstName: "Mary" },
    { phoneNumber: numberOf(1), firstName: "Out", optedOut: true },
    { phoneNumber: numberOf(2) },
  ];
  await client.importContacts({ body: { contacts } });
  await receive(customer, pending, "Before the campaign");
  const id = await launch(customer, { message: "Hello {{firstName}}" });
  const list = async (outcome?: RecipientOutcome) =>
    (await client.listCampaignRecipients({ params: { id }, query: { outcome } })).rows;
  await vi.waitFor(async () => expect(await list("pending")).toHaveLength(1), patience);
  expect(await list("pending")).toMatchObject([{ number: pending, name: "Ada Byron", status: "pending" }]);
  expect(await list("delivered")).toMatchObject([{ number: delivered, name: "Alan", status: "delivered" }]);
  expect(await list("failed")).toMatchObject([
    { number: failed, name: "Grace", status: "failed", reason: "MESSAGE_UNROUTABLE" },
  ]);
  const [lost] = await list("undelivered");
  expect(lost).toMatchObject({ number: undelivered, name: "Mary", reason: "DELIVERY_UNREACHABLE" });
  expect(await client.getSms({ params: { id: lost?.messageId ?? "" } })).toMatchObject({ campaignId: id });
  // A message in the time of the campaign that is not of it.
  await client.sendSms({ body: { to: numberOf(3), message: "Not of the campaign", senderId: "ACME" } });
  expect((await list()).flatMap(({ number }) => number ?? []).toSorted()).toEqual([
    pending,
    failed,
    delivered,
    undelivered,
  ]);
  expect((await list("skipped")).toSorted((one) => (one.reason === "optedOut" ? -1 : 1))).toMatchObject([
    { number: numberOf(1), name: "Out", status: "skipped", reason: "optedOut" },
    { number: numberOf(2), status: "skipped", reason: "unrenderable" },
  ]);

  expect(await list("replied")).toEqual([]);
  await receive(customer, pending, "Yes, please");
  await receive(customer, numberOf(3), "I got no message of the campaign");
  const { startedAt = "" } = await client.getCampaign({ params: { id } });
  await receive(customer, failed, "Before my message", undefined, Date.parse(startedAt));
  await receive(customer, pending, "Eight days later", undefined, Date.now() + 8 * dayMs);
  await receive(customer, delivered, "STOP", "stop");
  await receive(customer, undelivered, "STOP", "stop");
  await receive(customer, undelivered, "START", "start");
  // Messages of one block can have any order.
  const replied = (await list("replied")).toSorted((one) => (one.number === pending ? -1 : 1));
  expect(replied).toMatchObject([
    { number: pending, name: "Ada Byron", status: "pending", reply: "Yes, please" },
    { number: undelivered, reply: "START" },
  ]);
  expect(await list("opted_out")).toMatchObject([{ number: delivered, status: "delivered", reply: "STOP" }]);
});

it("skipped contacts are paged across blocks, also those that are deleted or never existed", async () => {
  const customer = await Customer.register({ balance: 1 });
  const { client } = customer;
  const ids = await importContacts(customer, 110, () => ({ optedOut: true }));
  const unknown = "con_01J00000000000000000000000";
  const campaignId = await launch(customer, { audience: { contactIds: [...ids, unknown] } });
  await client.deleteContact({ params: { id: ids[0] ?? "" } });
  const path = `/v1/campaigns/${campaignId}/recipients?outcome=skipped&limit=40`;
  const found: CampaignRecipient[] = [];
  let cursor = "";
  let pages = 0;
  do {
    const { rows, meta } = pageOf(await customer.call(`${path}${cursor}`), CampaignRecipient);
    expect(meta).toMatchObject({ limit: 40, total: 111, totalPages: 3 });
    found.push(...rows);
    pages += 1;
    cursor = meta.nextCursor === undefined ? "" : `&cursor=${meta.nextCursor}`;
  } while (cursor !== "");
  expect(pages).toBe(3);
  const gone = { status: "skipped", reason: "optedOut" };
  expect(found.filter(({ number }) => number === undefined)).toEqual([
    gone,
    { status: "skipped", reason: "unknown" },
  ]);
  const numbers = found.flatMap(({ number }) => number ?? []);
  expect(numbers).toEqual(Array.from({ length: 109 }, (_, index) => numberOf(index + 1)));
  const second = pageOf(await customer.call(`${path}&page=2`), CampaignRecipient);
  expect(second.rows).toEqual(found.slice(40, 80));
  for (const bad of ["U0tJUFBFRCM", "eA"]) {
    expect(invalidFields(await customer.call(`${path}&cursor=${bad}`))).toEqual(["cursor"]);
  }
});

it("the people of a draft are none, and those of another organization's campaign are not found", async () => {
  const [customer, stranger] = await Promise.all([Customer.register(), Customer.register()]);
  await importContacts(customer, 1);
  const { id } = await customer.client.createCampaign({
    body: { name: "Spring", message: "Hello", audience: { all: true }, senderId: "ACME" },
  });
  for (const query of ["", "?outcome=failed", "?outcome=replied", "?outcome=skipped"]) {
    expect(pageOf(await customer.call(`/v1/campaigns/${id}/recipients${query}`), CampaignRecipient)).toEqual({
      rows: [],
      meta: { page: 1, limit: 20, total: 0, totalPages: 0 },
    });
    const response = await stranger.call(`/v1/campaigns/${id}/recipients${query}`);
    expect(errorOf(response)).toEqual({ status: 404, code: "NOT_FOUND" });
  }
});
