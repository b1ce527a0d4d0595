import { beforeAll, describe, expect, it } from "vitest";
import * as z from "zod/mini";

import { allScopes, type Scope } from "../../shared/api/contract/scopes.ts";
import { routes } from "../../shared/api/routes.ts";
import type { Route } from "../../shared/api/routes/route.ts";
import { newApiKeySecret } from "../../shared/platform/auth/api-key-secret.ts";
import { call, Customer, errorOf, type ApiResponse } from "../support/api.ts";
import { pathOfNothing } from "../support/paths.ts";

/** A request to a route that would succeed except for the test's change. */
async function request(
  route: Route,
  options: { credential?: string; headers?: Record<string, string> },
): Promise<ApiResponse> {
  return call(pathOfNothing(route), {
    method: route.method,
    ...(route.body === undefined ? {} : { json: {} }),
    ...options,
  });
}

let customer: Customer;
let apiKeySecret: string;
/** API keys of another customer with all scopes except the one of the entry. */
const secretsWithout = new Map<Scope, string>();
beforeAll(async () => {
  customer = await Customer.register();
  ({ secret: apiKeySecret } = await customer.createApiKey());
  const other = await Customer.register();
  for (const scope of allScopes) {
    const scopes = allScopes.filter((each) => each !== scope);
    secretsWithout.set(scope, (await other.client.createApiKey({ body: { scopes } })).secret);
  }
});

const insufficientScope = { status: 403, code: "INSUFFICIENT_SCOPE" };
const unauthorized = { status: 401, code: "UNAUTHORIZED" };

// `test/unit/route-rules.test.ts` tests the rules of each route. One for people, one that reads and one that writes stand for
// them.
describe.each<[string, Route]>([
  ["listMembers", routes.listMembers],
  ["getWallet", routes.getWallet],
  ["createContact", routes.createContact],
])("the credential of %s", (_operation, route) => {
  it("accepts a session token, and an API key unless the route is only for people", async () => {
    const { status, headers } = await request(route, { credential: customer.token });
    expect([401, 403]).not.toContain(status);
    expect(headers.get("x-request-id")).toMatch(/^\S{8,}$/);
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("strict-transport-security")).toContain("max-age=");
    expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
    const response = await request(route, { credential: apiKeySecret });
    expect([401, 403].includes(response.status)).toBe(route.auth === "session");
  });

  it("rejects an API key with all other scopes, and names the missing scope", async () => {
    const scope = route.scope ?? "keys";
    const response = await request(route, { credential: secretsWithout.get(scope) ?? "" });
    expect(errorOf(response)).toEqual(insufficientScope);
    const needed = route.scope === undefined ? "" : `, scope="${scope}"`;
    const words =
      route.scope === undefined ? "Only a person who is logged in" : `needs the scope \`${scope}\``;
    expect(response.text).toContain(words);
    expect(response.headers.get("www-authenticate")).toBe(`Bearer error="insufficient_scope"${needed}`);
  });

  it.each([
    ["an empty header", ""],
    ["the scheme alone", "Bearer"],
    ["the scheme in lower case without one", "bearer token"],
    ["another scheme", "Basic dXNlcjpwYXNzd29yZA=="],
    ["two credentials", "Bearer one two"],
  ])("is not %s", async (_name, authorization) => {
    expect(errorOf(await request(route, { headers: { Authorization: authorization } }))).toEqual(
      unauthorized,
    );
  });

  it.each(["bearer", "BEARER", "Bearer"])("may come with the scheme written %s", async (scheme) => {
    const response = await request(route, { headers: { Authorization: `${scheme} ${customer.token}` } });
    expect(response.status).not.toBe(401);
  });

  it("is no token whose signature is cut off, changed or left out", async () => {
    const [header = "", claims = "", signature = ""] = customer.token.split(".");
    const none = Buffer.from(JSON.stringify({ alg: "none", typ: "JWT" })).toString("base64url");
    const forged = [
      `${header}.${claims}`,
      `${header}.${claims}.`,
      `${header}.${claims}.${signature.split("").toReversed().join("")}`,
      `${none}.${claims}.`,
      `${none}.${claims}.${signature}`,
    ];
    for (const credential of forged) {
      const response = await request(route, { credential });
      expect(errorOf(response), credential).toEqual(unauthorized);
      expect(response.headers.get("www-authenticate")).toBe('Bearer error="invalid_token"');
    }
  });

  it("is no API key that never existed", async () => {
    const mistyped = apiKeySecret.slice(0, -1) + (apiKeySecret.endsWith("0") ? "1" : "0");
    for (const credential of ["nn_", "nn_short", mistyped, `${apiKeySecret}0`]) {
      expect(errorOf(await request(route, { credential })), credential).toEqual(unauthorized);
    }
  });

  it.each([
    ["no header", {}, "The header Authorization is missing or empty."],
    ["an empty header", { Authorization: "" }, "The header Authorization is missing or empty."],
    ["a header of other APIs", { "X-API-Key": "nn_x" }, "The header x-api-key is not read."],
    ["another scheme", { Authorization: "Basic eDp5" }, "does not begin with `Bearer`."],
    ["a key without its scheme", { Authorization: "nn_x" }, "does not begin with `Bearer`."],
    ["the scheme alone", { Authorization: "Bearer " }, "There is no credential after `Bearer`."],
    [
      "two credentials",
      { Authorization: "Bearer one two" },
      "is not a single credential: it has a space in it.",
    ],
    ["a word", { Authorization: "Bearer hello" }, "This is neither a session token nor an API key."],
    [
      "a piece of a key",
      { Authorization: "Bearer nn_short" },
      "This is neither a session token nor an API key.",
    ],
  ])("is rejected for %s, with advice", async (_name, headers, words) => {
    const response = await request(route, { headers });
    expect(errorOf(response)).toEqual(unauthorized);
    expect(response.text).toContain(words);
    expect(response.text).not.toContain("nn_short");
  });

  it("is rejected with the same words whether it ever existed or not", async () => {
    const { id, secret } = await customer.createApiKey();
    await customer.client.disableApiKey({ params: { id } });
    const [header = "", claims = "", signature = ""] = customer.token.split(".");
    const forged = `${header}.${claims}.${signature.split("").toReversed().join("")}`;
    const messages = new Set<unknown>();
    for (const credential of [secret, newApiKeySecret(), forged, await endedToken()]) {
      const response = await request(route, { credential });
      expect(errorOf(response)).toEqual(unauthorized);
      messages.add(messageOf(response));
    }
    expect([...messages]).toEqual([expect.stringContaining("This credential is not valid")]);
  });
});

/** The token of a session whose person has logged out. */
async function endedToken(): Promise<string> {
  const { client, token } = await Customer.register();
  await client.logout();
  return token;
}

function messageOf({ body }: ApiResponse): string {
  return z.object({ error: z.object({ message: z.string() }) }).parse(body).error.message;
}
