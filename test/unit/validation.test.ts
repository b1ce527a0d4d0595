import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod/mini";

import { validate } from "../../shared/api/contract/validation.ts";
import { routes } from "../../shared/api/routes.ts";
import type { Route } from "../../shared/api/routes/route.ts";

/** Returns the messages for a value, by field. */
function problems(schema: z.ZodMiniType, value: unknown): Record<string, string> {
  const checked = validate(schema, value);
  return Object.fromEntries(
    checked.success ? [] : checked.details.map(({ path, message }) => [path, message]),
  );
}

it("describes a problem that the schema does not describe", () => {
  const schema = z.strictObject({
    text: z.string().check(z.minLength(3), z.maxLength(5)),
    empty: z.string().check(z.minLength(1)),
    count: z.int().check(z.gte(1), z.lte(100)),
    share: z.number().check(z.positive(), z.lt(1)),
    flag: z.boolean(),
    list: z.array(z.string()).check(z.minLength(1), z.maxLength(2)),
    type: z.enum(["otp", "marketing"]),
    all: z.literal(true),
    email: z.email(),
    at: z.iso.datetime(),
    names: z.record(z.string().check(z.regex(/^a/)), z.string()),
    either: z.union([z.string(), z.number()]),
    actor: z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("user") }),
      z.object({ kind: z.literal("key") }),
    ]),
    step: z.number().check(z.multipleOf(5)),
  });
  const required = Object.keys(schema.shape).map((name) => [name, "is required"]);
  expect(problems(schema, {})).toEqual({
    ...Object.fromEntries(required),
    either: "has none of the forms that are allowed",
  });
  expect(
    problems(schema, {
      text: "ab",
      empty: "",
      count: 1_000,
      share: 0,
      flag: 1,
      list: [],
      type: "x",
      all: 1,
      email: "x",
      at: "x",
      names: { b: "" },
      either: true,
      actor: { kind: "x" },
      step: 7,
    }),
  ).toEqual({
    text: "must be at least 3 characters long",
    empty: "must not be empty",
    count: "must be at most 100",
    share: "must be greater than 0",
    flag: "must be true or false",
    list: "must not be empty",
    type: "must be one of otp, marketing",
    all: "must be true",
    email: "must be an email address",
    at: "must be an ISO 8601 date-time in UTC, such as 2026-03-01T09:30:00Z",
    "names.b": "has a name that is not allowed: it has the wrong form",
    either: "has none of the forms that are allowed",
    "actor.kind": "must be one of user, key",
    step: "must be a multiple of 5",
  });
  expect(
    problems(z.pick(schema, { text: true, count: true, list: true, share: true }), {
      text: "abcdef",
      count: 1.5,
      list: ["a", "b", "c"],
      share: 1,
    }),
  ).toEqual({
    text: "must be at most 5 characters long",
    count: "must be an integer",
    list: "must have at most 2 entries",
    share: "must be less than 1",
  });
  expect(problems(schema, [])).toEqual({ "": "must be an object" });
  expect(problems(schema, "x")).toEqual({ "": "must be an object" });
});

describe("an unknown field", () => {
  const schema = z.partial(z.strictObject({ to: z.string(), scheduledAt: z.string(), senderId: z.string() }));
  it.each([
    ["schedledAt", "scheduledAt"],
    ["schedule_at", "scheduledAt"],
    ["ScheduledAt", "scheduledAt"],
    ["sender", "senderId"],
    ["sender_id", "senderId"],
    ["To", "to"],
    ["tos", "to"],
  ])("%s was probably meant as %s", (name, meant) => {
    expect(problems(schema, { [name]: 1 })).toEqual({ [name]: `unknown field; did you mean \`${meant}\`?` });
  });

  it.each(["mediaUrls", "flash", "callbackUrl", "x", "constructor"])("%s is like no other", (name) => {
    expect(problems(schema, { [name]: 1 })).toEqual({ [name]: "unknown field" });
  });

  it("of any length and number makes a bounded response", () => {
    const names = Array.from({ length: 1_000 }, (_, index) => `${"x".repeat(10_000)}${index}`);
    const checked = validate(schema, Object.fromEntries(names.map((name) => [name, 1])));
    expect(JSON.stringify(checked).length).toBeLessThan(3_000);
  });
});

describe("an object that ignores unknown fields", () => {
  const schema = z.prefault(
    z.object({ phoneNumber: z.optional(z.string()), tags: z.optional(z.string()) }),
    {},
  );

  it.each([
    ["phone", "phoneNumber"],
    ["phone_number", "phoneNumber"],
    ["Tag", "tags"],
  ])("rejects %s, because it resembles %s", (name, meant) => {
    expect(problems(schema, { [name]: 1 })).toEqual({ [name]: `unknown field; did you mean \`${meant}\`?` });
  });

  it.each(["msisdn", "ph", "group", "constructor", "x".repeat(10_000)])("ignores %.20s", (name) => {
    expect(validate(schema, { phoneNumber: "1", [name]: 1 })).toEqual({
      success: true,
      data: { phoneNumber: "1" },
    });
  });

  it("names them when a required field is missing", () => {
    const required = z.object({ to: z.string(), sender: z.object({ name: z.string() }) });
    expect(problems(required, { number: 1, sender: { name: "x" } })).toEqual({
      to: "is required",
      number: "unknown field",
    });
    expect(problems(required, { to: 1, number: 1, sender: { name: "x" } })).toEqual({
      to: "must be a string",
    });
    expect(problems(z.looseObject({ to: z.string() }), { t: 1 })).toEqual({ to: "is required" });
  });
});

it("each PATCH and PUT rejects unknown fields at each level", () => {
  const openObjects = Object.entries<Route>(routes).flatMap(([operation, { method, body }]) => {
    if (body === undefined || (method !== "PATCH" && method !== "PUT")) return [];
    const found = JSON.stringify(z.toJSONSchema(body, { io: "input", unrepresentable: "any" }));
    const count = (pattern: RegExp): number => found.match(pattern)?.length ?? 0;
    return count(/"properties":/g) === count(/"additionalProperties":false/g) ? [] : [operation];
  });
  expect(openObjects).toEqual([]);
});

const schemas = Object.entries<Route>(routes).flatMap(([operation, { body, query }]) =>
  [body, query].flatMap((schema) => (schema === undefined ? [] : [[operation, schema] as const])),
);

it.each(schemas)("no response to an input of %s contains a library's message", (_operation, schema) => {
  const names = Object.keys(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }).properties ?? {});
  const values = fc.oneof(
    fc.anything(),
    fc.string(),
    fc.double(),
    fc.constantFrom("", "x".repeat(2_000), -1, 1e9, []),
  );
  const objects = fc.dictionary(fc.constantFrom("unknown", ...names), values);
  fc.assert(
    fc.property(fc.oneof(objects, fc.anything()), (value) => {
      const checked = validate(schema, value);
      const words = checked.success ? "" : checked.details.map(({ message }) => message).join("\n");
      expect(words).not.toMatch(/invalid|expected|received|too (big|small)|unrecognized|>=|<=/i);
    }),
    { numRuns: 200 },
  );
});
