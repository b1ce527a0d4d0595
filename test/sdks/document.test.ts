import { execFile } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

import { pythonPrograms } from "../../infra/build/python-programs.ts";
import recorded from "../../shared/api/contract/examples.json" with { type: "json" };
import { openAccount, runProgram } from "./account.ts";
import { generatorJar } from "./openapi-generator.ts";

/*
 * The OpenAPI document that the gateway serves, with two linters that `npm run check` does not have, and with the usual
 * generators of clients. Each client is compiled.
 */

/** Generators of TypeScript need its compiler, whose version 7 has no interface for programs. */
const npmPackages = ["@hey-api/openapi-ts@0.99.0", "@stoplight/spectral-cli@6.16.3", "typescript@5.9.3"];

/** An event of each kind, with an amount of many digits, and times of whole seconds, which all programs print alike. */
const events: object[] = JSON.parse(
  JSON.stringify(Object.values(recorded.webhooks))
    .replace("54.9526", "1234567.89")
    .replaceAll(/\.\d{3}Z/g, "Z"),
);

/** The usual folder of Go, which is not in every PATH. */
const env = { ...process.env, PATH: `${process.env["PATH"] ?? ""}${path.delimiter}/usr/local/go/bin` };

let folder: string;
let python: string;
const run = async (command: string, ...options: readonly string[]): Promise<string> =>
  (await promisify(execFile)(command, options, { cwd: folder, env, maxBuffer: 64 * 1_024 * 1_024 })).stdout;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "openapi-"));
  await writeFile(path.join(folder, "package.json"), `{ "private": true, "type": "module" }`);
  const response = await fetch(`${inject("baseUrl")}/openapi.json`);
  await writeFile(path.join(folder, "openapi.json"), await response.text());
  const install = run("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", ...npmPackages);
  [python] = await Promise.all([pythonPrograms("test/sdks/python/requirements.txt"), install]);
}, 600_000);
afterAll(async () => rm(folder, { recursive: true }));

/** Runs a program of a package of npm with this Node, which may be newer than that of the PATH. */
const runNode = async (file: string, ...options: readonly string[]): Promise<string> =>
  run(process.execPath, path.join("node_modules", file), ...options);

/** Returns what the compiler of TypeScript prints, which is nothing without errors. */
async function typeErrors(source: string): Promise<string> {
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: "es2022",
    lib: ["es2023", "dom", "dom.iterable"],
    module: "esnext",
    moduleResolution: "bundler",
    types: [],
  };
  const project = path.join(folder, `${path.basename(source)}.json`);
  await writeFile(project, JSON.stringify({ compilerOptions, files: [source] }));
  return runNode("typescript/bin/tsc", "--project", project).catch((error: unknown) =>
    String(Object(error).stdout),
  );
}

/** Makes a client as the guide shows. @returns its folder */
async function generate(language: string): Promise<string> {
  const guide = await readFile("shared/pages/docs/guides/sdks.md", "utf8");
  const [, options = ""] = /openapi-generator-cli generate -i \S+ -g go -o \S+ (.+)/.exec(guide) ?? [];
  const target = path.join(folder, language);
  const command = ["generate", "-i", "openapi.json", "-g", language, "-o", target, ...options.split(" ")];
  await run("java", "-jar", await generatorJar(), ...command);
  return target;
}

describe("the document", () => {
  it("is small for its operations", async () => {
    const content = await readFile(path.join(folder, "openapi.json"), "utf8");
    const operations = content.split('"operationId":').length - 1;
    expect(content.length / operations).toBeLessThan(3_800);
  });

  it("has no errors for openapi-spec-validator and Spectral", async () => {
    expect(await run(path.join(python, "openapi-spec-validator"), "openapi.json")).toContain("OK");
    await writeFile(path.join(folder, "spectral.json"), `{ "extends": ["spectral:oas"] }`);
    const options = ["--ruleset", "spectral.json", "--fail-severity", "error"];
    const text = await runNode("@stoplight/spectral-cli/dist/index.js", "lint", "openapi.json", ...options);
    expect(text).toContain("(0 errors");
  });
});

describe("a client from the document", () => {
  it("for TypeScript by @hey-api/openapi-ts has a type for each request, result, error and event", async () => {
    await runNode("@hey-api/openapi-ts/bin/run.js", "-i", "openapi.json", "-o", "hey-api");
    const program = `
      import { createPayment, sendSms, type ErrorCode, type MessageType, type WebhookPayload } from "./hey-api/index";
      const messageType: MessageType = "otp";
      const code: ErrorCode = "INSUFFICIENT_BALANCE";
      const { data, error } = await sendSms({ body: { to: "15005550000", message: "Hello", messageType } });
      const { data: payment } = await createPayment({ body: { amount: 10 } });
      const method: "card" | "bank_transfer" | undefined = payment?.data.method;
      const event = (call: WebhookPayload) => call.event === "message.failed" ? call.data.errorCode : call.event;
      export const results: [string | undefined, string | undefined] = [data?.data.id, error?.error?.code];
      export { code, event, method };`;
    await writeFile(path.join(folder, "program.ts"), program);
    expect(await typeErrors("program.ts")).toBe("");
  });

  it("for Python by openapi-python-client loses nothing", async () => {
    await writeFile(path.join(folder, "settings.json"), `{ "post_hooks": [] }`);
    const options = ["--path", "openapi.json", "--config", "settings.json", "--meta", "none"];
    const program = path.join(python, "openapi-python-client");
    await run(program, "generate", ...options, "--output-path", "python_client", "--fail-on-warning");
    const imports =
      "from python_client.api.billing import update_billing; import python_client.models.billing_details";
    await run(path.join(python, "python"), "-m", "compileall", "-q", "python_client");
    expect(await run(path.join(python, "python"), "-c", imports)).toBe("");
  });

  it("for Go by openapi-generator sends once for repeated requests, lists, has the code of an error, and decodes events", async () => {
    const client = await generate("go");
    const customer = path.join(folder, "customer");
    await cp(path.join(import.meta.dirname, "go"), customer, { recursive: true });
    await writeFile(
      path.join(client, "go.mod"),
      (await readFile(path.join(client, "go.mod"), "utf8")).replace(/^module .*/, "module openapi"),
    );
    await run("go", "-C", customer, "mod", "edit", "-replace", `openapi=${client}`);
    await run("go", "-C", customer, "build", "-mod=mod", "-o", "program", ".");
    const account = await openAccount();
    const newer = {
      ...events[1],
      data: { ...recorded.webhooks["message.failed"].data, errorCode: "NEW", added: 1 },
    };
    const result = await runProgram([path.join(customer, "program")], [...events, newer], account.env);
    await account.receiver.stop();
    const id: unknown = expect.stringMatching(/^msg_/);
    expect(result).toMatchObject({ id, text: "Hello", code: "VALIDATION_ERROR" });
    const { id: sent, repeated, listed, events: decoded } = Object(result);
    expect([repeated, listed]).toEqual([sent, [sent]]);
    const unknown = { ...newer.data, errorCode: "unknown_default_open_api" };
    expect(decoded).toEqual([...events, { ...newer, data: unknown }]);
  });

  it("for Python by openapi-generator sends with a test key, reads, deletes, and decodes events", async () => {
    const PYTHONPATH = await generate("python");
    const { customer, receiver, env: live } = await openAccount();
    const { secret: SMS_GATEWAY_KEY } = await customer.client.createApiKey({ body: { test: true } });
    const program = path.join(import.meta.dirname, "python/generated.py");
    const variables = { ...live, SMS_GATEWAY_KEY, PYTHONPATH };
    const result = await runProgram([path.join(python, "python"), program], events, variables);
    await receiver.stop();
    const text = "Hello";
    expect(result).toEqual({ sent: true, read: text, listed: [text], hook: true, deleted: true, events });
  });

  it("for TypeScript and Java by openapi-generator compiles", async () => {
    const client = await generate("typescript-fetch");
    const files = await readdir(path.join(client, "apis"));
    expect(files).toContain("WebhooksApi.ts");
    expect(await typeErrors(path.join(client, "index.ts"))).toBe("");
    const pom = path.join(await generate("java"), "pom.xml");
    expect(await run("mvn", "--batch-mode", "--quiet", "--file", pom, "compile")).not.toContain("ERROR");
  });
});
