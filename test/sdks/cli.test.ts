import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, expect, it, vi } from "vitest";

import { packNpmPackage } from "../../infra/build/sdks/npm.ts";
import { verifyWebhook } from "../../shared/api/client/verify-webhook.ts";
import { patience } from "../support/patience.ts";
import { startWebhookReceiver } from "../support/webhook-receiver.ts";
import { openAccount, type Account } from "./account.ts";

const run = promisify(execFile);

let folder: string;
let account: Account;
let command: string;
const running: ChildProcess[] = [];
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "sms-gateway-cli-"));
  await writeFile(path.join(folder, "package.json"), `{ "private": true }`);
  await run("npm", ["install", "--no-audit", "--no-fund", await packNpmPackage(folder)], { cwd: folder });
  command = path.join(folder, "node_modules/.bin/sms-gateway");
  account = await openAccount();
});
afterAll(async () => {
  for (const each of running) each.kill("SIGKILL");
  await account.receiver.stop();
  await rm(folder, { recursive: true });
});

const env = (): NodeJS.ProcessEnv => ({ ...process.env, ...account.env, HOME: folder });
const send = async (): Promise<string> => {
  const message = ["--to", "15005550000", "--message", "Hello", "--sender-id", "ACME"];
  return (await run(command, ["send", ...message], { env: env() })).stdout.trim();
};

/** Starts `listen`, and collects what it prints. */
function listen(url: string, ...options: readonly string[]): { program: ChildProcess; output: () => string } {
  const program = spawn(command, ["listen", "--forward", url, ...options], { env: env() });
  running.push(program);
  let printed = "";
  program.stdout.on("data", (part: Buffer) => (printed += part.toString()));
  program.stderr.on("data", (part: Buffer) => (printed += part.toString()));
  return { program, output: () => printed };
}

async function waitForOutput(output: () => string, pattern: RegExp): Promise<RegExpMatchArray> {
  return vi.waitFor(() => {
    const found = pattern.exec(output());
    if (found === null) throw new Error(`it printed ${output()}`);
    return found;
  }, patience);
}

it("forwards signed webhook calls to a local server, also those from before a restart, and stops", async () => {
  // The connection of the third call is lost, as while the server starts again.
  const local = await startWebhookReceiver((call) =>
    call === 3 ? (response) => void response.destroy() : 204,
  );
  const first = listen(local.url, "--show-secret");
  const [, secret = ""] = await waitForOutput(first.output, /The secret is (\S+)/);
  const ids = [await send(), await send()];
  await waitForOutput(first.output, /(message\.sent \S+: 204\s+){2}/);
  first.program.kill("SIGKILL");
  await once(first.program, "close");

  ids.push(await send());
  const second = listen(local.url);
  ids.push(await send());
  await waitForOutput(second.output, /no response/);
  await waitForOutput(second.output, /(message\.sent \S+: 204\s+){2}/);
  second.program.kill("SIGKILL");

  expect(second.output()).not.toContain("whsec_");
  const accepted = local.calls.filter((_, index) => index !== 2);
  const events = await Promise.all(
    accepted.map(async ({ body, headers }) =>
      verifyWebhook({ payload: body, headers, secret, toleranceSeconds: 300 }),
    ),
  );
  // A crash between a call and its record may repeat the call.
  expect(new Set(events.map((event) => JSON.stringify(event))).size).toBe(4);
  expect(new Set(accepted.map(({ body }) => JSON.parse(body).data.id))).toEqual(new Set(ids));
  expect(accepted.length).toBeLessThanOrEqual(5);

  const before = (await account.customer.client.listWebhooks()).rows;
  expect(before.map(({ status }) => status).toSorted()).toEqual(["disabled", "enabled"]);
  await run(command, ["listen", "--stop"], { env: env() });
  expect((await account.customer.client.listWebhooks()).rows).toHaveLength(1);
  await local.stop();
});

it("explains its use, and reports errors of the gateway", async () => {
  await expect(run(command, ["dance"], { env: env() })).rejects.toThrow("Usage: sms-gateway send");
  const nobody = run(command, ["send", "--to", "nobody", "--message", "Hello"], { env: env() });
  await expect(nobody).rejects.toThrow(
    /VALIDATION_ERROR: The request is not valid. to: .*\nRequest ID: \S+\nhttp/,
  );
  expect((await run(command, ["send", "--help"], { env: {} })).stdout).toContain("Usage: sms-gateway send");
  const mistyped = run(command, ["send", "--too", "1"], { env: env() }).catch((error: unknown) => error);
  expect(String(await mistyped)).toMatch(/Unknown option '--too'/);
  expect(String(await mistyped)).not.toMatch(/\n\s+at /);
});

it("prints no credential that it cannot use", async () => {
  const [url, key] = ["https://ada:nn_secret@sms.example.com", "nn_secret\u201d"];
  for (const wrong of [{ SMS_GATEWAY_KEY: key }, { SMS_GATEWAY_URL: url }]) {
    const sent = run(command, ["send", "--to", "1", "--message", "x"], { env: { ...env(), ...wrong } });
    const printed = String(await sent.catch((error: unknown) => error));
    expect(printed).toContain(`${Object.keys(wrong)[0]} must`);
    expect(printed).not.toContain("nn_secret");
  }
});
