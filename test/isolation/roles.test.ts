import { beforeAll, expect, it } from "vitest";

import type { CreateApiKeyRequest } from "../../shared/api/contract/api-keys.ts";
import {
  allScopes,
  defaultScopes,
  Role,
  scopesOfRole,
  type Scope,
} from "../../shared/api/contract/scopes.ts";
import { routes } from "../../shared/api/routes.ts";
import type { ProtectedRoute, Route } from "../../shared/api/routes/route.ts";
import { accountCallsTo } from "../support/account-calls.ts";
import { errorOf } from "../support/api.ts";
import { gatewayOfFile } from "../support/own-gateway.ts";
import { pathOfNothing } from "../support/paths.ts";

/*
 * Each protected route with each kind of credential: its rules are those of the route table. The calls name items that do not
 * exist, so that a permitted one changes nothing.
 */

interface Credential {
  readonly name: string;
  readonly secret: string;
  readonly scopes: readonly Scope[];
  readonly role?: Role;
  readonly isTest?: boolean;
  readonly isLimited?: boolean;
}

const { gateway } = await gatewayOfFile();
const { as, createKey, join, register } = accountCallsTo(gateway);
const credentials: Credential[] = [];
let keyId: string;
let memberId: string;

beforeAll(async () => {
  const owner = await register();
  credentials.push({ name: "owner", secret: owner.token, scopes: allScopes, role: "owner" });
  for (const role of Role.options.filter((each) => each !== "owner")) {
    const { id, token } = await join(role, owner.token);
    if (role === "viewer") memberId = id;
    credentials.push({ name: role, secret: token, scopes: scopesOfRole[role], role });
  }
  const addKey = async (
    name: string,
    body: CreateApiKeyRequest,
    scopes: readonly Scope[],
    kind: Partial<Credential> = {},
  ): Promise<string> => {
    const { id, secret } = await createKey(owner.token, body);
    credentials.push({ name, secret, scopes, ...kind });
    return id;
  };
  for (const scope of allScopes) await addKey(`key with ${scope}`, { scopes: [scope] }, [scope]);
  await addKey("key with all scopes", { scopes: [...allScopes] }, allScopes);
  await addKey("key", {}, defaultScopes);
  await addKey("test key", { test: true }, ["send", "read", "webhooks"], { isTest: true });
  await addKey("limited key", { limits: { dailyBudget: 1 } }, defaultScopes, { isLimited: true });
  await addKey("key of another address", { allowedAddresses: ["192.0.2.1"] }, []);
  const disabledId = await addKey("disabled key", {}, []);
  await as(owner.token, "POST", `/v1/auth/api-keys/${disabledId}/disable`);
  ({ id: keyId } = await createKey(owner.token, { limits: { dailyBudget: 1 } }));
  const [, payload] = owner.token.split(".");
  const unsigned = Buffer.from(JSON.stringify({ alg: "none", typ: "JWT" })).toString("base64url");
  credentials.push({ name: "unsigned token", secret: `${unsigned}.${payload}.`, scopes: [] });
}, 120_000);

/** These end sessions or keys that the next calls need. */
const endCallers = new Set(["logout", "logoutEverywhere", "revokeAllApiKeys"]);

/** The operations that only some roles may call. Other operations for sessions are for each of them. */
const people: Readonly<Record<string, readonly Role[]>> = {
  inviteMember: ["owner", "admin"],
  updateMember: ["owner", "admin"],
  deleteMember: ["owner", "admin"],
  updateOrganization: ["owner"],
};

/** A body that is decided about only if it is valid. */
const bodies: Readonly<Record<string, object>> = {
  inviteMember: { email: "nobody@example.com", role: "viewer" },
  updateMember: { role: "viewer" },
  updateOrganization: { secondFactorRequired: false },
  updateApiKey: { limits: { dailyBudget: 1 } },
  callMcp: { jsonrpc: "2.0", id: 1, method: "tools/list" },
};

const denials = new Set([
  "UNAUTHORIZED",
  "INSUFFICIENT_SCOPE",
  "TEST_KEY_NOT_ALLOWED",
  "ADDRESS_NOT_ALLOWED",
]);

function isAllowed(operation: string, route: ProtectedRoute, caller: Credential): boolean {
  const { role, scopes, isTest = false, isLimited = false } = caller;
  if (route.auth === "session") {
    if (operation === "updateApiKey") return role !== undefined && scopes.includes("keys");
    return role !== undefined && people[operation]?.includes(role) !== false;
  }
  if (isTest && route.testKeys !== true) return false;
  if (isLimited && route.method !== "GET" && route.limitedKeys !== true) return false;
  return scopes.includes(route.scope);
}

const rows = Object.entries<Route>(routes).filter(
  (row): row is [string, ProtectedRoute] => row[1].auth !== "none" && !endCallers.has(row[0]),
);

it.each(rows)("%s is for the credentials that the route table names", async (operation, route) => {
  // A caller without the right is rejected for a key or a member that exists.
  const existing =
    operation === "updateApiKey" ? keyId : people[operation] === undefined ? undefined : memberId;
  const hasBody = route.method !== "GET" && route.method !== "DELETE";
  const deviations: string[] = [];
  for (const caller of credentials) {
    const json = hasBody ? (bodies[operation] ?? {}) : undefined;
    const isPermitted = isAllowed(operation, route, caller);
    const path =
      isPermitted || existing === undefined ? pathOfNothing(route) : route.path.replace("{id}", existing);
    const response = await as(caller.secret, route.method, path, json);
    const { status } = response;
    const isDenied = status >= 400 && denials.has(errorOf(response).code);
    if (status >= 500 || isDenied === isPermitted)
      deviations.push(`${caller.name}: ${status} ${isDenied ? "denied" : "allowed"}`);
  }
  expect(deviations).toEqual([]);
});
