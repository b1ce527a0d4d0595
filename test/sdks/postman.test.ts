import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, expect, it } from "vitest";
import * as z from "zod/mini";

import { writePostmanCollection } from "../../infra/build/sdks/postman.ts";
import { openAccount, type Account } from "./account.ts";

const run = promisify(execFile);

/** Postman's own program for collections. */
const newman = "newman@6.2.2";

const Report = z.object({
  run: z.object({
    executions: z.array(
      z.object({ item: z.object({ name: z.string() }), response: z.object({ code: z.int() }) }),
    ),
  }),
});

let folder: string;
let account: Account;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "sms-gateway-postman-"));
  await writeFile(path.join(folder, "package.json"), `{ "private": true }`);
  await run("npm", ["install", "--no-audit", "--no-fund", newman], { cwd: folder });
  account = await openAccount();
});
afterAll(async () => {
  await account.receiver.stop();
  await rm(folder, { recursive: true });
});

it("the Postman collection sends, estimates and lists with the variables of the customer", async () => {
  const collection = await writePostmanCollection(folder);
  const variables = { baseUrl: account.env["SMS_GATEWAY_URL"], apiKey: account.env["SMS_GATEWAY_KEY"] };
  const given = Object.entries(variables).flatMap(([name, value]) => ["--env-var", `${name}=${value}`]);
  const reported = ["--reporters", "json", "--reporter-json-export", "report.json"];
  await run("node_modules/.bin/newman", ["run", collection, "--folder", "sms", ...given, ...reported], {
    cwd: folder,
  });
  const { executions } = Report.parse(
    JSON.parse(await readFile(path.join(folder, "report.json"), "utf8")),
  ).run;
  const statuses = new Map(executions.map(({ item, response }) => [item.name, response.code]));
  expect(statuses.get("Send a message: debit the wallet and queue it")).toBe(202);
  expect(statuses.get("Estimate the price of a message, without a charge")).toBe(200);
  expect(statuses.get("List messages, newest first; filter by status or number")).toBe(200);
});
