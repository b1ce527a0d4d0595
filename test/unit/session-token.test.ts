import { once } from "node:events";
import { createServer } from "node:http";

import { SignJWT } from "jose";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";

import { listenOnLoopback } from "../../infra/local/loopback.ts";
import { issueSessionToken, verifySessionToken } from "../../shared/platform/auth/session-token.ts";
import { environmentNames } from "../../shared/platform/config.ts";

const subject = {
  userId: "usr_01J00000000000000000000000",
  organizationId: "org_01J00000000000000000000000",
};
const key = "k".repeat(64);

// A Secrets Manager of a few lines, that holds the one secret.
const secrets = createServer((_request, response) => response.end(JSON.stringify({ SecretString: key })));

beforeAll(async () => {
  const port = await listenOnLoopback(secrets);
  process.env["AWS_ENDPOINT_URL_SECRETS_MANAGER"] = `http://127.0.0.1:${port}`;
  process.env[environmentNames.sessionKeySecretId] = "session-key";
});
afterAll(async () => {
  secrets.close();
  secrets.closeAllConnections();
  await once(secrets, "close");
});
afterEach(() => {
  vi.useRealTimers();
});

/** A token like ours but for what the test changes, signed with our key. */
function token(changes: {
  issuer?: string;
  audience?: string;
  type?: string;
  expires?: string | number;
  organizationId?: string;
  key?: string;
}): Promise<string> {
  return new SignJWT({ org: changes.organizationId ?? subject.organizationId })
    .setProtectedHeader({ alg: "HS256", typ: changes.type ?? "JWT" })
    .setSubject(subject.userId)
    .setIssuer(changes.issuer ?? "sms-gateway")
    .setAudience(changes.audience ?? "sms-gateway-api")
    .setExpirationTime(changes.expires ?? "1h")
    .sign(new TextEncoder().encode(changes.key ?? key));
}

it("a token names the user and organisation that it was issued for", async () => {
  const { token: issued } = await issueSessionToken(subject);
  expect(await verifySessionToken(issued)).toEqual(subject);
  expect(await verifySessionToken(await token({}))).toEqual(subject);
});

it.each([
  ["another issuer", { issuer: "someone" }],
  ["another audience", { audience: "another-api" }],
  ["another type", { type: "at+jwt" }],
  ["another key", { key: "x".repeat(64) }],
  ["no organisation of ours", { organizationId: "acme" }],
  ["a time that is over", { expires: Math.floor(Date.now() / 1_000) - 1 }],
])("a token with %s is refused", async (_name, changes) => {
  expect(await verifySessionToken(await token(changes))).toBeUndefined();
});

it("a token ends after an hour", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-03-01T12:00:00Z") });
  const { token: issued, expiresAt } = await issueSessionToken(subject);
  expect(expiresAt).toEqual(new Date("2026-03-01T13:00:00Z"));
  vi.setSystemTime(new Date("2026-03-01T12:59:59Z"));
  expect(await verifySessionToken(issued)).toEqual(subject);
  vi.setSystemTime(new Date("2026-03-01T13:00:00Z"));
  expect(await verifySessionToken(issued)).toBeUndefined();
});
