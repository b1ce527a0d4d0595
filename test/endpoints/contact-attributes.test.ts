import { beforeAll, describe, expect, it, vi } from "vitest";

import { ImportedContacts } from "../../shared/api/contract/contacts.ts";
import { Customer, dataOf, invalidFields, type ApiResponse } from "../support/api.ts";
import {
  changeContact,
  createContact,
  listContacts,
  newNumber,
  readContact,
} from "../support/contact-calls.ts";
import { patience } from "../support/patience.ts";

let customer: Customer;
beforeAll(async () => {
  customer = await Customer.register();
});

describe("attributes with names that every object has", () => {
  const attributes = { constructor: "a", toString: "b", hasOwnProperty: "c", valueOf: "d", prototype: "e" };

  it("are kept, changed and imported like any other", async () => {
    const contact = await createContact(customer, { attributes });
    expect(await readContact(customer, contact.id)).toEqual(contact);
    expect(Object.keys(contact.attributes)).toHaveLength(5);
    expect(contact.attributes).toEqual(attributes);
    const plain = await createContact(customer);
    expect((await changeContact(customer, plain.id, { attributes })).status).toBe(200);
    expect(Object.entries((await readContact(customer, plain.id)).attributes)).toHaveLength(5);

    const rows = [newNumber(), newNumber(), newNumber()].map((phoneNumber) => ({ phoneNumber, attributes }));
    const imported = await customer.call("/v1/contacts/import", { json: { contacts: rows } });
    const { totals, results } = dataOf(imported, ImportedContacts);
    expect(totals).toEqual({ created: 3, duplicates: 0, invalid: 0 });
    const [first] = results;
    const id = first?.status === "created" ? first.id : "";
    expect(Object.entries((await readContact(customer, id)).attributes)).toHaveLength(5);
    expect((await listContacts(customer, "limit=100")).rows.map((row) => row.id)).toContain(id);
  });

  it("fill the placeholders of campaigns and templates only if they are set", async () => {
    const sender = await Customer.register({ balance: 1 });
    const named = await createContact(sender, { attributes });
    await createContact(sender);
    const { id } = await sender.client.createCampaign({
      body: {
        name: "Names",
        message: "{{constructor}}{{toString}}{{hasOwnProperty}}",
        audience: { all: true },
        senderId: "ACME",
      },
    });
    await sender.client.launchCampaign({ params: { id } });
    await vi.waitFor(async () => {
      const { status, progress } = await sender.client.getCampaign({ params: { id } });
      expect({ status, unrenderable: progress.skipped.unrenderable }).toEqual({
        status: "completed",
        unrenderable: 1,
      });
    }, patience);
    const { rows } = await sender.client.listSms();
    expect(rows.map(({ to, message }) => ({ to, message }))).toEqual([
      { to: named.phoneNumber, message: "abc" },
    ]);

    const body = { name: "names", body: "{{constructor}} {{toString}}" };
    const { id: templateId } = await sender.client.createTemplate({ body });
    const send = async (raw: string): Promise<ApiResponse> =>
      sender.call(`/v1/templates/${templateId}/send`, { raw });
    const to = '"to":"15005550000","senderId":"ACME"';
    const missing = await send(`{${to},"values":{"__proto__":{"constructor":"x"}}}`);
    expect(missing.text).toContain("must have no name __proto__");
    expect(invalidFields(await send(`{${to},"values":{}}`))).toEqual([
      "values.constructor",
      "values.toString",
    ]);
    expect((await send(`{${to},"values":{"constructor":"x","toString":"y"}}`)).status).toBe(202);
  });

  it("are never the prototype of anything", async () => {
    const raw = `{"phoneNumber":"${newNumber()}","attributes":{"__proto__":"x","city":"Oslo"}}`;
    const imported = `{"contacts":[${raw},{"__proto__":{"phoneNumber":"1"}}]}`;
    for (const [path, body] of [
      ["/v1/contacts", raw],
      ["/v1/contacts/import", imported],
    ] as const) {
      const response = await customer.call(path, { raw: body });
      expect(response.status).toBe(400);
      expect(response.text).toContain("must have no name __proto__");
    }
  });
});
