import { expect, it } from "vitest";

import { routes } from "../../shared/api/routes.ts";
import type { Route } from "../../shared/api/routes/route.ts";
import { inputErrorOf } from "../support/events.ts";

/*
 * Inputs that break one rule of the contract each, with the field that the error names. The code that these rows share is
 * tested over HTTP by `test/endpoints/unknown-fields.test.ts` and `test/endpoints/sms.test.ts`.
 */

/** The body of an operation without errors. */
const bodies: Readonly<Record<string, object>> = {
  register: { email: "ada@example.com", password: "correct horse" },
  createWebhook: { url: "https://example.com" },
  createContact: { phoneNumber: "15005550000" },
  createTemplate: { name: "A template", body: "Hello" },
  createSenderId: { senderId: "ACME" },
  submitKyc: { businessName: "Acme" },
  createCampaign: { name: "Spring", message: "Hi", audience: { all: true } },
  sendSms: { to: "15005550000", message: "hello" },
  createPayment: { amount: 50 },
  updateBilling: { name: "Ada" },
};

/** The values that a field of a body must not have, by the path that the error names. */
const rejected: Readonly<Record<string, Readonly<Record<string, readonly unknown[]>>>> = {
  register: {
    email: ["nobody", `${"x".repeat(65)}@example.com`, undefined],
    password: ["1234567", `correct\0horse`, "\0".repeat(8), undefined],
    firstName: [1],
    organizationName: ["x".repeat(101)],
  },
  createWebhook: {
    // Blanks, and characters that no one sees or that reverse the text.
    url: [
      undefined,
      "https://example.com/\r\nX-Admin: 1",
      "https://exam\tple.com/",
      "https://example.com/ ",
      "https://example.com/\u202Egpj.exe",
      "https://exa\u200Bmple.com/",
      `https://example.com/${"x".repeat(2_048)}`,
    ],
    "events.0": [["message.read"]],
    events: [["message.sent", "message.sent"], []],
  },
  createContact: {
    phoneNumber: [undefined, "+1 500 555 0000"],
    firstName: ["x".repeat(101)],
    tags: [["vip", " vip "], Array.from({ length: 21 }, (_, tag) => `t${tag}`)],
    attributes: [Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`a${index}`, "x"]))],
    optedOut: ["yes"],
    "tags.1": [["vip", "  "]],
    "tags.0": [["x".repeat(51)], ["a,b"]],
    "attributes.1st": [{ "1st": "x" }],
    "attributes.age": [{ age: 7 }],
    "attributes.note": [{ note: "x".repeat(201) }],
  },
  updateContact: {
    phoneNumber: [null],
    optedOut: [null],
    tags: [["a", "a"]],
  },
  importContacts: {
    contacts: [[], Array.from({ length: 1_001 }, () => ({})), "15005550000"],
  },
  createTemplate: {
    name: [undefined, "", "x".repeat(101)],
    body: [undefined, "", "x".repeat(1_601)],
  },
  createSenderId: {
    senderId: [undefined, "ABCDEFGHI123"],
    useCase: ["x".repeat(501)],
  },
  submitKyc: {
    businessName: [undefined, "", "x".repeat(201)],
    registrationNumber: [1],
    country: ["de", "UK", "Germany"],
    address: ["x".repeat(501)],
    website: ["example.com", "javascript:alert(1)", `https://example.com/${"x".repeat(2_048)}`],
  },
  createApiKey: {
    scopes: [["read", "read"], []],
    expiresAt: ["tomorrow"],
    allowedAddresses: [[]],
    "scopes.0": [["everything"]],
    "allowedAddresses.0": [["example.com"], ["192.0.2.0/33"], ["010.0.0.1"]],
  },
  createCampaign: {
    name: [undefined, ""],
    message: [undefined, "x".repeat(1_601)],
    audience: [undefined, {}, { all: true, tags: ["a"] }],
    messageType: ["spam"],
    "audience.all": [{ all: false }],
    "audience.contactIds": [{ contactIds: [] }],
    "audience.contactIds.0": [{ contactIds: ["x"] }],
  },
  sendSms: {
    to: [
      undefined,
      "+15005550000",
      "1500 555 0000",
      "15005550000\n",
      "١٥٠٠٥٥٥٠٠٠٠",
      15005550000,
      "015005550000",
      "123456",
      "1234567890123456",
    ],
    message: [undefined, "", "x".repeat(1_601), ["hello"]],
    senderId: ["", "ABCDEFGHI123", "ACME\n", "AC ME", "ÄCME"],
    language: ["Klingon"],
    messageType: ["spam"],
    scheduledAt: ["tomorrow", "2099-01-01T00:00:00", "2099-02-30T00:00:00Z"],
    expiresInSeconds: [59, 259_201, 60.5, "60"],
  },
  createPayment: {
    amount: [undefined, null, "50", 0, -50, 50.001, 1e15],
    method: ["cash"],
    currency: ["EUR"],
    // Some lead to another host than they seem to.
    returnUrl: [
      "console",
      "javascript:alert(1)",
      "http://shop.example/paid",
      "https://bank@evil.example",
      "https:bank:1@evil.example",
      "https://shop.example/\r\nX-Evil: 1",
    ],
    paymentMethodId: ["../cards"],
  },
  updateBilling: {
    name: ["", undefined],
    country: ["ZZ", "gb"],
    vatNumber: ["", "123456789", `DE${"1".repeat(39)}`],
    taxNumber: ["", " 12", "12345_678", "1".repeat(31)],
    address: [["1", "2", "3", "4", "5", "6"]],
    "address.0": [[""]],
    "emails.payments.0": [{ payments: ["boss"] }],
    "emails.news": [{ news: ["owner"] }],
    currency: ["EUR"],
  },
  updateWallet: {
    dailySpendCap: [0, 0.001, "5"],
    lowBalanceThreshold: [-1],
  },
};

const fields = Object.entries(rejected).flatMap(([operation, ofOperation]) =>
  Object.entries(ofOperation).map(([path, values]) => [operation, path, values] as const),
);

it.each(fields)("%s rejects wrong values for %s", async (operation, path, values) => {
  const [field = ""] = path.split(".");
  for (const value of values) {
    const body = JSON.stringify({ ...bodies[operation], [field]: value });
    expect(await rejectedPaths(operation, { body }), body.slice(0, 100)).toEqual([path]);
  }
});

it.each([
  ["listTransactions", "type=charge", "type"],
  ["listTransactions", "from=2025-02-29", "from"],
  ["listTransactions", "to=2025-02-01T00:00:00Z", "to"],
  ["getUsage", "month=2026-13", "month"],
  ["getUsage", "month=2026", "month"],
  ["getUsage", "month=november", "month"],
  ["getUsage", "by=carrier", "by"],
  ["listPrices", "prefix=4x", "prefix"],
  ["listPrices", "prefix=", "prefix"],
  ["listPrices", "country=UK", "country"],
  ["listPrices", "limit=101", "limit"],
  ["listPrices", "cursor=!", "cursor"],
])("%s rejects ?%s", async (operation, query, path) => {
  const queryStringParameters = Object.fromEntries(new URLSearchParams(query));
  expect(await rejectedPaths(operation, { queryStringParameters })).toEqual([path]);
});

/** The fields that the error of an input names. */
async function rejectedPaths(
  operation: string,
  input: Parameters<typeof inputErrorOf>[1],
): Promise<string[] | undefined> {
  const route = new Map(Object.entries<Route>(routes)).get(operation);
  if (route === undefined) throw new Error(`there is no ${operation}`);
  const error = await inputErrorOf(route, input);
  expect(error?.code).toBe("VALIDATION_ERROR");
  return error?.details?.map(({ path }) => path);
}
