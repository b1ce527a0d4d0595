import { beforeAll, describe, expect, it } from "vitest";

import { routes } from "../../shared/api/routes.ts";
import type { Route } from "../../shared/api/routes/route.ts";
import { call, Customer, errorOf, type ApiCall, type ApiResponse } from "../support/api.ts";
import { pathOfNothing } from "../support/paths.ts";

// Carriers may post forms, which have tests of their own.
const routesWithBody = Object.entries<Route>(routes).filter(
  ([, route]) => route.body !== undefined && route.form !== true,
);
const invalid = { status: 400, code: "VALIDATION_ERROR" };

let customer: Customer;
beforeAll(async () => {
  customer = await Customer.register();
});

async function post(route: Route, options: ApiCall): Promise<ApiResponse> {
  return call(pathOfNothing(route), { method: route.method, credential: customer.token, ...options });
}

/** Operations that spend money, decide its purpose, or limit something. All PATCH and PUT reject unknown fields too. */
const refusesUnknownFields: ReadonlySet<string> = new Set([
  "createApiKey",
  "rotateApiKey",
  "disableApiKey",
  "revokeAllApiKeys",
  "createWebhook",
  "sendSms",
  "estimateSms",
  "sendTemplate",
  "createCampaign",
  "topUpWallet",
  "createPayment",
  "addPaymentMethod",
  "testInbound",
  "decideHeldMessage",
]);

describe.each(routesWithBody)("the body of %s", (operation, route) => {
  it("must not be broken JSON", async () => {
    expect(errorOf(await post(route, { raw: '{"to":' }))).toEqual(invalid);
  });

  it("must not be larger than its row allows, or else 64 KB", async () => {
    const maxKilobytes = route.maxBodyKilobytes ?? 64;
    const ofSize = (bytes: number): string => `{"padding":"${"x".repeat(bytes - '{"padding":""}'.length)}"}`;
    const response = await post(route, { raw: ofSize(maxKilobytes * 1024 + 1) });
    expect(errorOf(response)).toEqual({ status: 413, code: "PAYLOAD_TOO_LARGE" });
    expect(response.text).toContain(`larger than ${maxKilobytes} KB`);
    expect((await post(route, { raw: ofSize(maxKilobytes * 1024) })).status).not.toBe(413);
  });

  it("must be sent as JSON", async () => {
    const response = await post(route, { raw: "{}", headers: { "Content-Type": "text/plain" } });
    expect(errorOf(response)).toEqual({ status: 415, code: "UNSUPPORTED_MEDIA_TYPE" });
  });

  it("may name its charset, and carries unknown fields only where they change nothing", async () => {
    const raw = '{"__proto__":{"admin":true},"constructor":1,"unknownField":[1,2,3]}';
    const response = await post(route, {
      raw,
      headers: { "Content-Type": "Application/JSON; charset=utf-8" },
    });
    const isStrict = /^(PATCH|PUT)$/.test(route.method) || refusesUnknownFields.has(operation);
    const named = await post(route, { json: {} });
    // Where unknown fields are ignored, the response equals the one to an empty object.
    expect(response.status).toBe(isStrict ? 400 : named.status);
    const isNamed = isStrict || named.text.includes('"details":');
    expect(response.text.includes('{"path":"unknownField","message":"unknown field"}')).toBe(isNamed);
    expect(response.status).toBeLessThan(500);
  });

  it("is storable text, or is rejected", async () => {
    const raw = '{"email":"\\ud800","to":"\\ud800","name":"\\ud800","url":"\\ud800","amount":"\\ud800"}';
    expect(errorOf(await post(route, { raw }))).toEqual(invalid);
  });

  it("is required exactly where the contract states it", async () => {
    const isOptional = route.body?.safeParse(undefined).success === true;
    const statusWithoutBody = route.params === undefined ? route.status : 404;
    expect((await post(route, {})).status).toBe(isOptional ? statusWithoutBody : 400);
  });
});

// All routes read a body with the same code. These stand for them: a public one, one with an optional body, and one with a
// required body.
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

  it("is rejected when it is far too large", async () => {
    const response = await post(route, { raw: `{"padding":"${"x".repeat(2 * 1024 * 1024)}"}` });
    expect(errorOf(response)).toEqual({ status: 413, code: "PAYLOAD_TOO_LARGE" });
  });

  it.each(["application/x-www-form-urlencoded", "application/jsonp", "multipart/form-data"])(
    "must not be sent as %s",
    async (contentType) => {
      const response = await post(route, { raw: "{}", headers: { "Content-Type": contentType } });
      expect(errorOf(response)).toEqual({ status: 415, code: "UNSUPPORTED_MEDIA_TYPE" });
    },
  );
});
