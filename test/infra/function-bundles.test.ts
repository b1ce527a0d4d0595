import { readdir, readFile, stat } from "node:fs/promises";

import { expect, it } from "vitest";

import { bundleFolder } from "../../infra/build/bundle-folder.ts";
import { Access, tableActions } from "../../infra/stack/access.ts";
import { kebabCase } from "../../infra/stack/constructs/names.ts";
import { workers } from "../../infra/stack/workers.ts";
import { fallbackRoute, operations } from "../../shared/api/routes.ts";

/*
 * The content of the bundles that are deployed.
 */

/** The text in a bundle that shows the client of a service. */
const clients = {
  table: 'id:"DYNAMODB"',
  queues: 'id:"SQS"',
  sessionKey: 'id:"KMS"',
  secrets: 'id:"SECRETS_MANAGER"',
  email: 'id:"SESV2"',
  documents: 'id:"S3"',
};

/** Whether permissions are for each client. */
const needs: Readonly<Record<keyof typeof clients, (access: Access) => boolean>> = {
  table: (access) => tableActions.some((action) => access.familiesOf(action).length > 0),
  queues: ({ queues }) => queues.length > 0,
  sessionKey: (access) => access.may("checkSessions") || access.may("startSessions"),
  secrets: (access) =>
    (
      [
        "webhookKey",
        "callbackSecrets",
        "carrier",
        "secondFactorKey",
        "verificationKey",
        "paymentProvider",
      ] as const
    ).some((each) => access.may(each)),
  email: (access) => access.may("email"),
  documents: (access) => access.may("readDocuments") || access.may("writeDocuments"),
};

const functions = [
  ...operations().map(
    ([operation, route]) => [`${route.tag}/${kebabCase(operation)}`, new Access(operation, route)] as const,
  ),
  ...Object.keys(workers).map((name) => [`workers/${kebabCase(name)}`, new Access(name)] as const),
  ["fallback/not-found", new Access("notFound", fallbackRoute)] as const,
];

it.each(functions)(
  "%s carries the clients that its permissions are for, and no other",
  async (name, access) => {
    const bundle = (await modulesOf(name)).join("");
    const carried = Object.entries(clients).filter(([, mark]) => bundle.includes(mark));
    const needed = Object.entries(needs).filter(([, isNeeded]) => isNeeded(access));
    expect(carried.map(([client]) => client)).toEqual(needed.map(([client]) => client));
  },
);

/** Returns the files of a function's bundle: `index.mjs`, and the files that it loads later. */
async function modulesOf(name: string): Promise<string[]> {
  const files = (await readdir(bundleFolder(name))).filter((file) => file.endsWith(".mjs"));
  return Promise.all(files.map(async (file) => readFile(`${bundleFolder(name)}/${file}`, "utf8")));
}

it.each(functions)("%s loads less than 300 kB", async (name) => {
  expect((await stat(`${bundleFolder(name)}/index.mjs`)).size).toBeLessThan(300_000);
});

it.each(functions)("%s loads no HTTP client of Node until it needs one", async (name) => {
  const index = await readFile(`${bundleFolder(name)}/index.mjs`, "utf8");
  expect(index).not.toMatch(/\bfrom ?"(node:)?https?"/);
});

it("the health check includes neither the table nor the sessions nor a schema", async () => {
  // A schema adds 75 kB of zod, the table 15 kB of clients.
  expect((await stat(`${bundleFolder("health/get-health")}/index.mjs`)).size).toBeLessThan(25_700);
});

it("a function that lets customers in loads the client of KMS only for a session", async () => {
  const index = await readFile(`${bundleFolder("sms/send-sms")}/index.mjs`, "utf8");
  expect(index.includes(clients.sessionKey)).toBe(false);
  expect(index.includes('import("./shared__platform__auth__key-service.mjs")')).toBe(true);
});
