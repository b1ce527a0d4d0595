import { describe, expect, it } from "vitest";

import { routes } from "../../shared/api/routes.ts";
import type { Route } from "../../shared/api/routes/route.ts";
import { inputErrorOf } from "../support/events.ts";

/*
 * The rules for the body and the query of each row of the route table. `test/endpoints/bodies.test.ts` and
 * `test/endpoints/unknown-fields.test.ts` send requests to three routes.
 */

const rows = Object.entries<Route>(routes);

/** Operations that spend money, decide its purpose, or limit something. All PATCH and PUT reject unknown fields too. */
const rejectsUnknownFields: ReadonlySet<string> = new Set([
  "createApiKey",
  "rotateApiKey",
  "disableApiKey",
  "revokeAllApiKeys",
  "createWebhook",
  "sendSms",
  "estimateSms",
  "sendBatch",
  "estimateBatch",
  "sendTemplate",
  "resendVerification",
  "createCampaign",
  "topUpWallet",
  "createPayment",
  "addPaymentMethod",
  "testInbound",
  "decideHeldMessage",
]);

// Carriers may post forms, which have tests of their own.
const withBody = rows.filter(([, { body, form }]) => body !== undefined && form !== true);

describe.each(withBody)("the body of %s", (operation, route) => {
  it("is JSON of storable text, or is rejected", async () => {
    const lone = '{"email":"\\ud800","to":"\\ud800","name":"\\ud800","url":"\\ud800","amount":"\\ud800"}';
    for (const body of ['{"to":', lone])
      expect((await inputErrorOf(route, { body }))?.code).toBe("VALIDATION_ERROR");
    expect((await inputErrorOf(route, { body: "{}" }, "text/plain"))?.code).toBe("UNSUPPORTED_MEDIA_TYPE");
  });

  it("is at most as large as its row allows, or else 64 KB", async () => {
    const maxKilobytes = route.maxBodyKilobytes ?? 64;
    const ofSize = (bytes: number): string => `{"padding":"${"x".repeat(bytes - '{"padding":""}'.length)}"}`;
    const error = await inputErrorOf(route, { body: ofSize(maxKilobytes * 1024 + 1) });
    expect(error).toMatchObject({ code: "PAYLOAD_TOO_LARGE" });
    expect(error?.message).toContain(`larger than ${maxKilobytes} KB`);
    expect((await inputErrorOf(route, { body: ofSize(maxKilobytes * 1024) }))?.code).not.toBe(
      "PAYLOAD_TOO_LARGE",
    );
  });

  it("carries unknown fields only where they change nothing", async () => {
    const body = '{"__proto__":{"admin":true},"constructor":1,"unknownField":[1,2,3]}';
    const error = await inputErrorOf(route, { body }, "Application/JSON; charset=utf-8");
    const named = await inputErrorOf(route, { body: "{}" });
    const isStrict = /^(PATCH|PUT)$/.test(route.method) || rejectsUnknownFields.has(operation);
    expect(error?.code).toBe(isStrict ? "VALIDATION_ERROR" : named?.code);
    const unknown = { path: "unknownField", message: "unknown field" };
    const isNamed = isStrict || named?.details !== undefined;
    expect(
      error?.details?.some((each) => each.path === unknown.path && each.message === unknown.message),
    ).toBe(isNamed ? true : undefined);
  });

  it("is required exactly where the contract states it", async () => {
    const isOptional = route.body?.safeParse(undefined).success === true;
    expect((await inputErrorOf(route, {}))?.code).toBe(isOptional ? undefined : "VALIDATION_ERROR");
  });
});

const lists = rows.filter(([, { paged }]) => paged === true);

it.each(lists)("the query of %s has no unknown parameters and a largest page", async (_operation, route) => {
  const detailsOf = async (queryStringParameters: Record<string, string>) =>
    (await inputErrorOf(route, { queryStringParameters }))?.details;
  expect(await detailsOf({ Limit: "5", folderId: "x" })).toEqual([
    { path: "Limit", message: "unknown parameter; did you mean `limit`?" },
    { path: "folderId", message: "unknown parameter" },
  ]);
  expect(await detailsOf({ limit: "1000" })).toEqual([{ path: "limit", message: "must be at most 100" }]);
  expect(await detailsOf({ limit: "0", page: "x" })).toEqual(
    expect.arrayContaining([
      { path: "limit", message: "must be at least 1" },
      { path: "page", message: "must be an integer" },
    ]),
  );
});
