import { randomUUID } from "node:crypto";

import { describe, expect, it } from "vitest";

import { Session } from "../../shared/api/contract/accounts.ts";
import { ApiKey, CreatedApiKey } from "../../shared/api/contract/api-keys.ts";
import { allScopes } from "../../shared/api/contract/scopes.ts";
import {
  call,
  Customer,
  dataOf,
  errorOf,
  invalidFields,
  pageOf,
  password,
  type ApiResponse,
} from "../support/api.ts";

function newEmail(): string {
  return `${randomUUID()}@example.com`;
}

describe("registration", () => {
  it("creates a user, an organization and an empty wallet, and logs the user in", async () => {
    const email = newEmail();
    const names = { firstName: "Ada", lastName: "Lovelace", organizationName: "Engines & Co" };
    const registered = await call("/v1/auth/register", { json: { email, password, ...names } });
    expect(registered.status).toBe(201);
    expect(registered.body).toMatchObject({
      data: {
        tokenType: "Bearer",
        user: { email, firstName: "Ada", lastName: "Lovelace" },
        organization: { name: "Engines & Co" },
      },
    });
    const { token } = dataOf(registered, Session);
    expect(await call("/v1/wallet", { credential: token })).toMatchObject({
      status: 200,
      body: { data: { balance: 0, currency: "USD" } },
    });
    expect(await call("/v1/auth/me", { credential: token })).toMatchObject({
      status: 200,
      body: { data: { user: { email }, organization: { name: "Engines & Co" }, scopes: allScopes } },
    });
  });

  it("accepts an email once, in any case, also for requests at the same time", async () => {
    const email = newEmail();
    const attempts = [email, email.toUpperCase(), email, email.toUpperCase(), email];
    const responses = await Promise.all(
      attempts.map(async (each) => call("/v1/auth/register", { json: { email: each, password } })),
    );
    const statuses = responses.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([201, 409, 409, 409, 409]);
    const rejected = responses.filter(({ status }) => status === 409).map(errorOf);
    expect(new Set(rejected.map(({ code }) => code))).toEqual(new Set(["EMAIL_TAKEN"]));
  });

  it("rejects a password that bcrypt would cut, and names the field", async () => {
    const json = { email: newEmail(), password: "é".repeat(37) };
    const response = await call("/v1/auth/register", { json });
    expect(errorOf(response)).toEqual({ status: 400, code: "VALIDATION_ERROR" });
    expect(invalidFields(response)).toEqual(["password"]);
  });

  it("accepts a password of exactly 8 characters and one of exactly 72 bytes", async () => {
    for (const each of ["12345678", "é".repeat(36)]) {
      const response = await call("/v1/auth/register", { json: { email: newEmail(), password: each } });
      expect(response.status).toBe(201);
    }
  });
});

describe("login", () => {
  it("returns a token and the context of user and organization", async () => {
    const customer = await Customer.register();
    const response = await call("/v1/auth/login", {
      json: { email: customer.email.toUpperCase(), password },
    });
    expect(response).toMatchObject({
      status: 200,
      body: {
        data: { user: { email: customer.email }, organization: { id: customer.organizationId } },
      },
    });
    expect(response.text).not.toContain("passwordHash");
  });

  it("responds to a wrong password and an unknown email alike", async () => {
    const customer = await Customer.register();
    const wrong = await call("/v1/auth/login", { json: { email: customer.email, password: "wrong" } });
    const unknown = await call("/v1/auth/login", { json: { email: newEmail(), password } });
    expect(errorOf(wrong)).toEqual({ status: 401, code: "INVALID_CREDENTIALS" });
    expect(errorOf(unknown)).toEqual(errorOf(wrong));
  });

  it("stops guessing after ten wrong passwords, also parallel ones, and lets other accounts in", async () => {
    const [victim, other] = await Promise.all([Customer.register(), Customer.register()]);
    const guesses = await Promise.all(
      Array.from({ length: 13 }, async (_, guess) =>
        call("/v1/auth/login", { json: { email: victim.email, password: `guess ${guess}` } }),
      ),
    );
    expect(guesses.filter(({ status }) => status === 401)).toHaveLength(10);
    const limited = guesses.filter(({ status }) => status === 429);
    expect(limited).toHaveLength(3);
    for (const response of limited) {
      expect(errorOf(response).code).toBe("RATE_LIMITED");
      expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    }
    expect((await call("/v1/auth/login", { json: { email: other.email, password } })).status).toBe(200);
  });

  it("does not count successful log-ins", async () => {
    const { email } = await Customer.register();
    for (let login = 0; login < 12; login += 1) {
      expect((await call("/v1/auth/login", { json: { email, password } })).status).toBe(200);
    }
  });
});

describe("logging out", () => {
  async function logIn({ email }: Customer): Promise<string> {
    const answer = await call("/v1/auth/login", { json: { email, password } });
    return dataOf(answer, Session).token;
  }

  async function logOut(path: "logout" | "logout-everywhere", credential: string): Promise<ApiResponse> {
    return call(`/v1/auth/${path}`, { method: "POST", credential });
  }

  async function isOpen(credential: string): Promise<boolean> {
    const answer = await call("/v1/wallet", { credential });
    if (answer.status === 200) return true;
    expect(errorOf(answer)).toEqual({ status: 401, code: "UNAUTHORIZED" });
    expect(answer.headers.get("www-authenticate")).toBe('Bearer error="invalid_token"');
    return false;
  }

  it("ends the session of the call and no other", async () => {
    const customer = await Customer.register();
    const { secret } = await customer.createApiKey();
    const other = await logIn(customer);
    expect(await logOut("logout", customer.token)).toMatchObject({
      status: 200,
      body: { data: { loggedOut: true } },
    });
    expect(await isOpen(customer.token)).toBe(false);
    expect(await isOpen(other)).toBe(true);
    expect(await isOpen(secret)).toBe(true);
    expect(errorOf(await logOut("logout", customer.token)).code).toBe("UNAUTHORIZED");
  });

  it("everywhere ends all sessions of the user, and leaves API keys and later sessions", async () => {
    const [customer, stranger] = await Promise.all([Customer.register(), Customer.register()]);
    const { secret } = await customer.createApiKey();
    const others = [await logIn(customer), await logIn(customer)];
    expect(await logOut("logout", others[0] ?? "")).toMatchObject({ status: 200 });
    expect(await logOut("logout-everywhere", customer.token)).toMatchObject({
      status: 200,
      body: { data: { loggedOut: true } },
    });
    for (const token of [customer.token, ...others]) expect(await isOpen(token)).toBe(false);
    expect(await isOpen(secret)).toBe(true);
    expect(await isOpen(stranger.token)).toBe(true);
    expect(await isOpen(await logIn(customer))).toBe(true);
  });

  it.each(["logout", "logout-everywhere"] as const)(
    "%s is for people, and not for API keys",
    async (path) => {
      const customer = await Customer.register();
      const { secret } = await customer.createApiKey();
      expect(errorOf(await logOut(path, secret))).toEqual({ status: 403, code: "INSUFFICIENT_SCOPE" });
      const withoutCredential = await call(`/v1/auth/${path}`, { method: "POST" });
      expect(errorOf(withoutCredential)).toEqual({ status: 401, code: "UNAUTHORIZED" });
      expect(await isOpen(customer.token)).toBe(true);
    },
  );
});

describe("API keys", () => {
  it("show their secret once and never again", async () => {
    const customer = await Customer.register();
    const created = await customer.call("/v1/auth/api-keys", { json: { name: "server" } });
    expect(created.status).toBe(201);
    const { secret, id } = dataOf(created, CreatedApiKey);
    expect(secret).toMatch(/^nn_[0-9A-Za-z]{38}$/);
    const listed = await customer.call("/v1/auth/api-keys");
    expect(listed.body).toMatchObject({
      data: [{ id, name: "server", status: "active" }],
      meta: { total: 1 },
    });
    const disabled = await customer.call(`/v1/auth/api-keys/${id}/disable`, { method: "POST" });
    for (const { text } of [listed, disabled]) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain("secret");
    }
  });

  it("are rejected from the call after they are disabled", async () => {
    const customer = await Customer.register();
    const { id, secret } = await customer.createApiKey();
    expect((await call("/v1/wallet", { credential: secret })).status).toBe(200);
    const disabled = await customer.call(`/v1/auth/api-keys/${id}/disable`, { method: "POST" });
    expect(disabled).toMatchObject({ status: 200, body: { data: { id, status: "disabled" } } });
    expect(errorOf(await call("/v1/wallet", { credential: secret }))).toEqual({
      status: 401,
      code: "UNAUTHORIZED",
    });
  });

  it("can be disabled repeatedly, also in parallel, with the same response", async () => {
    const customer = await Customer.register();
    const { id } = await customer.createApiKey();
    const disable = async (): Promise<string> =>
      (await customer.call(`/v1/auth/api-keys/${id}/disable`, { method: "POST" })).text;
    const answers = await Promise.all([disable(), disable(), disable()]);
    answers.push(await disable());
    expect(new Set(answers).size).toBe(1);
    expect(answers[0]).toContain('"disabledAt"');
  });

  it("of another organization are not found", async () => {
    const [owner, stranger] = await Promise.all([Customer.register(), Customer.register()]);
    const { id, secret } = await owner.createApiKey();
    const response = await stranger.call(`/v1/auth/api-keys/${id}/disable`, { method: "POST" });
    expect(errorOf(response)).toEqual({ status: 404, code: "NOT_FOUND" });
    expect((await call("/v1/auth/me", { credential: secret })).status).toBe(200);
  });

  it("are listed newest first, page by page and by cursor", async () => {
    const customer = await Customer.register();
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) ids.unshift((await customer.createApiKey()).id);
    const list = async (query: string) => {
      const { rows, meta } = pageOf(await customer.call(`/v1/auth/api-keys?${query}`), ApiKey);
      return { ids: rows.map(({ id }) => id), meta };
    };
    const second = await list("page=2&limit=2");
    expect(second.ids).toEqual(ids.slice(2, 4));
    expect(second.meta).toMatchObject({ page: 2, limit: 2, total: 5, totalPages: 3 });
    const third = await list(`limit=2&cursor=${second.meta.nextCursor}`);
    expect(third.ids).toEqual(ids.slice(4));
    expect(third.meta).toEqual({ limit: 2, total: 5, totalPages: 3 });
  });
});
