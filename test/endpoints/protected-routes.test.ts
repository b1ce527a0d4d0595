import { beforeAll, describe, expect, it } from "vitest";

import { allScopes, type Scope } from "../../shared/contract/scopes.ts";
import { routes } from "../../shared/routes.ts";
import type { Route } from "../../shared/routes/route.ts";
import { call, Customer, errorOf, type ApiResponse } from "../support/api.ts";
import { pathOfNothing } from "../support/paths.ts";

/** A request to a route that would be fine but for what the test changes. */
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

const protectedRoutes = Object.entries<Route>(routes).filter(([, route]) => route.auth !== "none");
let customer: Customer;
let apiKeySecret: string;
/** API keys of another customer that may everything but what they stand under. */
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

/** Who calls a route with a session: somebody who needs it no more where it may be what the route ends. */
async function callerOf(route: Route): Promise<Customer> {
  return route.auth === "session" ? Customer.register() : customer;
}

const insufficientScope = { status: 403, code: "INSUFFICIENT_SCOPE" };
const unauthorized = { status: 401, code: "UNAUTHORIZED" };

describe.each(protectedRoutes)("%s", (_operation, route) => {
  it("refuses a request without a credential and says which scheme it takes", async () => {
    const response = await request(route, {});
    expect(errorOf(response)).toEqual(unauthorized);
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
  });

  it.each([
    ["an empty header", ""],
    ["the scheme alone", "Bearer"],
    ["the scheme in lower case", "bearer token"],
    ["another scheme", "Basic dXNlcjpwYXNzd29yZA=="],
    ["two credentials", "Bearer one two"],
  ])("refuses %s", async (_name, authorization) => {
    expect(errorOf(await request(route, { headers: { Authorization: authorization } }))).toEqual(
      unauthorized,
    );
  });

  it("takes the scheme in any case of letters", async () => {
    for (const scheme of ["bearer", "BEARER"]) {
      const { token } = await callerOf(route);
      const response = await request(route, { headers: { Authorization: `${scheme} ${token}` } });
      expect(response.status, scheme).not.toBe(401);
    }
  });

  it("refuses a token whose signature is cut off, changed or left out", async () => {
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

  it("refuses API keys that were never given out", async () => {
    const mistyped = apiKeySecret.slice(0, -1) + (apiKeySecret.endsWith("0") ? "1" : "0");
    for (const credential of ["nn_", "nn_short", `nn_${"0".repeat(38)}`, mistyped, `${apiKeySecret}0`]) {
      expect(errorOf(await request(route, { credential })), credential).toEqual(unauthorized);
    }
  });

  it("takes a session token, and an API key unless it is for people alone", async () => {
    const { token } = await callerOf(route);
    expect([401, 403]).not.toContain((await request(route, { credential: token })).status);
    // A new one, for the request before may have revoked all.
    const { secret } = await customer.client.createApiKey({ body: { scopes: [...allScopes] } });
    const response = await request(route, { credential: secret });
    expect([401, 403].includes(response.status)).toBe(route.auth === "session");
  });

  it("refuses an API key that may everything else, and says which scope it needs", async () => {
    const scope = route.scope ?? "keys";
    const response = await request(route, { credential: secretsWithout.get(scope) ?? "" });
    expect(errorOf(response)).toEqual(insufficientScope);
    const needed = route.scope === undefined ? "" : `, scope="${scope}"`;
    expect(response.headers.get("www-authenticate")).toBe(`Bearer error="insufficient_scope"${needed}`);
  });

  it("carries a request id and tells browsers and caches to keep their hands off", async () => {
    const { token } = await callerOf(route);
    const { headers } = await request(route, { credential: token });
    expect(headers.get("x-request-id")).toMatch(/^\S{8,}$/);
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("strict-transport-security")).toContain("max-age=");
    expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
  });
});

/** Routes whose only fault can be their id: an empty body, where they take one, is fine. */
const routesById = protectedRoutes.filter(
  ([, route]) => route.params !== undefined && route.body?.safeParse({}).success !== false,
);

describe.each(routesById)("%s", (_operation, route) => {
  it("answers 404 for an id that is not there or cannot be", async () => {
    const paths = ["nonsense", "%00", "a".repeat(2_000), "..%2f..", "%E0%A4%A"].map((id) =>
      route.path.replaceAll(/\{\w+\}/g, id),
    );
    for (const path of [pathOfNothing(route), ...paths]) {
      const response = await customer.call(path, {
        method: route.method,
        ...(route.body === undefined ? {} : { json: {} }),
      });
      expect(errorOf(response), path).toEqual({ status: 404, code: "NOT_FOUND" });
    }
  });
});

/** Lists that a new customer can read; a list below another resource has tests of its own. */
const lists = protectedRoutes.filter(([, route]) => route.paged === true && route.params === undefined);

let newcomer: Customer;
beforeAll(async () => {
  newcomer = await Customer.register();
});

describe.each(lists)("%s", (_operation, route) => {
  it.each(["0", "-1", "1000000000", "abc", "1.5", "", "0x10", "1&page=2&limit=3&limit=4"])(
    "refuses %s as page and as limit",
    async (value) => {
      for (const parameter of ["page", "limit"]) {
        const response = await customer.call(`${route.path}?${parameter}=${value}`);
        expect(errorOf(response), parameter).toEqual({ status: 400, code: "VALIDATION_ERROR" });
      }
    },
  );

  it("refuses a limit above 100 and a cursor that is none", async () => {
    for (const query of ["limit=101", "cursor=%20", "cursor=%C3%A4", `cursor=${"A".repeat(300)}`]) {
      const response = await customer.call(`${route.path}?${query}`);
      expect(errorOf(response), query).toEqual({ status: 400, code: "VALIDATION_ERROR" });
    }
  });
});

/** Prices are the stage's, and all others the customer's own. */
describe.each(lists.filter(([operation]) => operation !== "listPrices"))("%s", (_operation, route) => {
  it("lists nothing yet, with its place among the pages", async () => {
    // The registration is the first entry of the audit log, and its user the first member.
    const total = ["/v1/audit-log", "/v1/members"].includes(route.path) ? 1 : 0;
    expect(await newcomer.call(`${route.path}?page=3&limit=7&unknown=1`)).toMatchObject({
      status: 200,
      body: { data: [], meta: { page: 3, limit: 7, total, totalPages: total } },
    });
  });
});
