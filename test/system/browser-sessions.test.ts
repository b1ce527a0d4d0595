import { beforeEach, describe, expect, it } from "vitest";
import * as z from "zod/mini";

import type { AwsRequest } from "../../infra/local/local-aws.ts";
import { ActiveSession, Session } from "../../shared/api/contract/accounts.ts";
import { hourMs, minuteMs } from "../../shared/platform/clock.ts";
import { derivedId } from "../../shared/platform/ids.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { findItem } from "../../shared/platform/table/read.ts";
import { deleteItem, updateItem, updateOf } from "../../shared/platform/table/write.ts";
import {
  call,
  Customer,
  dataOf,
  errorOf,
  pageOf,
  password,
  type ApiCall,
  type ApiResponse,
} from "../support/api.ts";
import { isBy, loseRequest } from "../support/faults.ts";
import { gatewayOfFile } from "../support/own-gateway.ts";

/*
 * The sessions of the console, whose cookie no script can read.
 */

const { gateway, faults, log: lines } = await gatewayOfFile();
let customer: Customer;
let userId: string;

beforeEach(async () => {
  customer = await Customer.register({ baseUrl: gateway.url });
  ({ id: userId } = (await customer.client.getMe()).user);
});

const sameOrigin = { "X-Console": "new", "Sec-Fetch-Site": "same-origin" };
const unauthorized = { status: 401, code: "UNAUTHORIZED" };

/** A browser with the console. */
class Browser {
  cookie: string;

  constructor(cookie = "") {
    this.cookie = cookie;
  }

  /** @param headers in place of those of the console */
  async call(
    path: string,
    { headers = sameOrigin, ...options }: ApiCall = {},
    cookie = this.cookie,
  ): Promise<ApiResponse> {
    const response = await call(path, {
      baseUrl: gateway.url,
      ...options,
      headers: { "User-Agent": "Firefox", Cookie: cookie, ...headers },
    });
    this.cookie = response.headers.get("set-cookie")?.split(";")[0] ?? this.cookie;
    return response;
  }

  async logIn(headers: Record<string, string> = sameOrigin, given = password): Promise<ApiResponse> {
    return this.call("/v1/auth/console-session", {
      json: { email: customer.email, password: given },
      headers,
    });
  }

  async status(path = "/v1/wallet"): Promise<number> {
    return (await this.call(path)).status;
  }

  async sessions(): Promise<z.infer<typeof ActiveSession>[]> {
    return pageOf(await this.call("/v1/auth/sessions"), ActiveSession).rows;
  }
}

/** Returns a cookie of the same session with a wrong secret. */
function withAnotherSecret(cookie: string): string {
  return `${cookie.slice(0, -43)}${cookie.at(-43) === "A" ? "B" : "A"}${cookie.slice(-42)}`;
}

async function newBrowser(): Promise<Browser> {
  const browser = new Browser();
  expect((await browser.logIn()).status).toBe(201);
  return browser;
}

/** The seconds until the session ends, as the gateway reports them. */
function secondsLeft({ headers }: ApiResponse): number {
  return Number(headers.get("x-session-ends-in"));
}

describe("the cookie", () => {
  it("is for the gateway's own pages only, and no script can read it", async () => {
    const browser = new Browser();
    const response = await browser.logIn();
    const port = new URL(gateway.url).port;
    expect(response.headers.get("set-cookie")).toMatch(
      new RegExp(`^session-${port}=usr_\\w+\\.ses_\\w+\\.[\\w-]{43}; Path=/; HttpOnly; SameSite=Strict$`),
    );
    expect(response.text).not.toContain("token");
    expect(response.body).toMatchObject({ data: { user: { id: userId } } });
    expect(await browser.status()).toBe(200);
    const other = `other=1; ${browser.cookie}; another=2`;
    expect((await browser.call("/v1/wallet", {}, other)).status).toBe(200);
  });

  const post = { method: "POST", json: { amount: 1 } };
  const { "Sec-Fetch-Site": _site, ...older } = sameOrigin;
  it.each([
    ["of a form", { "Sec-Fetch-Site": "same-origin" }, 401],
    ["of another site", { ...sameOrigin, "Sec-Fetch-Site": "cross-site" }, 401],
    ["of another host of the domain", { ...sameOrigin, "Sec-Fetch-Site": "same-site" }, 401],
    ["of a navigation", { ...sameOrigin, "Sec-Fetch-Site": "none" }, 401],
    ["of an older browser from another origin", { ...older, Origin: "http://127.0.0.1:1" }, 401],
    ["of an older browser from an unknown origin", { ...older }, 401],
    ["of an older browser from the console", { ...older, Origin: "OWN" }, 200],
    ["of the console", sameOrigin, 200],
  ] as const)("in a request %s: %o", async (_name, given, status) => {
    const browser = await newBrowser();
    const headers = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, value === "OWN" ? gateway.url : value]),
    );
    expect((await browser.call("/v1/wallet/top-up", { ...post, headers })).status).toBe(status);
    const login = await new Browser().logIn(headers);
    expect(login.status).toBe(status === 200 ? 201 : 403);
    expect(login.headers.has("set-cookie")).toBe(status === 200);
  });

  it("never counts beside an Authorization header, and not for agents", async () => {
    const browser = await newBrowser();
    for (const authorization of ["", "Bearer x", "Basic x"]) {
      const headers = { ...sameOrigin, Authorization: authorization };
      expect(errorOf(await browser.call("/v1/wallet", { headers }))).toEqual(unauthorized);
    }
    const message = { jsonrpc: "2.0", id: 1, method: "ping" };
    expect((await browser.call("/mcp", { json: message })).status).toBe(401);
  });

  it("counts only for a page that shows its user", async () => {
    const browser = await newBrowser();
    const asUser = async (user: string): Promise<number> =>
      (await browser.call("/v1/wallet", { headers: { ...sameOrigin, "X-Console": user } })).status;
    const other = await Customer.register({ baseUrl: gateway.url });
    const { id: otherId } = (await other.client.getMe()).user;
    expect([await asUser(userId), await asUser(otherId), await asUser("usr"), await asUser("")]).toEqual([
      200, 401, 401, 401,
    ]);
  });

  it("is rejected with a changed part, and is never in the log or as plain text in the table", async () => {
    const browser = await newBrowser();
    const secret = browser.cookie.slice(-43);
    const changed = withAnotherSecret(browser.cookie);
    for (const cookie of [changed, browser.cookie.slice(0, -1), `${browser.cookie}.`]) {
      expect(errorOf(await browser.call("/v1/wallet", {}, cookie))).toEqual(unauthorized);
    }
    expect(await browser.status()).toBe(200);
    expect(lines.join("\n")).toContain('"event":"request"');
    expect(lines.join("\n")).not.toContain(secret);
    const [{ id } = { id: "" }] = await browser.sessions();
    const stored = await findItem(z.unknown(), keys.session(userId, id), { consistent: true });
    expect(stored).toBeDefined();
    expect(JSON.stringify(stored)).not.toContain(secret);
  });
});

describe("a session", () => {
  it("is renewed by use, with few writes, and ends an hour after the last one", async () => {
    const browser = await newBrowser();
    const isNote = ({ operation, body }: { operation: string; body: string }): boolean =>
      operation === "dynamodb:UpdateItem" && body.includes(`SESSION_USES#${userId}`);
    faults.clear();
    for (let request = 0; request < 3; request += 1) await browser.status();
    expect(faults.seen.filter(isNote)).toHaveLength(0);
    gateway.advanceClock(50 * minuteMs);
    expect(secondsLeft(await browser.call("/v1/wallet"))).toBeGreaterThan(59 * 60);
    await browser.status();
    expect(faults.seen.filter(isNote)).toHaveLength(1);
    gateway.advanceClock(50 * minuteMs);
    expect(await browser.status()).toBe(200);
    gateway.advanceClock(61 * minuteMs);
    expect(errorOf(await browser.call("/v1/wallet"))).toEqual(unauthorized);
    gateway.advanceClock(-30 * minuteMs);
    // The clock alone ended it.
    expect(await browser.status()).toBe(200);
  });

  it("ends twelve hours after the log-in, however much it is used", async () => {
    const browser = await newBrowser();
    for (let count = 0; count < 14; count += 1) {
      gateway.advanceClock(50 * minuteMs);
      expect(await browser.status()).toBe(200);
    }
    const left = secondsLeft(await browser.call("/v1/wallet"));
    expect(left).toBeGreaterThan(19 * 60);
    expect(left).toBeLessThanOrEqual(20 * 60);
    gateway.advanceClock(21 * minuteMs);
    expect(errorOf(await browser.call("/v1/wallet"))).toEqual(unauthorized);
  });

  it("continues when its use cannot be noted", async () => {
    const browser = await newBrowser();
    gateway.advanceClock(10 * minuteMs);
    faults.next(({ body }) => body.includes("SESSION_USES#"), loseRequest);
    expect(await browser.status()).toBe(200);
  });

  it("has ended without its record, as in a table that was restored", async () => {
    const browser = await newBrowser();
    const [{ id } = { id: "" }] = await browser.sessions();
    await deleteItem(keys.session(userId, id));
    expect(errorOf(await browser.call("/v1/wallet"))).toEqual(unauthorized);
  });

  it("is replaced by a new log-in in the same browser", async () => {
    const browser = await newBrowser();
    const before = browser.cookie;
    await browser.logIn();
    expect(browser.cookie).not.toBe(before);
    expect([await browser.status(), await new Browser(before).status()]).toEqual([200, 401]);
    await new Browser(withAnotherSecret(browser.cookie)).logIn();
    expect(await browser.status()).toBe(200);
  });

  it("ends at log-out, with its cookie, and no other session", async () => {
    const [browser, other] = [await newBrowser(), await newBrowser()];
    const { cookie } = browser;
    const out = await browser.call("/v1/auth/logout", { method: "POST" });
    expect(out.headers.get("set-cookie")).toMatch(/^session-\d+=; Path=\/; .*Max-Age=0$/);
    expect([await new Browser(cookie).status(), await other.status()]).toEqual([401, 200]);
    expect((await customer.call("/v1/wallet")).status).toBe(200);
    // The log-out of a token leaves the cookies of browsers.
    const byToken = await customer.call("/v1/auth/logout", { method: "POST" });
    expect(byToken.headers.has("set-cookie")).toBe(false);
    expect([(await customer.call("/v1/wallet")).status, await other.status()]).toEqual([401, 200]);
  });

  it("gets a new cookie with a new password, so that a copy of the cookie ends", async () => {
    const browser = await newBrowser();
    const copy = browser.cookie;
    // The change and the new cookie are one write, so no fault comes between them.
    const setsSecret = ({ body: text }: AwsRequest): boolean => text.includes("secretHash");
    faults.next(
      (request) => isBy("ChangePassword", "dynamodb:UpdateItem")(request) && setsSecret(request),
      loseRequest,
      20,
    );
    const body = { currentPassword: password, newPassword: `${password} staple` };
    const changed = await browser.call("/v1/auth/password", { json: body });
    expect(changed.status).toBe(200);
    expect(changed.headers.get("set-cookie")).toContain("HttpOnly");
    expect(await browser.status()).toBe(200);
    expect(errorOf(await browser.call("/v1/wallet", {}, copy))).toEqual(unauthorized);
  });

  it("outlives a hundred log-outs of programs", async () => {
    const browser = await newBrowser();
    gateway.advanceClock(50 * minuteMs);
    expect(await browser.status()).toBe(200);
    gateway.advanceClock(50 * minuteMs);
    expect(await browser.status()).toBe(200);
    const ended = Array.from({ length: 100 }, (_, index) =>
      derivedId("ses", new Date(Date.now() + 20 * minuteMs), String(index)),
    );
    await updateItem(
      z.unknown(),
      updateOf(keys.user(userId), { set: { endedSessionIds: new Set(ended) } }, { present: ["pk"] }),
    );
    const login = { email: customer.email, password };
    const session = dataOf(await call("/v1/auth/login", { json: login, baseUrl: gateway.url }), Session);
    const credential = session.token;
    expect((await call("/v1/auth/logout", { method: "POST", credential, baseUrl: gateway.url })).status).toBe(
      200,
    );
    expect((await call("/v1/wallet", { credential, baseUrl: gateway.url })).status).toBe(401);
    expect(await browser.status()).toBe(200);
  });

  it("ends with all others when a password is changed elsewhere, or after a log-out everywhere", async () => {
    const [browser, other] = [await newBrowser(), await newBrowser()];
    const body = { currentPassword: password, newPassword: `${password} staple` };
    expect((await browser.call("/v1/auth/password", { json: body })).status).toBe(200);
    expect([await browser.status(), await other.status()]).toEqual([200, 401]);
    expect((await customer.call("/v1/wallet")).status).toBe(401);
    expect(await browser.sessions()).toHaveLength(1);
    await other.logIn(sameOrigin, body.newPassword);
    expect(await other.status()).toBe(200);
    await browser.call("/v1/auth/logout-everywhere", { method: "POST" });
    expect(await other.status()).toBe(401);
  });

  it("ends with its member", async () => {
    const browser = await newBrowser();
    await deleteItem(keys.member(customer.organizationId, userId));
    expect(errorOf(await browser.call("/v1/wallet"))).toEqual(unauthorized);
  });
});

describe("the list of sessions", () => {
  it("names browsers and tokens, newest first, and each of them can be ended", async () => {
    const [browser, other] = [await newBrowser(), await newBrowser()];
    gateway.advanceClock(10 * minuteMs);
    await browser.status();
    const listed = await browser.sessions();
    const [second, first, token] = listed;
    expect(listed).toHaveLength(3);
    expect([first?.current, second?.current, token?.current]).toEqual([true, undefined, undefined]);
    expect(first?.userAgent).toBe("Firefox");
    expect(Date.parse(first?.lastUsedAt ?? "") - Date.parse(first?.createdAt ?? "")).toBeGreaterThan(
      hourMs / 7,
    );
    expect(second?.lastUsedAt).toBe(second?.createdAt);
    expect(token?.lastUsedAt).toBeUndefined();

    const end = async (id = ""): Promise<ApiResponse> =>
      browser.call(`/v1/auth/sessions/${id}`, { method: "DELETE" });
    expect((await end(second?.id)).body).toEqual({ data: { id: second?.id, deleted: true } });
    expect([await other.status(), await browser.status()]).toEqual([401, 200]);
    expect(errorOf(await end(second?.id))).toEqual({ status: 404, code: "NOT_FOUND" });
    expect((await customer.call("/v1/wallet")).status).toBe(200);
    expect((await end(token?.id)).status).toBe(200);
    expect((await customer.call("/v1/wallet")).status).toBe(401);
    expect((await browser.sessions()).map(({ id }) => id)).toEqual([first?.id]);
  });

  it("has no sessions that ended by themselves", async () => {
    const [browser] = [await newBrowser(), await newBrowser()];
    expect(await browser.sessions()).toHaveLength(3);
    gateway.advanceClock(40 * minuteMs);
    await browser.status();
    gateway.advanceClock(40 * minuteMs);
    expect((await browser.sessions()).map(({ current }) => current)).toEqual([true]);
  });

  it("has no sessions of other users, and does not end them", async () => {
    const browser = await newBrowser();
    const [{ id } = { id: "" }] = await browser.sessions();
    const other = await Customer.register({ baseUrl: gateway.url });
    expect((await other.client.listSessions()).rows).toMatchObject([{ current: true }]);
    const ended = await other.call(`/v1/auth/sessions/${id}`, { method: "DELETE" });
    expect(errorOf(ended)).toEqual({ status: 404, code: "NOT_FOUND" });
    const { secret } = await other.createApiKey();
    const byKey = await other.call("/v1/auth/sessions", { credential: secret });
    expect(errorOf(byKey)).toEqual({ status: 403, code: "INSUFFICIENT_SCOPE" });
    expect(await browser.status()).toBe(200);
  });
});
