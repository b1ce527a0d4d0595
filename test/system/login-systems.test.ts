import { execFile } from "node:child_process";
import { copyFile, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Script } from "node:vm";

import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

import { pythonPrograms } from "../../infra/build/python-programs.ts";
import { writeWheel } from "../../infra/build/sdks/wheel.ts";
import { Customer } from "../support/api.ts";
import { installPackages } from "../support/installed-packages.ts";
import { isNightly } from "../support/second-opinions.ts";

/*
 * The code of the guide to login systems runs as it is printed: the actions of Auth0 and better-auth. At night, Django and the
 * template of Kratos run, too. The account has a test key, whose messages show the code.
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
  customer = await (await Customer.register()).withApiKey({ test: true });
  env = { ...process.env, SMS_GATEWAY_URL: inject("baseUrl"), SMS_GATEWAY_KEY: customer.token };
});
afterAll(async () => rm(folder, { recursive: true, force: true }));

/** Returns the blocks of a language in the guide. */
async function codeOf(language: string): Promise<[string, ...string[]]> {
  const markdown = await readFile("shared/pages/docs/guides/login-systems.md", "utf8");
  const blocks = markdown.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, "gms"));
  const [first = "", ...others] = Array.from(blocks, ([, code = ""]) => code);
  expect(first).not.toBe("");
  return [first, ...others];
}

/** Writes the first block of a language in the guide into a file. */
async function writeCode(language: string, file: string): Promise<void> {
  await writeFile(file, (await codeOf(language))[0]);
}

it.each([
  ["custom phone provider", "onExecuteCustomPhoneProvider", "notification", "+1 500 555 0011", "15005550011"],
  ["Send Phone Message", "onExecuteSendPhoneMessage", "message_options", "+15005550012", "15005550012"],
])("Auth0's action %s sends the code, and reports a rejection", async (_, name, field, recipient, to) => {
  const blocks = (await codeOf("js")).map((code) =>
    code.replace("https://sms.example.com", inject("baseUrl")),
  );
  const exported: Record<string, (event: object, api: object) => Promise<void>> = {};
  // Auth0 runs an action as a CommonJS module.
  new Script(`(exports) => {${blocks.join("\n")}}`).runInThisContext()(exported);
  const refusals: string[] = [];
  const refuse = (reason: string): unknown => refusals.push(reason);
  const act = async (number: string): Promise<void> =>
    exported[name]?.(
      {
        [field]: { recipient: number, code: "482913", locale: "de-DE" },
        secrets: { SMS_GATEWAY_KEY: customer.token },
        request: { ip: "203.0.113.7" },
      },
      { notification: { drop: refuse, retry: refuse } },
    );
  await act(recipient);
  const { rows } = await customer.client.listSms({ query: { to } });
  expect(rows.map(({ message }) => message)).toEqual([expect.stringContaining("482913")]);
  await act("+1 500").catch((error: Error) => refuse(error.message));
  expect(refusals).toEqual(["The gateway responded 400"]);
});

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
for await (const { message } of sms.listSms({ query: { to: "15005550000" } })) texts.push(message);
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
});

const kratosProgram = `
import json, sys, _jsonnet
template = open(sys.argv[1]).read()
context = {
    "recipient": "+15005550013",
    "template_type": "login_code_valid",
    "template_data": {"to": "+15005550013", "login_code": "482913", "identity": {"id": "1"}, "request_url": "https://shop.example"},
}
print(_jsonnet.evaluate_snippet("sms.jsonnet", "(" + template.strip() + ")(" + json.dumps(context) + ")"))
`;

// Installing both takes longer than the other tests of this folder.
describe.runIf(isNightly)("with Python", () => {
  it("Django sends its own code", async () => {
    const programs = await pythonPrograms("test/system/django/requirements.txt");
    const python = path.join(programs, "python");
    const wheel = await writeWheel(folder);
    await run(python, ["-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall", wheel]);
    await writeCode("python", path.join(folder, "sms.py"));
    await copyFile("test/system/django/program.py", path.join(folder, "program.py"));
    const { stdout } = await run(python, ["program.py"], { cwd: folder, env });
    expect(JSON.parse(stdout)).toEqual(["15005550007", true]);
  });

  it("Kratos sends its own code with the template", async () => {
    const python = path.join(await pythonPrograms("test/system/django/requirements.txt"), "python");
    await writeCode("jsonnet", path.join(folder, "sms.jsonnet"));
    await writeFile(path.join(folder, "kratos.py"), kratosProgram);
    const { stdout } = await run(python, ["kratos.py", "sms.jsonnet"], { cwd: folder, env });
    expect(await customer.call("/v1/verifications", { raw: stdout })).toMatchObject({ status: 202 });
    const { rows } = await customer.client.listSms({ query: { to: "15005550013" } });
    expect(rows.map(({ message }) => message)).toEqual([expect.stringContaining("482913")]);
  });
});
