import { beforeAll, describe, expect, it } from "vitest";
import * as z from "zod/mini";

import { routes } from "../../shared/routes.ts";
import type { Route } from "../../shared/routes/route.ts";
import { Customer, errorOf, type ApiResponse } from "../support/api.ts";
import { pathOfNothing } from "../support/paths.ts";

/*
 * A mistyped field must not spend money by mistake, and a mistyped filter must not return all rows.
 */

let customer: Customer;
beforeAll(async () => {
  customer = await Customer.register({ balance: 1 });
});

const RejectedError = z.object({
  error: z.object({ details: z.array(z.object({ path: z.string(), message: z.string() })) }),
});

async function rejection(
  path: string,
  options: Parameters<typeof customer.call>[1] = {},
): Promise<Record<string, string>> {
  const response: ApiResponse = await customer.call(path, options);
  expect(errorOf(response)).toEqual({ status: 400, code: "VALIDATION_ERROR" });
  const { error } = RejectedError.parse(response.body);
  return Object.fromEntries(error.details.map(({ path: field, message }) => [field, message]));
}

const message = { to: "15005550000", message: "hello", senderId: "ACME" };

it.each([
  ["/v1/sms/send", message, { schedule_at: "scheduledAt", sendrId: "senderId", MessageType: "messageType" }],
  ["/v1/sms/estimate", message, { scheduleAt: "scheduledAt", messages: "message" }],
  ["/v1/templates/tpl_01J00000000000000000000000/send", { to: message.to }, { value: "values" }],
  [
    "/v1/campaigns",
    { name: "Spring", message: "hello", audience: { all: true } },
    { "schedule-at": "scheduledAt", template_id: "templateId" },
  ],
  ["/v1/wallet/top-up", {}, { ammount: "amount" }],
])("%s rejects unknown fields, names the nearest, and spends nothing", async (path, body, typos) => {
  const unknown = Object.fromEntries(Object.keys(typos).map((name) => [name, "x"]));
  const details = await rejection(path, { json: { ...body, ...unknown, mediaUrls: [] } });
  expect(details).toEqual({
    ...Object.fromEntries(
      Object.entries(typos).map(([name, known]) => [name, `unknown field; did you mean \`${known}\`?`]),
    ),
    mediaUrls: "unknown field",
  });
  expect(await customer.balance()).toBe(1);
});

it("an unknown field inside a field is named with its place", async () => {
  const body = { name: "Spring", message: "hello", audience: { all: true, tag: ["x"] } };
  expect(await rejection("/v1/campaigns", { json: body })).toMatchObject({
    "audience.tag": "unknown field; did you mean `tags`?",
  });
});

it("an estimate accepts the body of a whole send", async () => {
  const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
  const body = { ...message, language: "Unicode", messageType: "otp", scheduledAt, expiresInSeconds: 600 };
  expect((await customer.call("/v1/sms/estimate", { json: body })).status).toBe(200);
});

const lists = Object.entries<Route>(routes).filter(([, route]) => route.paged === true);

describe.each(lists)("the query of %s", (_operation, route) => {
  it("is rejected with unknown parameters", async () => {
    const path = pathOfNothing(route);
    expect(await rejection(`${path}?Limit=5&campaignId=x`)).toEqual({
      Limit: "unknown parameter; did you mean `limit`?",
      campaignId: "unknown parameter",
    });
  });

  it("states the largest page", async () => {
    const path = pathOfNothing(route);
    expect(await rejection(`${path}?limit=1000`)).toEqual({ limit: "must be at most 100" });
    expect(await rejection(`${path}?limit=0&page=x`)).toEqual({
      limit: "must be at least 1",
      page: "must be an integer",
    });
  });
});
