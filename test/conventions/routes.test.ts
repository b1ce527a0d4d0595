import { access, glob, readFile } from "node:fs/promises";

import { expect, it } from "vitest";
import * as z from "zod/mini";

import { routes } from "../../shared/api/routes.ts";
import { statusOf, type TaggedRoute } from "../../shared/api/routes/route.ts";

const rows = Object.entries<TaggedRoute>(routes);

function handlerFile(operation: string, route: TaggedRoute): string {
  const name = operation.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return `functions/${route.tag}/${name}.ts`;
}

it.each(rows)("%s has its handler where the table names it", async (operation, route) => {
  await expect(access(handlerFile(operation, route))).resolves.toBeUndefined();
  expect(await readFile(handlerFile(operation, route), "utf8")).toMatch(
    new RegExp(
      `= ${route.auth === "none" ? "publicEndpoint" : "endpoint"}\\(\\s*(\\{ \\.\\.\\.)?routes\\.${operation},`,
    ),
  );
});

/** Operations that change data and are not in the audit log; each needs its own reason. */
const notAudited: readonly string[] = [
  // Each writes its audit event itself, because its caller is not known before it.
  "register",
  "login",
  "createSession",
  "verifyEmail",
  "acceptInvitation",
  "resetPassword",
  // It changes nothing, and must not take longer for an email that has an organization with a log.
  "requestPasswordReset",
  // Messages and the ledger are their own record.
  "sendBatch",
  "sendSms",
  "estimateBatch",
  "estimateSms",
  "cancelSms",
  "sendTemplate",
  "testInbound",
  "startVerification",
  "checkVerification",
  "resendVerification",
  "reportVerification",
  "cancelVerification",
  // They do not change an endpoint, and are in its list of deliveries.
  "testWebhook",
  "retryWebhookDelivery",
  // The customer's own data, and personal data that the log could never delete. The opt-out of its number stays.
  "deleteContact",
  // The message records the reply. Whether a conversation is read is no right and no money.
  "replyToConversation",
  "updateConversation",
  // The verification records the call.
  "callHook",
  // Calls of carriers, which the messages record.
  "postCarrierCallback",
  // It calls other operations, which are audited themselves.
  "callMcp",
  // Events of the payment provider, which the payments record.
  "receivePaymentEvent",
  "createTemplate",
  "updateTemplate",
  "deleteTemplate",
];

it("each operation that changes data is audited, or listed as an exception", () => {
  const changing = rows.filter(([, { method }]) => method !== "GET");
  const without = changing.filter(([, { audited }]) => audited === undefined).map(([operation]) => operation);
  expect(without.toSorted()).toEqual(notAudited.toSorted());
  expect(rows.filter(([, { method, audited }]) => method === "GET" && audited !== undefined)).toEqual([]);
});

it("the audit log keeps fields that an operation returns, and no secrets", () => {
  for (const [operation, { method, audited = [], data }] of rows) {
    expect(audited.filter((field) => /secret|token|password|hash/i.test(field))).toEqual([]);
    // A deleted item is in the log with its last content.
    if (audited.length === 0 || method === "DELETE") continue;
    const answered = data instanceof z.ZodMiniObject ? Object.keys(data.shape) : [];
    expect(answered, operation).toEqual(expect.arrayContaining([...audited]));
  }
});

it("a POST that creates something keeps an Idempotency-Key, or has a secret in its response and rejects it", () => {
  const creating = rows.filter(
    ([, route]) => route.method === "POST" && route.internal !== true && statusOf(route) !== 200,
  );
  const without = creating.filter(
    ([, { idempotent, rejectsIdempotencyKey }]) => (idempotent === true) === (rejectsIdempotencyKey === true),
  );
  // Each sends an email, and creates nothing.
  expect(without.map(([operation]) => operation)).toEqual([
    "requestEmailVerification",
    "requestPasswordReset",
  ]);
  for (const [operation, { data }] of rows.filter(([, { idempotent }]) => idempotent === true)) {
    const names = data instanceof z.ZodMiniObject ? Object.keys(data.shape) : [];
    expect(
      names.filter((name) => /secret|token|password|^key$/i.test(name)),
      operation,
    ).toEqual([]);
  }
});

it("every handler belongs to a row, except the fallback, the firewall and the workers", async () => {
  const expected = new Set(rows.map(([operation, route]) => handlerFile(operation, route)));
  const surplus: string[] = [];
  for await (const file of glob("functions/*/*.ts")) {
    if (!expected.has(file) && !/^functions\/(fallback|firewall|workers)\//.test(file)) surplus.push(file);
  }
  expect(surplus).toEqual([]);
});

it("no two rows have the same method and path", () => {
  const places = rows.map(([, { method, path }]) => `${method} ${path}`);
  expect(new Set(places).size).toBe(places.length);
});

it("only health, registration, login, links in emails, the console, the documentation, hooks, carriers and the payment provider need no credential", () => {
  const open = rows.filter(([, { auth }]) => auth === "none").map(([operation]) => operation);
  expect(open).toEqual([
    "getHealth",
    "register",
    "login",
    // It accepts requests of the console only.
    "createSession",
    "verifyEmail",
    "acceptInvitation",
    "requestPasswordReset",
    "resetPassword",
    "getAccountPage",
    // The provider signs its events.
    "receivePaymentEvent",
    // Each hook has a token or a secret of its own.
    "callHook",
    // Each carrier has a token of its own.
    "getCarrierCallback",
    "postCarrierCallback",
    "getRoot",
    "getBrandFile",
    "getConsole",
    "getConsoleFile",
    "getOpenApi",
    "getOpenApiYaml",
    "getLlms",
    "getDocs",
    "getDocsPage",
  ]);
});
