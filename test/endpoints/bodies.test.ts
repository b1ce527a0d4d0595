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
