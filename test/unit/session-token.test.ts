import { createPublicKey, generateKeyPairSync, sign, type KeyObject } from "node:crypto";

import { decodeProtectedHeader, SignJWT, UnsecuredJWT } from "jose";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { joinedSignature } from "../../shared/platform/auth/session-key.ts";
import { issueSessionToken, verifySessionToken } from "../../shared/platform/auth/session-token.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { startHttpServer } from "../support/http-server.ts";

const subject = {
  userId: "usr_01J00000000000000000000000",
  organizationId: "org_01J00000000000000000000000",
};
const sessionId = "ses_01J00000000000000000000000";
const keyId = "6f6a3d5e-0b1c-4a55-9f0e-1f3a0d7f7f10";
const key = newKey();
const publicKey = createPublicKey(key);
const hourSeconds = 3_600;

function newKey(): KeyObject {
  return generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
}

const nextKeyId = "0c4f2a8e-7d51-4b0f-8a53-5d2f8a6c9e21";
const keys: Readonly<Record<string, KeyObject>> = { [keyId]: key, [nextKeyId]: newKey() };

const ToKms = z.object({ KeyId: z.enum([keyId, nextKeyId]), Message: z._default(z.string(), "") });

// A KMS of a few lines, that holds two keys.
const kms = await startHttpServer(({ headers, body }, response) => {
  const { KeyId, Message } = ToKms.parse(JSON.parse(body));
  const named = keys[KeyId] ?? key;
  const publicHalf = createPublicKey(named).export({ format: "der", type: "spki" });
  const answer =
    headers["x-amz-target"] === "TrentService.Sign"
      ? { Signature: sign("sha256", Buffer.from(Message, "base64"), named).toString("base64") }
      : { PublicKey: publicHalf.toString("base64") };
  response.end(JSON.stringify(answer));
});

beforeAll(() => {
  process.env["AWS_ENDPOINT_URL_KMS"] = kms.url;
  process.env[environmentNames.sessionKeyId] = keyId;
});
afterAll(async () => {
  await kms.stop();
  // Other test files run in this process.
  delete process.env["AWS_ENDPOINT_URL_KMS"];
  delete process.env[environmentNames.sessionKeyId];
});
afterEach(() => {
  vi.useRealTimers();
});

interface Changes {
  readonly issuer?: string;
  readonly audience?: string;
  readonly type?: string;
  /** In seconds from now. */
  readonly issued?: number;
  readonly expires?: number;
  readonly organizationId?: string;
  readonly sessionId?: string;
  readonly algorithm?: string;
  readonly keyId?: string;
  readonly key?: KeyObject | Uint8Array;
}

/** A token like ours, except for the test's changes. */
async function token(changes: Changes): Promise<string> {
  const nowSeconds = Math.floor(Date.now() / 1_000);
  return new SignJWT({ org: changes.organizationId ?? subject.organizationId })
    .setProtectedHeader({
      alg: changes.algorithm ?? "ES256",
      typ: changes.type ?? "JWT",
      kid: changes.keyId ?? keyId,
    })
    .setSubject(subject.userId)
    .setJti(changes.sessionId ?? sessionId)
    .setIssuer(changes.issuer ?? "sms-gateway")
    .setAudience(changes.audience ?? "sms-gateway-api")
    .setIssuedAt(nowSeconds + (changes.issued ?? 0))
    .setExpirationTime(nowSeconds + (changes.expires ?? hourSeconds))
    .sign(changes.key ?? key);
}

it("a token names its user, organization, session and key", async () => {
  const { token: issued } = await issueSessionToken(subject);
  expect(await verifySessionToken(issued)).toMatchObject(subject);
  expect(decodeProtectedHeader(issued)).toEqual({ alg: "ES256", typ: "JWT", kid: keyId });
  expect(await verifySessionToken(await token({}))).toMatchObject({ ...subject, sessionId });
});

it("a new key signs once all functions know it, and no session ends until the key before is removed", async () => {
  const { token: ofFirst } = await issueSessionToken(subject);
  const useKeys = (...ids: readonly string[]): void =>
    void vi.stubEnv(environmentNames.sessionKeyId, ids.join(","));
  useKeys(keyId, nextKeyId);
  expect(decodeProtectedHeader((await issueSessionToken(subject)).token).kid).toBe(keyId);
  useKeys(nextKeyId, keyId);
  const { token: ofNext } = await issueSessionToken(subject);
  expect(decodeProtectedHeader(ofNext).kid).toBe(nextKeyId);
  for (const each of [ofFirst, ofNext]) expect(await verifySessionToken(each)).toMatchObject(subject);
  // A token that names one key and is signed by the other one is forged.
  expect(await verifySessionToken(await token({ keyId: nextKeyId }))).toBeUndefined();
  useKeys(nextKeyId);
  expect(await verifySessionToken(ofFirst)).toBeUndefined();
  expect(await verifySessionToken(ofNext)).toMatchObject(subject);
  vi.unstubAllEnvs();
});

it("each session has an id of its own", async () => {
  const [one, other] = await Promise.all([issueSessionToken(subject), issueSessionToken(subject)]);
  const sessions = await Promise.all(
    [one, other].map(async ({ token: issued }) => verifySessionToken(issued)),
  );
  expect(sessions).toEqual([0, 1].map(() => expect.objectContaining({ sessionId: expect.any(String) })));
  expect(new Set(sessions.map((session) => Object(session).sessionId)).size).toBe(2);
});

it.each<[string, Changes]>([
  ["another issuer", { issuer: "someone" }],
  ["another audience", { audience: "another-api" }],
  ["another type", { type: "at+jwt" }],
  ["another key", { key: newKey() }],
  ["another key's id", { keyId: "0d5d9f0b-6d2a-4d3f-8d4c-2b6f5f3d9c11" }],
  [
    "a MAC that is made with the public key",
    { algorithm: "HS256", key: publicKey.export({ format: "der", type: "spki" }) },
  ],
  [
    "a MAC that is made with the public key as text",
    { algorithm: "HS256", key: Buffer.from(publicKey.export({ format: "pem", type: "spki" })) },
  ],
  ["an invalid organization", { organizationId: "acme" }],
  ["no session of ours", { sessionId: "1" }],
  ["a hundred years to go", { expires: 100 * 365 * 24 * hourSeconds }],
  ["a second more than an hour to go", { expires: hourSeconds + 1 }],
  [
    "an hour that begins in a hundred years",
    { issued: 100 * 365 * 24 * hourSeconds, expires: 100 * 365 * 24 * hourSeconds + hourSeconds },
  ],
])("a token with %s is rejected", async (_name, changes) => {
  expect(await verifySessionToken(await token(changes))).toBeUndefined();
});

it("a token without a signature is rejected", async () => {
  const claims = new UnsecuredJWT({ org: subject.organizationId })
    .setSubject(subject.userId)
    .setJti(sessionId)
    .setIssuer("sms-gateway")
    .setAudience("sms-gateway-api")
    .setIssuedAt()
    .setExpirationTime("1h")
    .encode();
  expect(await verifySessionToken(claims)).toBeUndefined();
});

it("a token ends after an hour", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-03-01T12:00:00Z") });
  const { token: issued, expiresAt } = await issueSessionToken(subject);
  expect(expiresAt).toEqual(new Date("2026-03-01T13:00:00Z"));
  vi.setSystemTime(new Date("2026-03-01T12:59:59Z"));
  expect(await verifySessionToken(issued)).toMatchObject(subject);
  vi.setSystemTime(new Date("2026-03-01T13:00:00Z"));
  expect(await verifySessionToken(issued)).toBe("expired");
  expect(await verifySessionToken(await token({ issued: -60, expires: -1 }))).toBe("expired");
  // The expiry of a foreign token does not matter.
  expect(await verifySessionToken(await token({ key: newKey(), issued: -60, expires: -1 }))).toBeUndefined();
});

it("a token has its time of issue to the millisecond", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-03-01T12:00:00.789Z") });
  const { token: issued } = await issueSessionToken(subject);
  expect(await verifySessionToken(issued)).toMatchObject({ issuedAt: new Date("2026-03-01T12:00:00.789Z") });
});

describe("a signature of KMS", () => {
  /** An integer in DER. */
  function integer(...bytes: number[]): number[] {
    return [0x02, bytes.length, ...bytes];
  }

  function signature(...integers: number[][]): Uint8Array {
    const content = integers.flat();
    return Uint8Array.of(0x30, content.length, ...content);
  }

  const full = Array.from({ length: 32 }, (_, index) => 0x80 + index);

  it.each([
    [
      "numbers with a zero in front, which keeps them positive",
      signature(integer(0, ...full), integer(0, ...full)),
      [...full, ...full],
    ],
    [
      "short numbers",
      signature(integer(1), integer(2, 3)),
      [...Array<number>(31).fill(0), 1, ...Array<number>(30).fill(0), 2, 3],
    ],
    [
      "a short and a long one",
      signature(integer(5), integer(0, ...full)),
      [...Array<number>(31).fill(0), 5, ...full],
    ],
  ])("has its two numbers side by side: %s", (_name, der, joined) => {
    expect([...joinedSignature(der)]).toEqual(joined);
  });
});
