import { beforeAll, describe, expect, it } from "vitest";

import { routes } from "../../shared/routes.ts";
import type { Route } from "../../shared/routes/route.ts";
import { call, Customer, errorOf, type ApiCall, type ApiResponse } from "../support/api.ts";
import { pathOfNothing } from "../support/paths.ts";

// What carriers post may be forms, and has tests of its own.
const routesWithBody = Object.entries<Route>(routes).filter(
  ([, route]) => route.body !== undefined && route.form !== true,
);
const invalid = { status: 400, code: "VALIDATION_ERROR" };

let customer: Customer;
beforeAll(async () => {
  customer = await Customer.register();
});

describe.each(routesWithBody)("the body of %s", (_operation, route) => {
  async function post(options: ApiCall): Promise<ApiResponse> {
    return call(pathOfNothing(route), { method: route.method, credential: customer.token, ...options });
  }

  it.each([
    ["broken JSON", '{"to":'],
    ["a bare word", "hello"],
    ["an array", "[]"],
    ["null", "null"],
    ["a number", "1"],
    ["a string", '"text"'],
    ["two objects", "{}{}"],
    [
      "a lone surrogate",
      '{"email":"\\ud800","to":"\\ud800","name":"\\ud800","url":"\\ud800","amount":"\\ud800"}',
    ],
  ])("must not be %s", async (_name, raw) => {
    expect(errorOf(await post({ raw }))).toEqual(invalid);
  });

  it("must be UTF-8", async () => {
    expect(errorOf(await post({ raw: Uint8Array.from([0x7b, 0xff, 0xfe, 0x7d]) }))).toEqual(invalid);
  });

  it("must not be larger than its row says, or else 64 KB", async () => {
    const maxKilobytes = route.maxBodyKilobytes ?? 64;
    const ofSize = (bytes: number): string => `{"padding":"${"x".repeat(bytes - '{"padding":""}'.length)}"}`;
    for (const bytes of [maxKilobytes * 1024 + 1, 2 * 1024 * 1024]) {
      const response = await post({ raw: ofSize(bytes) });
      expect(errorOf(response)).toEqual({ status: 413, code: "PAYLOAD_TOO_LARGE" });
      expect(response.text).toContain(`larger than ${maxKilobytes} KB`);
    }
    expect((await post({ raw: ofSize(maxKilobytes * 1024) })).status).not.toBe(413);
  });

  it.each(["text/plain", "application/x-www-form-urlencoded", "application/jsonp", "multipart/form-data"])(
    "must not be sent as %s",
    async (contentType) => {
      expect(errorOf(await post({ raw: "{}", headers: { "Content-Type": contentType } }))).toEqual({
        status: 415,
        code: "UNSUPPORTED_MEDIA_TYPE",
      });
    },
  );

  it("may name its charset, and may carry fields that nobody knows", async () => {
    const raw = '{"__proto__":{"admin":true},"constructor":1,"unknownField":[1,2,3]}';
    const response = await post({ raw, headers: { "Content-Type": "Application/JSON; charset=utf-8" } });
    const named = await post({ json: {} });
    // The unknown fields change nothing: the answer is the one to an empty object.
    expect(response.status).toBe(named.status);
    expect(response.status).toBeLessThan(500);
  });

  it("is required exactly where the contract says so", async () => {
    const isOptional = route.body?.safeParse(undefined).success === true;
    const statusWithoutBody = route.params === undefined ? route.status : 404;
    expect((await post({})).status).toBe(isOptional ? statusWithoutBody : 400);
  });
});
