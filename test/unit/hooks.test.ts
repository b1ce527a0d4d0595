import { describe, expect, it } from "vitest";

import { readHookBody } from "../../shared/accounts/hooks/readers.ts";
import { HookKind } from "../../shared/api/contract/hook-kinds.ts";
import { hookBodies } from "../support/hooks.ts";

const other = {
  supabase: "logto",
  logto: "auth0",
  authentik: "zitadel",
  auth0: "authentik",
  zitadel: "supabase",
} as const;

describe.each(HookKind.options)("the body of %s", (kind) => {
  it("has the number and the code, as the system documents it", () => {
    expect(readHookBody(kind, JSON.stringify(hookBodies[kind]))).toMatchObject({
      to: "15005550000",
      code: "123456",
    });
  });

  it("is rejected by the hook of another kind, which names the missing fields", () => {
    const read = (): object => readHookBody(other[kind], JSON.stringify(hookBodies[kind]));
    expect(read).toThrow(
      expect.objectContaining({ code: "VALIDATION_ERROR", details: expect.any(Array) as unknown }),
    );
  });
});

it("the address of the person comes from the fields that Supabase, Logto and Auth0 have for it", () => {
  const ipOf = (kind: HookKind): unknown => readHookBody(kind, JSON.stringify(hookBodies[kind])).ip;
  expect(HookKind.options.map(ipOf)).toEqual([
    "203.0.113.7",
    "192.168.1.1",
    undefined,
    "203.0.113.7",
    undefined,
  ]);
});

it("Supabase sends a changed number beside the user, and names the request in all attempts", () => {
  const { sms, ...body } = hookBodies.supabase;
  const read = readHookBody("supabase", JSON.stringify({ ...body, sms: { ...sms, phone: "15005550007" } }));
  expect(read).toMatchObject({ to: "15005550007", repeatId: body.metadata.uuid });
});

it("empty texts count as missing, and an address that is not valid is left out", () => {
  const { sms, metadata } = hookBodies.supabase;
  for (const address of ["", "203.0.113.7:1234"]) {
    const body = {
      ...hookBodies.supabase,
      sms: { ...sms, phone: "" },
      metadata: { ...metadata, uuid: "", ip_address: address },
    };
    const read = readHookBody("supabase", JSON.stringify(body));
    expect(read).toEqual({ to: "15005550000", code: "123456" });
  }
});

it.each([
  ["Your verification code is: 12345", "12345"],
  ["123456 is your code.\n\n@shop.example #123456", "123456"],
  ["Ihr Code: 1234567890 (10 min)", "1234567890"],
])("the code in the text %j is %s", (body, code) => {
  expect(readHookBody("auth0", JSON.stringify({ ...hookBodies.auth0, body }))).toMatchObject({ code });
});

it.each([
  ["Your code is secret"],
  ["Order 12345: your code is 67890"],
  ["Call +15005550000"],
  ["1234567890123"],
  [""],
])("the text %j has no single code, which the error states", (body) => {
  const details = [{ path: "code", message: "must be one code of 4 to 10 characters" }];
  expect(() => readHookBody("auth0", JSON.stringify({ ...hookBodies.auth0, body }))).toThrow(
    expect.objectContaining({ details }),
  );
});

it("authentik's own text has the code where a mapping has changed the body", () => {
  const body = { ...hookBodies.authentik, Body: "ACME", Message: "Use this code: 123456" };
  expect(readHookBody("authentik", JSON.stringify(body))).toMatchObject({ code: "123456" });
});

it.each([["{"], ["[]"], ["null"], ['"123456"']])("%s is no body", (raw) => {
  for (const kind of HookKind.options) {
    expect(() => readHookBody(kind, raw)).toThrow(expect.objectContaining({ code: "VALIDATION_ERROR" }));
  }
});
