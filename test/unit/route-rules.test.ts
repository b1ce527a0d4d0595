import type { Context } from "aws-lambda";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { kebabCase } from "../../infra/stack/constructs/names.ts";
import { authentication, type Caller } from "../../shared/accounts/callers/authenticate.ts";
import { allScopes, scopesOfRole } from "../../shared/api/contract/scopes.ts";
import { routes } from "../../shared/api/routes.ts";
import type { ProtectedRoute, TaggedRoute } from "../../shared/api/routes/route.ts";
import type { Actor } from "../../shared/platform/auth/actor.ts";
import type { LambdaHandler } from "../../shared/platform/http/pipeline.ts";
import { log } from "../../shared/platform/log.ts";
import { eventFor, requestOf } from "../support/events.ts";

/*
 * The rules of each row of the route table, in the handler of the row. Callers come from this test instead of the table.
 * `test/endpoints/protected-routes.test.ts` sends real credentials to three routes.
 */

const found = vi.hoisted(() => ({ caller: {} as unknown }));
vi.mock("../../shared/accounts/callers/api-key-caller.ts", () => ({ callerOfApiKey: () => found.caller }));
vi.mock("../../shared/accounts/callers/session-caller.ts", () => ({ callerOfSession: () => found.caller }));
vi.mock("../../shared/platform/http/request-rate.ts", async (original) => ({
  ...(await original<object>()),
  countRequest: () => undefined,
}));

type Credential = Partial<Extract<Actor["credential"], { readonly type: "apiKey" }>>;

function apiKey(credential: Credential = {}, scopes: Actor["scopes"] = allScopes): Caller["actor"] {
  return {
    organizationId: "org_1",
    userId: "usr_1",
    credential: { type: "apiKey", keyId: "key_1", ...credential },
    scopes,
  };
}

interface Loaded {
  readonly handler: LambdaHandler;
}

/** Sends a request to the handler of a route, whose rules reject it. */
async function rejection(operation: string, route: TaggedRoute, actor?: Caller["actor"]): Promise<object> {
  found.caller = { actor, organization: { organizationId: "org_1" } };
  const loaded: unknown = await import(`../../functions/${route.tag}/${kebabCase(operation)}.ts`);
  // Each file of a handler exports it under this name.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { handler } = loaded as Loaded;
  const event = eventFor(route, actor === undefined ? {} : { authorization: "Bearer nn_key" });
  // The handlers do not read the context.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { statusCode, headers, body = "" } = await handler(event, {} as Context);
  const error: unknown = JSON.parse(body);
  return { status: statusCode, scheme: headers?.["WWW-Authenticate"], ...Object(Object(error).error) };
}

beforeEach(() => {
  vi.stubEnv("API_URL", "https://api.example.com");
  vi.spyOn(log, "info").mockReturnValue();
  vi.spyOn(log, "warn").mockReturnValue();
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const rows = Object.entries<TaggedRoute>(routes).filter(
  (row): row is [string, ProtectedRoute & TaggedRoute] => row[1].auth !== "none",
);

describe.each(rows)("%s", (operation, route) => {
  it("rejects a request without a credential, and names the scheme", async () => {
    const expected = { status: 401, scheme: "Bearer", code: "UNAUTHORIZED" };
    expect(await rejection(operation, route)).toMatchObject(expected);
  });

  it("rejects an API key with all scopes but its own, and names the missing one", async () => {
    const { scope } = route;
    const others = allScopes.filter((each) => each !== scope);
    const words = scope === undefined ? "Only a person who is logged in" : `needs the scope \`${scope}\``;
    expect(await rejection(operation, route, apiKey({}, others))).toMatchObject({
      status: 403,
      code: "INSUFFICIENT_SCOPE",
      scheme: `Bearer error="insufficient_scope"${scope === undefined ? "" : `, scope="${scope}"`}`,
      message: expect.stringContaining(words) as unknown,
    });
  });

  it("accepts an API key with its scope only, or a session where it is for people", async () => {
    const session = { type: "session", sessionId: "ses_1", provenAt: new Date().toISOString() } as const;
    found.caller = {
      actor:
        route.auth === "session"
          ? { ...apiKey(), credential: session }
          : apiKey({ ...(route.testKeys === true && { test: true }) }, [route.scope]),
      organization: { organizationId: "org_1" },
    };
    const event = eventFor(route, { authorization: "Bearer nn_key" });
    await expect(authentication(route).before?.(requestOf(event))).resolves.toBeUndefined();
    expect(event).toHaveProperty("actor.organizationId", "org_1");
  });
});

it.each(rows.filter(([, { testKeys }]) => testKeys !== true))(
  "%s rejects a test key",
  async (operation, route) => {
    const expected = { status: 403, code: "TEST_KEY_NOT_ALLOWED" };
    expect(await rejection(operation, route, apiKey({ test: true }))).toMatchObject(expected);
  },
);

// A new operation is closed for keys with limits until its row opens it.
it.each(rows.filter(([, { method, limitedKeys }]) => method !== "GET" && limitedKeys !== true))(
  "%s rejects a key with limits",
  async (operation, route) => {
    const expected = { status: 403, code: "INSUFFICIENT_SCOPE" };
    const limits = { budgetKeyId: "key_1", dailyBudget: 1 };
    expect(await rejection(operation, route, apiKey({ limits }))).toMatchObject(expected);
  },
);

it("a session without the second factor that its organization requires only sets one up, and ends sessions", async () => {
  const session = { type: "session", sessionId: "ses_1", provenAt: new Date().toISOString() } as const;
  const allowed: string[] = [];
  for (const [operation, route] of rows) {
    const actor = { ...apiKey(), credential: session };
    found.caller = { actor, organization: { organizationId: "org_1" }, lacksSecondFactor: true };
    const request = requestOf(eventFor(route, { authorization: "Bearer nn_key" }));
    const rejected = Promise.resolve(authentication(route).before?.(request));
    const code = await rejected.catch((error: unknown) => Object(error).code);
    if (code !== "SECOND_FACTOR_NOT_SET_UP") allowed.push(operation);
  }
  expect(allowed.toSorted()).toEqual([
    "confirmTotp",
    "deleteSession",
    "getMe",
    "listSessions",
    "logout",
    "logoutEverywhere",
    "reauthenticate",
    "startTotp",
  ]);
});

it("a sender changes only messages, verifications, contacts, templates, campaigns and sender IDs, with a session or a key", async () => {
  const allowed: string[] = [];
  for (const [operation, route] of rows) {
    // The members' use cases check the role themselves, and the rest of these routes is about the person's own account.
    if (route.auth === "session") continue;
    const caller = apiKey({}, scopesOfRole.sender);
    if (route.scope === "read" || scopesOfRole.sender.includes(route.scope)) {
      if (route.method !== "GET") allowed.push(operation);
      continue;
    }
    const expected = { status: 403, code: "INSUFFICIENT_SCOPE" };
    expect(await rejection(operation, route, caller), operation).toMatchObject(expected);
  }
  expect(allowed.toSorted()).toEqual([
    "callMcp",
    "cancelCampaign",
    "cancelSms",
    "cancelVerification",
    "checkVerification",
    "createCampaign",
    "createContact",
    "createOptOut",
    "createSenderId",
    "createTemplate",
    "decideHeldMessage",
    "deleteCampaign",
    "deleteContact",
    "deleteOptOut",
    "deleteTemplate",
    "estimateBatch",
    "estimateSms",
    "importContacts",
    "launchCampaign",
    "pauseCampaign",
    "replyToConversation",
    "reportVerification",
    "resendVerification",
    "resumeCampaign",
    "sendBatch",
    "sendSms",
    "sendTemplate",
    "setDefaultSenderId",
    "startVerification",
    "testInbound",
    "updateCampaign",
    "updateContact",
    "updateConversation",
    "updateTemplate",
  ]);
});
