import { beforeAll, describe, expect, it } from "vitest";

import { routes } from "../../shared/api/routes.ts";
import type { Route } from "../../shared/api/routes/route.ts";
import { call, Customer, errorOf, type ApiCall, type ApiResponse } from "../support/api.ts";

const invalid = { status: 400, code: "VALIDATION_ERROR" };

let customer: Customer;
beforeAll(async () => {
  customer = await Customer.register();
});

async function post(route: Route, options: ApiCall): Promise<ApiResponse> {
  return call(route.path, { method: route.method, credential: customer.token, ...options });
}

// `test/unit/route-input.test.ts` tests the rules for each route. These stand for them: a public one, one with an optional
// body, and one with a required body.
describe.each([
  ["login", routes.login],
  ["topUpWallet", routes.topUpWallet],
  ["sendSms", routes.sendSms],
] satisfies [string, Route][])("any request to %s", (_operation, route) => {
  it.each([
    ["a bare word", "hello"],
    ["an array", "[]"],
    ["null", "null"],
    ["a number", "1"],
    ["a string", '"text"'],
    ["two objects", "{}{}"],
    ["anything but UTF-8", Uint8Array.from([0x7b, 0xff, 0xfe, 0x7d])],
  ])("must not be %s", async (_name, raw) => {
    expect(errorOf(await post(route, { raw }))).toEqual(invalid);
  });

  it("may name its charset", async () => {
    const headers = { "Content-Type": "Application/JSON; charset=utf-8" };
    const named = await post(route, { json: {} });
    expect((await post(route, { raw: "{}", headers })).status).toBe(named.status);
  });

  it.each(["gzip", "br", "identity, gzip"])("must not have the content coding %s", async (coding) => {
    const response = await post(route, { raw: "{}", headers: { "Content-Encoding": coding } });
    expect(errorOf(response)).toEqual({ status: 415, code: "UNSUPPORTED_MEDIA_TYPE" });
    expect(response.headers.get("accept-encoding")).toBe("identity");
    const plain = await post(route, { raw: "{}", headers: { "Content-Encoding": "identity" } });
    expect(plain.status).not.toBe(415);
  });

  it("is rejected when it is far too large", async () => {
    const response = await post(route, { raw: `{"padding":"${"x".repeat(2 * 1024 * 1024)}"}` });
    expect(errorOf(response)).toEqual({ status: 413, code: "PAYLOAD_TOO_LARGE" });
  });

  it.each(["application/x-www-form-urlencoded", "application/jsonp", "text/plain"])(
    "must not be sent as %s",
    async (contentType) => {
      const response = await post(route, { raw: "{}", headers: { "Content-Type": contentType } });
      expect(errorOf(response)).toEqual({ status: 415, code: "UNSUPPORTED_MEDIA_TYPE" });
    },
  );
});

/** The bytes of a text in ISO 8859-1, as a shell on Windows sends them. */
function latin1(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.from(text, "latin1"));
}

it.each([
  ["a send", routes.sendSms, '{"to":"15005550007","message":"café"}'],
  ["a contact", routes.createContact, '{"phoneNumber":"15005550007","firstName":"Jörg"}'],
  ["a password", routes.register, '{"email":"latin1@example.com","password":"pässwörd long 1"}'],
])(
  "%s in ISO 8859-1 is rejected, and one with U+FFFD has lost its characters before",
  async (_name, route, text) => {
    const balance = await customer.balance();
    expect(errorOf(await post(route, { raw: latin1(text) }))).toEqual(invalid);
    const damaged = text.replaceAll(/[^ -~]/g, "\ufffd");
    expect(errorOf(await post(route, { raw: damaged }))).toEqual(invalid);
    expect(await customer.balance()).toBe(balance);
  },
);

it.each(["scheduledAt", "expiresInSeconds", "test"])(
  "the %s of a message must not be null, which may have been an invalid value",
  async (field) => {
    const message = { to: "15005550007", message: "Hi", [field]: null };
    const ofBatch = field === "test" ? { test: null } : {};
    const batch = { messages: [message], mode: "all", ...ofBatch };
    for (const [route, json] of [
      [routes.sendSms, message],
      [routes.sendBatch, batch],
    ] as const) {
      const response = await post(route, { json });
      expect(errorOf(response)).toEqual(invalid);
      expect(JSON.stringify(response.body)).toContain(field);
    }
  },
);

it("the validity of a campaign's messages must not be null either", async () => {
  const json = { name: "Spring", message: "Hi", audience: { all: true }, expiresInSeconds: null };
  expect(errorOf(await post(routes.createCampaign, { json }))).toEqual(invalid);
});

it.each([
  [routes.createApiKey, { scopes: null }],
  [routes.createApiKey, { test: null }],
  [routes.createHook, { kind: "logto", test: null }],
  [routes.sendBatch, { messages: [{ to: "15005550007", message: "Hi" }], mode: null }],
  [routes.importContacts, { contacts: [{ phoneNumber: "15005550007" }], dryRun: null }],
] satisfies [Route, object][])(
  "a null that would give more rights or effects is rejected: %j",
  async (route, json) => {
    expect(errorOf(await post(route, { json }))).toEqual(invalid);
  },
);

it.each([
  [routes.createContact, '{"phoneNumber":"15005550007","attributes":{"__proto__":"x"}}'],
  [routes.sendSms, '{"to":"15005550007","message":"Hi","metadata":{"__proto__":"x"}}'],
  [routes.sendBatch, '{"messages":[{"to":"15005550007","message":"Hi","metadata":{"__proto__":"x"}}]}'],
] satisfies [Route, string][])("a value that would be lost is rejected: %j", async (route, raw) => {
  const response = await post(route, { raw });
  expect(errorOf(response)).toEqual(invalid);
  expect(JSON.stringify(response.body)).toContain("must have no name __proto__");
});

it("a password is the same in both normal forms", async () => {
  const email = `forms-${Date.now()}@example.com`;
  const password = "p\u00e4ssw\u00f6rd long 1";
  const register = await call("/v1/auth/register", { json: { email, password: password.normalize("NFD") } });
  expect(register.status).toBe(201);
  for (const form of ["NFC", "NFD"] as const) {
    const json = { email, password: password.normalize(form) };
    expect((await call("/v1/auth/login", { json })).status, form).toBe(200);
  }
  const others = { email, password: password.replace("\u00e4", "a") };
  expect((await call("/v1/auth/login", { json: others })).status).toBe(401);
});

it.each([
  ["r&d", 201],
  ["a=b", 201],
  ["a/b", 201],
  ["a!#$%*?^`{|}~b", 201],
  ["a..b", 400],
  [".a", 400],
  ["a.", 400],
  ["a b", 400],
  ["a(b", 400],
  ['"a b"', 400],
  ["=?utf-8?q?a?=", 400],
])("an email address with %s before the @ gets %i", async (name, status) => {
  const email = `${name}@${Date.now()}-${Math.abs(status)}.example.com`;
  expect((await call("/v1/auth/register", { json: { email, password: "correct horse" } })).status).toBe(
    status,
  );
});

it.each([
  "https:///hook",
  "https:hook",
  "https:/hook",
  String.raw`https:\\hook.example`,
  String.raw`https://a\b.example`,
])("the address %s of a webhook, which programs read differently, is rejected", async (url) => {
  expect(errorOf(await post(routes.createWebhook, { json: { url } }))).toEqual(invalid);
});
