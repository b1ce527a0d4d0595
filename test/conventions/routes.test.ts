import { access, glob, readFile } from "node:fs/promises";

import { expect, it } from "vitest";
import * as z from "zod/mini";

import { routes } from "../../shared/routes.ts";
import type { Route } from "../../shared/routes/route.ts";

const rows = Object.entries<Route>(routes);

function handlerFile(operation: string, route: Route): string {
  const name = operation.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return `functions/${route.tag}/${name}.ts`;
}

it.each(rows)("%s has its handler where the table says", async (operation, route) => {
  await expect(access(handlerFile(operation, route))).resolves.toBeUndefined();
  expect(await readFile(handlerFile(operation, route), "utf8")).toMatch(
    new RegExp(`= ${route.auth === "none" ? "publicEndpoint" : "endpoint"}\\(\\s*routes\\.${operation},`),
  );
});

/** What changes something, and is not in the audit log: each is decided on by itself. */
const notAudited: readonly string[] = [
  // Each is in the audit log all the same, written by the deed itself: nobody is known before it.
  "register",
  "login",
  "verifyEmail",
  "acceptInvitation",
  "resetPassword",
  // It changes nothing, and must not take longer where there is somebody whose log it could be written into.
  "requestPasswordReset",
  // Messages are their own record, with the ledger beside them.
  "sendSms",
  "estimateSms",
  "cancelSms",
  "sendTemplate",
  // They change nothing of an endpoint, and are in its list of deliveries.
  "testWebhook",
  "retryWebhookDelivery",
  // The customer's own data; of persons, what nothing could be taken from again. The opt-out of its number stays.
  "deleteContact",
  // The carriers' own, about messages that say what they say.
  "postCarrierReport",
  "createTemplate",
  "updateTemplate",
  "deleteTemplate",
];

it("whatever changes something is audited, or is known not to be", () => {
  const changing = rows.filter(([, { method }]) => method !== "GET");
  const without = changing.filter(([, { audited }]) => audited === undefined).map(([operation]) => operation);
  expect(without.toSorted()).toEqual(notAudited.toSorted());
  expect(rows.filter(([, { method, audited }]) => method === "GET" && audited !== undefined)).toEqual([]);
});

it("the audit log keeps fields that an operation answers with, and none that is a secret", () => {
  for (const [operation, { method, audited = [], data }] of rows) {
    expect(audited.filter((field) => /secret|token|password|hash/i.test(field))).toEqual([]);
    // What is deleted is in the log as it was before.
    if (audited.length === 0 || method === "DELETE") continue;
    const answered = data instanceof z.ZodMiniObject ? Object.keys(data.shape) : [];
    expect(answered, operation).toEqual(expect.arrayContaining([...audited]));
  }
});

it("every handler belongs to a row, but for the fallback, the firewall and the workers", async () => {
  const expected = new Set(rows.map(([operation, route]) => handlerFile(operation, route)));
  const surplus: string[] = [];
  for await (const file of glob("functions/*/*.ts")) {
    if (!expected.has(file) && !/^functions\/(fallback|firewall|workers)\//.test(file)) surplus.push(file);
  }
  expect(surplus).toEqual([]);
});

it("no two rows answer the same method and path", () => {
  const places = rows.map(([, { method, path }]) => `${method} ${path}`);
  expect(new Set(places).size).toBe(places.length);
});

it("all but health, registration, login, what comes by email, the console, the documentation and the calls of carriers need a credential", () => {
  const open = rows.filter(([, { auth }]) => auth === "none").map(([operation]) => operation);
  expect(open).toEqual([
    "getHealth",
    "register",
    "login",
    "verifyEmail",
    "acceptInvitation",
    "requestPasswordReset",
    "resetPassword",
    "getAccountPage",
    // Each carrier has a token of its own.
    "getCarrierReport",
    "postCarrierReport",
    "getConsole",
    "getConsoleFile",
    "getRoot",
    "getOpenApi",
    "getDocs",
    "getDocsFile",
  ]);
});
