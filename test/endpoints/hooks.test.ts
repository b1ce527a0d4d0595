import { createHmac, randomInt } from "node:crypto";

import { SignJWT } from "jose";
import { beforeAll, describe, expect, it } from "vitest";

import { readHookBody } from "../../shared/accounts/hooks/readers.ts";
import { suspendOrganization } from "../../shared/accounts/organizations/suspension.ts";
import { HookKind } from "../../shared/api/contract/hook-kinds.ts";
import { CreatedHook, type CreateHookRequest } from "../../shared/api/contract/hooks.ts";
import { decideSenderId } from "../../shared/messages/sender-ids/review.ts";
import { hashApiKeySecret } from "../../shared/platform/auth/api-key-secret.ts";
import { once } from "../../shared/platform/http/idempotency.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { findItem } from "../../shared/platform/table/read.ts";
import { CredentialRecord } from "../../shared/tenancy/api-keys/record.ts";
import { type ApiResponse, call, Customer, dataOf, errorOf, invalidFields } from "../support/api.ts";
import { hookBodies, hookHeaders, hookSecrets } from "../support/hooks.ts";

const minuteMs = 60_000;
const unauthorized = { status: 401, code: "UNAUTHORIZED" };

let customer: Customer;
beforeAll(async () => {
  customer = await customerWithSender();
});

/** A customer with money, and an approved sender ID for its codes. */
async function customerWithSender(): Promise<Customer> {
  const owner = await Customer.register({ balance: 10 });
  const { id } = await owner.client.createSenderId({ body: { senderId: "ACMELOGIN" } });
  await decideSenderId(owner.organizationId, id, { approved: true }, { isShared: true });
  return owner;
}

interface TestHook extends CreatedHook {
  /** The token or the secret. */
  readonly proof: string;
}

async function createHook(
  kind: HookKind,
  { owner = customer, ...options }: Partial<CreateHookRequest> & { readonly owner?: Customer } = {},
): Promise<TestHook> {
  const secret = hookSecrets[kind];
  const hook = await owner.client.createHook({ body: { kind, ...(secret && { secret }), ...options } });
  return { ...hook, proof: secret ?? hook.token ?? "" };
}

interface HookCall {
  readonly number?: string;
  /** The body, if it is not the one that the system documents. */
  readonly body?: string;
  /** The body that is sent in place of the signed one. */
  readonly sent?: string;
  readonly proof?: string;
  readonly at?: Date;
  readonly id?: string;
}

/** Calls a hook for a number of its own, because each number gets few codes. */
async function callHook(hook: TestHook, options: HookCall = {}): Promise<ApiResponse> {
  const { number = newNumber(), proof = hook.proof, sent, ...signed } = options;
  const body = options.body ?? bodyFor(hook.kind, number);
  const headers = await hookHeaders(hook.kind, proof, { ...signed, body });
  return call(`/v1/hooks/${hook.id}`, { headers, raw: sent ?? body });
}

function bodyFor(kind: HookKind, number: string): string {
  return JSON.stringify(hookBodies[kind]).replace(/\+1 500 555 0000|\+?15005550000/g, `+${number}`);
}

function newNumber(): string {
  return `1202${randomInt(2_000_000, 10_000_000)}`;
}

/** How many messages went to a number. */
async function sendsTo(number: string, owner = customer): Promise<number> {
  return (await owner.client.listSms({ query: { search: number } })).rows.length;
}

describe.each(HookKind.options)("a hook of %s", (kind) => {
  let hook: TestHook;
  beforeAll(async () => {
    hook = await createHook(kind);
  });

  it("sends the code of a call that the system documents", async () => {
    const number = newNumber();
    const response = await callHook(hook, { number });
    expect([response.status, response.text]).toEqual([200, "{}"]);
    const [verification] = (await customer.client.listVerifications({ query: { to: number } })).rows;
    expect(verification).toMatchObject({ status: "pending", sends: 1, metadata: { hook: hook.id } });
    expect(await sendsTo(number)).toBe(1);
    const body = { id: verification?.id ?? "", code: "123456" };
    expect(await customer.client.checkVerification({ body })).toMatchObject({ valid: true });
  });

  it("rejects a call without its proof, and one with another", async () => {
    const number = newNumber();
    const raw = bodyFor(kind, number);
    expect(errorOf(await call(`/v1/hooks/${hook.id}`, { raw }))).toEqual(unauthorized);
    const proof =
      kind === "supabase" ? `v1,whsec_${Buffer.alloc(24).toString("base64")}` : "another secret, or a token";
    expect(errorOf(await callHook(hook, { number, proof }))).toEqual(unauthorized);
    // Nothing of the call is read before, also if it has no body.
    expect(
      errorOf(await call(`/v1/hooks/${hook.id}`, { raw: "{", headers: { "Content-Type": "text/plain" } })),
    ).toEqual(unauthorized);
    expect(await sendsTo(number)).toBe(0);
  });

  it("rejects the body of another system, and a number that cannot be one", async () => {
    const other = kind === "logto" ? "auth0" : "logto";
    for (const body of [bodyFor(other, newNumber()), bodyFor(kind, "12"), "{", ""]) {
      const { status, body: answer } = await callHook(hook, { body });
      // Supabase reads the reason in a response with the status 200.
      const statuses = [status, Object(Object(answer).error).http_code];
      expect(statuses).toEqual(kind === "supabase" ? [200, 400] : [400, undefined]);
    }
  });

  it("is rejected alike when it is unknown, deleted, disabled, or the id of a key", async () => {
    const deleted = await createHook(kind);
    await customer.client.deleteHook({ params: { id: deleted.id } });
    const disabled = await createHook(kind);
    await customer.client.disableApiKey({ params: { id: disabled.id.replace("hok_", "key_") } });
    const { secret } = await customer.client.createApiKey({ body: { scopes: ["send"] } });
    const ids = ["hok_01M8EXMKN2Y7SY42100VMWFK1N", "x", deleted.id, disabled.id, secret];
    const texts = [];
    for (const id of ids) {
      const response = await callHook({ ...hook, id });
      expect(errorOf(response)).toEqual(unauthorized);
      texts.push(response.text.replace(/"requestId":"[^"]+"/, ""));
    }
    expect(new Set(texts).size).toBe(1);
  });
});

describe("a signature", () => {
  it.each(["supabase", "zitadel"] as const)(
    "of %s covers the body, and is valid for five minutes",
    async (kind) => {
      const hook = await createHook(kind);
      const number = newNumber();
      const sent = bodyFor(kind, number);
      expect(errorOf(await callHook(hook, { sent }))).toEqual(unauthorized);
      for (const minutes of [-6, 6]) {
        const at = new Date(Date.now() + minutes * minuteMs);
        expect(errorOf(await callHook(hook, { number, at }))).toEqual(unauthorized);
      }
      expect(await sendsTo(number)).toBe(0);
      expect((await callHook(hook, { number, at: new Date(Date.now() - 4 * minuteMs) })).status).toBe(200);
    },
  );

  it("of Auth0 is a token of one algorithm, for the gateway, that is valid for five minutes", async () => {
    const hook = await createHook("auth0");
    for (const minutes of [-6, 6]) {
      const at = new Date(Date.now() + minutes * minuteMs);
      expect(errorOf(await callHook(hook, { at }))).toEqual(unauthorized);
    }
    const exp = Math.floor(Date.now() / 1_000) + 200;
    const foreign = [
      { aud: "urn:sms-gateway", exp },
      { aud: "urn:another", iat: exp - 200 },
      { iat: exp - 200 },
    ];
    for (const claims of foreign) {
      const credential = await new SignJWT(claims)
        .setProtectedHeader({ alg: "HS256" })
        .sign(Buffer.from(hook.proof));
      const raw = bodyFor("auth0", newNumber());
      expect(errorOf(await call(`/v1/hooks/${hook.id}`, { credential, raw }))).toEqual(unauthorized);
    }
    const [head, content] = ['{"alg":"none"}', '{"sub":"urn:Auth0"}'].map((part) =>
      Buffer.from(part).toString("base64url"),
    );
    const unsigned = `${head}.${content}`;
    const signature = createHmac("sha256", hook.proof).update(unsigned).digest("base64url");
    for (const token of [`${unsigned}.`, `${unsigned}.${signature}`]) {
      const response = await call(`/v1/hooks/${hook.id}`, {
        credential: token,
        raw: bodyFor("auth0", newNumber()),
      });
      expect(errorOf(response)).toEqual(unauthorized);
    }
  });
});

describe("a repeated call", () => {
  /** Ends the verification of a number, whose next code would start another one. */
  /** Ends a verification: another call about its number can begin the next one immediately. */
  async function approve(number: string): Promise<void> {
    const [pending] = (await customer.client.listVerifications({ query: { to: number } })).rows;
    const { id = "" } = pending ?? {};
    await customer.client.reportVerification({ params: { id }, body: { outcome: "approved" } });
  }

  it("of Supabase sends once: with the same id, and with a new one in the next attempt at a request", async () => {
    const hook = await createHook("supabase");
    const number = newNumber();
    await callHook(hook, { number, id: "msg_1" });
    await approve(number);
    for (const id of ["msg_1", "msg_2"]) expect((await callHook(hook, { number, id })).text).toBe("{}");
    expect(await sendsTo(number)).toBe(1);
    const { metadata: _, ...older } = hookBodies.supabase;
    const other = newNumber();
    const body = JSON.stringify(older).replace("15005550000", other);
    await callHook(hook, { body, id: "msg_3" });
    await approve(other);
    expect((await callHook(hook, { body, id: "msg_3" })).text).toBe("{}");
    expect(await sendsTo(other)).toBe(1);
    // Earlier versions give each attempt another id, and no name to the request.
    expect((await callHook(hook, { body, id: "msg_4" })).text).toBe("{}");
    expect(await sendsTo(other)).toBe(1);
    await callHook(hook, { body: body.replace("123456", "654321"), id: "msg_5" });
    expect(await sendsTo(other)).toBe(2);
  });

  it("of Supabase is asked to come again while the first is in flight", async () => {
    const { id, kind, proof } = await createHook("supabase");
    const raw = bodyFor(kind, newNumber());
    const { repeatId, code: _, ...content } = readHookBody(kind, raw);
    const headers = await hookHeaders(kind, proof, { body: raw });
    const first = { organizationId: customer.organizationId, key: `${id} ${repeatId}`, content };
    const { answer } = await once(first, async () => call(`/v1/hooks/${id}`, { headers, raw }));
    expect(answer).toMatchObject({ status: 503 });
    expect(Object(answer).headers.get("Retry-After")).toBe("2");
  });

  it("of Zitadel sends once while it has the same signature, whatever is beside it", async () => {
    const { id, kind, proof } = await createHook("zitadel");
    const number = newNumber();
    const raw = bodyFor(kind, number);
    const signature = Object.values(await hookHeaders(kind, proof, { body: raw })).join(",");
    for (const more of ["", ",v1=11"]) {
      const headers = { "ZITADEL-Signature": signature + more, "webhook-id": `msg_${more}` };
      expect((await call(`/v1/hooks/${id}`, { headers, raw })).status).toBe(200);
      if (more === "") await approve(number);
    }
    expect(await sendsTo(number)).toBe(1);
  });

  it("of Auth0 sends once while it has the same token and body, however the token's signature is written", async () => {
    const { id, kind, proof } = await createHook("auth0");
    const [number, other] = [newNumber(), newNumber()];
    const raw = bodyFor(kind, number);
    const { Authorization: first = "" } = await hookHeaders(kind, proof, { body: raw });
    // The last character of a signature has two bits that mean nothing.
    const last = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const same = first.slice(0, -1) + last.charAt(last.indexOf(first.slice(-1)) + 1);
    for (const Authorization of [first, same]) {
      const response = await call(`/v1/hooks/${id}`, { headers: { Authorization }, raw });
      expect([response.status, response.text]).toEqual([200, "{}"]);
      if (Authorization === first) await approve(number);
    }
    expect(await sendsTo(number)).toBe(1);
    // The tokens of two people in one second are equal.
    const headers = { Authorization: first };
    expect((await call(`/v1/hooks/${id}`, { headers, raw: bodyFor(kind, other) })).status).toBe(200);
    expect(await sendsTo(other)).toBe(1);
  });
});

describe("a hook", () => {
  it("needs a secret exactly if its system signs, and stores neither secret nor token", async () => {
    for (const body of [
      { kind: "supabase" },
      { kind: "logto", secret: "a secret of a system without one" },
      { kind: "zitadel", secret: "short" },
    ]) {
      const response = await customer.call("/v1/hooks", { json: body });
      expect([errorOf(response).status, invalidFields(response)]).toEqual([400, ["secret"]]);
    }
    const unknown = await customer.call("/v1/hooks", { json: { kind: "logto", profile: "unknown" } });
    expect(errorOf(unknown)).toEqual({ status: 404, code: "NOT_FOUND" });
    for (const kind of HookKind.options) {
      const { id, proof, token } = await createHook(kind);
      const record = await findItem(CredentialRecord, keys.apiKey(hashApiKeySecret(id)));
      expect(record?.hook?.kind).toBe(kind);
      expect(JSON.stringify(record)).not.toContain(proof.replace("v1,", ""));
      expect(token === undefined).toBe(kind in hookSecrets);
    }
  });

  it("is listed, also among the API keys with its last call, and is in the audit log", async () => {
    const owner = await customerWithSender();
    const hook = await createHook("logto", { owner, limits: { dailyBudget: 5 } });
    await callHook(hook);
    const { rows } = await owner.client.listHooks();
    const { token: _, proof: __, ...shown } = hook;
    expect(rows).toEqual([shown]);
    const apiKeys = (await owner.client.listApiKeys()).rows;
    const lastUsedAt: unknown = expect.any(String);
    const key = {
      id: hook.id.replace("hok_", "key_"),
      scopes: ["send"],
      limits: { dailyBudget: 5 },
      lastUsedAt,
    };
    expect(apiKeys).toMatchObject([key]);
    const rotated = await owner.call(`/v1/auth/api-keys/${key.id}/rotate`, { method: "POST" });
    expect(errorOf(rotated)).toEqual({ status: 409, code: "CONFLICT" });
    await owner.client.deleteHook({ params: { id: hook.id } });
    expect((await owner.client.listHooks()).rows).toEqual([]);
    const again = await owner.call(`/v1/hooks/${hook.id}`, { method: "DELETE" });
    expect(errorOf(again)).toEqual({ status: 404, code: "NOT_FOUND" });
    const log = JSON.stringify((await owner.client.listAuditLog()).rows);
    expect(log).toContain("POST /v1/hooks");
    expect(log).not.toContain(hook.proof);
  });

  it("sends test messages for a test hook, and nothing beyond its limits or for a suspended organization", async () => {
    const owner = await customerWithSender();
    const test = await createHook("logto", { owner, test: true });
    const number = newNumber();
    expect((await callHook(test, { number })).status).toBe(200);
    expect(await owner.client.getWallet()).toMatchObject({ balance: 10 });
    const limited = await createHook("supabase", { owner, limits: { allowedRecipients: ["44"] } });
    expect(await callHook(limited)).toMatchObject({ status: 200, body: { error: { http_code: 403 } } });
    const hook = await createHook("logto", { owner });
    await suspendOrganization(owner.organizationId, "test");
    const suspended = { status: 403, code: "ORGANIZATION_SUSPENDED" };
    for (const each of [hook, test]) expect(errorOf(await callHook(each))).toEqual(suspended);
  });

  it("ends with the key that made it, which cannot make one with more rights", async () => {
    const maker = await customer.client.createApiKey({
      body: { scopes: ["send", "keys"], limits: { dailyBudget: 1 } },
    });
    const made = await call("/v1/hooks", { credential: maker.secret, json: { kind: "logto" } });
    const data = dataOf(made, CreatedHook);
    expect(data.limits).toEqual({ dailyBudget: 1 });
    const hook = { ...data, proof: data.token ?? "" };
    expect((await callHook(hook)).status).toBe(200);
    await customer.client.disableApiKey({ params: { id: maker.id } });
    expect(errorOf(await callHook(hook))).toEqual(unauthorized);
    const reader = await customer.client.createApiKey({ body: { scopes: ["keys"] } });
    const rejected = await call("/v1/hooks", { credential: reader.secret, json: { kind: "logto" } });
    expect(errorOf(rejected)).toEqual({ status: 403, code: "INSUFFICIENT_SCOPE" });
  });
});
