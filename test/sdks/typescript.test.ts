import { execFile } from "node:child_process";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod/mini";

import { packNpmPackage } from "../../infra/build/sdks/npm.ts";
import { firstCall, openAccount, runProgram, type Account } from "./account.ts";

const run = promisify(execFile);

/*
 * The oldest version of Node that the package supports, and other runtimes, as packages of npm. Those of this platform need no
 * scripts, which npm may be set to ignore.
 */
const nodePackage = `node-${process.platform}-${process.arch}`;
const bunPackage = `@oven/bun-${process.platform}-${process.arch === "arm64" ? "aarch64" : process.arch}`;
const runtimes = [`${nodePackage}@20.9.0`, "deno@2.9.6", `${bunPackage}@1.4.5`];

let folder: string;
let account: Account;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "sms-gateway-npm-"));
  await writeFile(path.join(folder, "package.json"), `{ "private": true }`);
  await run("npm", ["install", "--no-audit", "--no-fund", await packNpmPackage(folder), ...runtimes], {
    cwd: folder,
  });
  await copyFile(path.join(import.meta.dirname, "typescript/program.mjs"), path.join(folder, "program.mjs"));
  account = await openAccount();
});
afterAll(async () => {
  await account.receiver.stop();
  await rm(folder, { recursive: true });
});

const Sent = z.object({ id: z.string(), read: z.string(), listed: z.array(z.string()) });

/** How each runtime runs a program. */
const commands: Readonly<Record<string, readonly string[]>> = {
  "this Node": [process.execPath],
  "Node 20": [`node_modules/${nodePackage}/bin/node`],
  Deno: ["node_modules/.bin/deno", "run", "--allow-net"],
  Bun: [`node_modules/${bunPackage}/bin/bun`],
};

describe.each(Object.entries(commands))("the TypeScript SDK in %s", (_, runtime) => {
  const program = async (command: string, input: object): Promise<unknown> => {
    const [url, key] = [account.env["SMS_GATEWAY_URL"], account.env["SMS_GATEWAY_KEY"]];
    const argument = JSON.stringify({ command, url, key, ...input });
    return runProgram([...runtime, "program.mjs", argument], {}, {}, folder);
  };

  it("sends, reads and lists, and throws errors with their code", async () => {
    const before = (await account.customer.client.listSms()).meta.total;
    const result = await program("send", {});
    expect(result).toMatchObject({
      id: expect.stringMatching(/^msg_/),
      page: [1, before + 2],
      error: [400, "VALIDATION_ERROR", "to"],
    });
    const { id, read, listed } = Sent.parse(result);
    expect(read).toBe(id);
    expect(listed).toHaveLength(before + 2);
    expect(listed).toContain(id);
  });

  it("verifies a webhook call, and rejects a changed one", async () => {
    const call = await firstCall(account);
    expect(await program("verify", call)).toEqual(JSON.parse(call.payload));
    const changed = program("verify", { ...call, payload: `${call.payload} ` });
    await expect(changed).rejects.toThrow("WebhookVerificationError");
  });
});
