import { beforeAll, expect, it } from "vitest";

import { Customer, errorOf, invalidFields, type ApiResponse } from "../support/api.ts";

/*
 * Every field with a phone number accepts it with and without a plus sign, and rejects an impossible one.
 */

let customer: Customer;
let templateId: string;
beforeAll(async () => {
  customer = await Customer.register({ balance: 1 });
  ({ id: templateId } = await customer.client.createTemplate({ body: { name: "plain", body: "Hello" } }));
});

/** Each way to give a number in a body: the field, and the other fields of the request. */
const inputs: readonly (readonly [path: string, field: string, fields: object])[] = [
  ["/v1/sms/send", "to", { message: "hello", senderId: "ACME" }],
  ["/v1/sms/estimate", "to", { message: "hello" }],
  ["/v1/templates/{template}/send", "to", { senderId: "ACME" }],
  ["/v1/contacts", "phoneNumber", {}],
  ["/v1/opt-outs", "phoneNumber", {}],
];

async function give(path: string, body: object): Promise<ApiResponse> {
  return customer.call(path.replace("{template}", templateId), { json: body });
}

it.each(inputs)(
  "%s accepts a number with its plus sign, and returns it without",
  async (path, field, fields) => {
    const given = await give(path, { ...fields, [field]: "+15005550021" });
    expect(given.status, given.text).toBeLessThan(300);
    expect(given.body).toMatchObject({ data: { [field]: "15005550021" } });
  },
);

it.each(inputs)(
  "%s rejects an invalid number, and suggests the intended one",
  async (path, field, fields) => {
    for (const [text, meant] of [
      ["+1 (500) 555-0021", "did you mean 15005550021?"],
      ["0015005550021", "did you mean 15005550021?"],
      ["12025559", "cannot be a phone number"],
      ["9991234567", "begins with no country code that exists"],
    ] as const) {
      const rejected = await give(path, { ...fields, [field]: text });
      expect(errorOf(rejected), text).toEqual({ status: 400, code: "VALIDATION_ERROR" });
      expect(invalidFields(rejected)).toEqual([field]);
      expect(rejected.text).toContain(meant);
    }
  },
);

it("lists, look-ups and imports accept the plus sign too, also without encoding", async () => {
  const number = "15005550022";
  const { id } = await customer.send({ to: number });
  for (const to of [number, `%2B${number}`, `+${number}`]) {
    const listed = await customer.call(`/v1/sms?to=${to}`);
    expect(listed.body, to).toMatchObject({ data: [{ id, to: number }], meta: { total: 1 } });
    const priced = await customer.call(`/v1/prices?prefix=${to}`);
    expect(priced.body, to).toMatchObject({ data: [{ prefix: "1" }] });
  }
  expect(errorOf(await customer.call("/v1/sms?to=12025559"))).toEqual({
    status: 400,
    code: "VALIDATION_ERROR",
  });
  const contacts = [`+${number}`, number, "1 500 555 0023", "1500555"].map((phoneNumber) => ({
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
