import { execFile } from "node:child_process";
import { copyFile, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { afterAll, beforeAll, expect, inject, it } from "vitest";

import { pythonPrograms } from "../../infra/python-programs.ts";
import { writeWheel } from "../../infra/sdks/wheel.ts";
import { Customer } from "../support/api.ts";
import { installPackages } from "../support/installed-packages.ts";
import { isNightly } from "../support/second-opinions.ts";

/*
 * The code of the guide to login systems runs as it is printed: with better-auth, and at night with Django. The account has a
 * test key, whose messages show the code.
 */

const run = promisify(execFile);

let folder = "";
let nodeFolder = "";
let env: NodeJS.ProcessEnv;
let customer: Customer;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "login-systems-"));
  ({ nodeFolder } = await installPackages(inject("baseUrl"), folder));
  const betterAuth = path.join(fileURLToPath(import.meta.resolve("better-auth")), "../..");
  await symlink(betterAuth, path.join(nodeFolder, "node_modules/better-auth"));
  customer = await Customer.register();
  const { secret } = await customer.client.createApiKey({ body: { test: true } });
  env = { ...process.env, SMS_GATEWAY_URL: inject("baseUrl"), SMS_GATEWAY_KEY: secret };
}, 120_000);
afterAll(async () => rm(folder, { recursive: true, force: true }));

/** Writes the first block of a language in the guide into a file. */
async function writeCode(language: string, file: string): Promise<void> {
  const markdown = await readFile("shared/pages/docs/guides/login-systems.md", "utf8");
  const [, code = ""] = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, "ms").exec(markdown) ?? [];
  expect(code).not.toBe("");
  await writeFile(file, code);
}

const betterAuthProgram = `
import { betterAuth } from "better-auth";
import { memoryAdapter } from "better-auth/adapters/memory";
import { createClient } from "sms-gateway";
import { phoneLogin } from "./phone-login.mts";

const auth = betterAuth({
  baseURL: "http://127.0.0.1:9",
  secret: "a secret that signs the sessions of this test",
  database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
  plugins: [phoneLogin],
});
const sms = createClient({ baseUrl: process.env.SMS_GATEWAY_URL, credential: process.env.SMS_GATEWAY_KEY });
const phoneNumber = "+15005550000";
await auth.api.sendPhoneNumberOTP({ body: { phoneNumber } });
const texts = [];
for await (const { message } of sms.listSms()) texts.push(message);
const [code] = /\\d{6}/.exec(texts[0]);
const verify = async (given) =>
  auth.api.verifyPhoneNumber({ body: { phoneNumber, code: given } }).then(
    ({ status }) => status,
    (error) => error.body.code,
  );
const wrong = code === "000000" ? "000001" : "000000";
console.log(JSON.stringify({ messages: texts.length, verified: [await verify(wrong), await verify(code), await verify(code)] }));
`;

it("better-auth lets the gateway make and check its codes", async () => {
  await writeCode("typescript", path.join(nodeFolder, "phone-login.mts"));
  await writeFile(path.join(nodeFolder, "main.mts"), betterAuthProgram);
  const { stdout } = await run(process.execPath, ["main.mts"], { cwd: nodeFolder, env });
  expect(JSON.parse(stdout)).toEqual({ messages: 1, verified: ["INVALID_OTP", true, "INVALID_OTP"] });
}, 60_000);

// Installing Django takes longer than the other tests of this folder.
it.runIf(isNightly)(
  "Django sends its own code",
  async () => {
    const programs = await pythonPrograms("test/system/django/requirements.txt");
    const python = path.join(programs, "python");
    await run(python, [
      "-m",
      "pip",
      "install",
      "--quiet",
      "--no-deps",
      "--force-reinstall",
      await writeWheel(folder),
    ]);
    await writeCode("python", path.join(folder, "sms.py"));
    await copyFile("test/system/django/program.py", path.join(folder, "program.py"));
    const { stdout } = await run(python, ["program.py"], { cwd: folder, env });
    expect(JSON.parse(stdout)).toEqual(["15005550007", true]);
  },
  300_000,
);
