import { beforeAll, expect, it, vi } from "vitest";

import { Customer, errorOf, invalidFields, type ApiResponse } from "../support/api.ts";
import { patience } from "../support/patience.ts";

/*
 * The numbers of a message are digits only. Lists, such as contacts, also accept the plus sign, because people paste it.
 */

let customer: Customer;
let templateId: string;
beforeAll(async () => {
  customer = await Customer.register({ balance: 1 });
  ({ id: templateId } = await customer.client.createTemplate({ body: { name: "plain", body: "Hello" } }));
});

/** Each way to give a number in a body: the field, and the other fields of the request. */
const ofMessages: readonly (readonly [path: string, field: string, fields: object])[] = [
  ["/v1/sms/send", "to", { message: "hello", senderId: "ACME" }],
  ["/v1/sms/estimate", "to", { message: "hello" }],
  ["/v1/templates/{template}/send", "to", { senderId: "ACME" }],
  ["/v1/test/inbound", "from", { to: "12065550100", message: "hello" }],
];
const ofLists: typeof ofMessages = [
  ["/v1/contacts", "phoneNumber", {}],
  ["/v1/opt-outs", "phoneNumber", {}],
];

async function give(path: string, body: object): Promise<ApiResponse> {
  return customer.call(path.replace("{template}", templateId), { json: body });
}

/** Gives a number that is rejected. @returns the error */
async function rejectionOf(input: (typeof ofMessages)[number], text: string): Promise<string> {
  const [path, field, fields] = input;
  const rejected = await give(path, { ...fields, [field]: text });
  expect(errorOf(rejected), text).toEqual({ status: 400, code: "VALIDATION_ERROR" });
  expect(invalidFields(rejected)).toEqual([field]);
  return rejected.text;
}

it.each(ofMessages)("%s rejects a plus sign, and names the number without it", async (...input) => {
  const words = "without a plus sign, such as 447700900123; did you mean 15005550021?";
  expect(await rejectionOf(input, "+15005550021")).toContain(words);
  expect(await rejectionOf(input, "+1234567890")).toContain("without a plus sign");
});

it.each(ofLists)("%s accepts a number with its plus sign, and returns it without", async (path, field) => {
  const given = await give(path, { [field]: "+15005550021" });
  expect(given.status, given.text).toBeLessThan(300);
  expect(given.body).toMatchObject({ data: { [field]: "15005550021" } });
});

it.each([...ofMessages, ...ofLists])(
  "%s rejects other forms, and suggests the intended number",
  async (...input) => {
    for (const text of ["+1 (500) 555-0021", "0015005550021"])
      expect(await rejectionOf(input, text)).toContain("did you mean 15005550021?");
    for (const text of ["08012345678", "123456", "1234567890123456", "0000000000"])
      expect(await rejectionOf(input, text)).toContain("must be the country code and the number in digits");
  },
);

it.each([...ofMessages, ...ofLists])(
  "%s accepts any 7 to 15 digits without a policy for numbers",
  async (...input) => {
    const [path, field, fields] = input;
    for (const number of ["1234567890", "1234567", "123456789012345", "9999999999"]) {
      const given = await give(path, { ...fields, [field]: number });
      expect(given.status, given.text).toBeLessThan(300);
      expect(given.body).toMatchObject({ data: { [field]: number } });
    }
  },
);

it("a message to a number of an impossible length is charged and sent", async () => {
  const before = await customer.balance();
  const sent = await customer.send({ to: "9999999999" });
  expect(await customer.balance()).toBeCloseTo(before - sent.pricing.total, 6);
  await vi.waitFor(async () => expect((await customer.message(sent.id)).status).toBe("sent"), patience);
});

it("lists, look-ups and imports accept the plus sign too, also without encoding", async () => {
  const number = "15005550022";
  const { id } = await customer.send({ to: number });
  for (const to of [number, `%2B${number}`, `+${number}`]) {
    const listed = await customer.call(`/v1/sms?to=${to}`);
    expect(listed.body, to).toMatchObject({ data: [{ id, to: number }], meta: { total: 1 } });
    const priced = await customer.call(`/v1/prices?prefix=${to}`);
    expect(priced.body, to).toMatchObject({ data: [{ prefix: "1" }] });
  }
  expect(errorOf(await customer.call("/v1/sms?to=0202555"))).toEqual({
    status: 400,
    code: "VALIDATION_ERROR",
  });
  const contacts = [`+${number}`, number, "1 500 555 0023", "150055"].map((phoneNumber) => ({
    phoneNumber,
  }));
  const { results } = await customer.client.importContacts({ body: { contacts } });
  expect(results.map(({ status }) => status)).toEqual(["created", "duplicate", "invalid", "invalid"]);
  await customer.client.createOptOut({ body: { phoneNumber: `+${number}` } });
  for (const phoneNumber of [`+${number}`, number]) {
    expect(await customer.client.getOptOut({ params: { phoneNumber } })).toMatchObject({
      phoneNumber: number,
    });
  }
  const lifted = await customer.client.deleteOptOut({ params: { phoneNumber: `+${number}` } });
  expect(lifted).toEqual({ phoneNumber: number, deleted: true });
});

it("a contact may get a number with its plus sign", async () => {
  const { id } = await customer.client.createContact({ body: { phoneNumber: "15005550024" } });
  const updated = await customer.client.updateContact({
    params: { id },
    body: { phoneNumber: "+15005550025" },
  });
  expect(updated.phoneNumber).toBe("15005550025");
});
